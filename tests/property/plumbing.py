"""What lies between EC2's events and the functions, with the faults that it may have."""

import itertools
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from evenkeel.handlers import Handler
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


class Containers:
    """Lambda's containers of one function.

    Each has a handler of its own, with its own identity and memory. An invocation takes an
    idle one, or a new one; the container of an invocation that dies is not used again.
    """

    def __init__(self, build: Callable[[str], Handler]) -> None:
        self._build = build
        self._idle: list[Handler] = []
        self._numbers = itertools.count()

    def __call__(self, event: dict[str, Any], context: object) -> dict[str, Any]:
        idle = self._idle
        handler = idle.pop() if idle else self._build(f"container-{next(self._numbers)}")
        answer = handler(event, context)
        idle.append(handler)
        return answer
