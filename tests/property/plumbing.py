"""What lies between EC2's events and the functions, with the faults that it may have."""

from collections.abc import Sequence
from datetime import timedelta

from evenkeel.model.notice import WakeUp
from evenkeel.settings import HANDOVER_TIMEOUT
from evenkeel_hosting.events import BATCH, Message
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.queues import SimulatedQueue


class ForgetfulQueue(SimulatedQueue):
    """A queue that can be made to lose all that is in it."""

    def __init__(self, clock: SimulatedClock, name: str) -> None:
        super().__init__(clock, name, visibility=HANDOVER_TIMEOUT)
        self._lost: set[str] = set()

    def forget(self) -> None:
        """Lose every message, also those that are being worked on."""
        self._lost |= {message.message_id for message in self.messages}

    def receive(self, limit: int = BATCH) -> Sequence[Message]:
        taken = super().receive(limit)
        for message in taken:
            if message.message_id in self._lost:
                self.delete(message.receipt_handle)
        return [message for message in taken if message.message_id not in self._lost]


class Line:
    """The port Queue as the interruption function has it. Once cut, it loses what is sent."""

    def __init__(self, queue: SimulatedQueue) -> None:
        self._queue = queue
        self.is_cut = False

    def send(self, wake_up: WakeUp, delay: timedelta = timedelta()) -> None:
        if not self.is_cut:
            self._queue.send(wake_up, delay)

    def postpone(self, receipt_handle: str, delay: timedelta) -> None:
        self._queue.postpone(receipt_handle, delay)
