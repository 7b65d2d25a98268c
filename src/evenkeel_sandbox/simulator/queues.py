"""A simulated SQS standard queue.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/
"""

import itertools
import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.errors import QueueError
from evenkeel.model.notice import WakeUp
from evenkeel.ports import Clock
from evenkeel_hosting.events import BATCH, Message
from evenkeel_sandbox.simulator.clock import SimulatedClock

LONGEST_DELAY: Final = timedelta(minutes=15)
LONGEST_VISIBILITY: Final = timedelta(hours=12)


class SimulatedQueue:
    """Implements the port Queue, and what Lambda's event source does with a queue.

    SQS counts in whole seconds, so a delay with a fraction is rounded up, as the real adapter
    does. ``visibility`` is how long a received message stays invisible. After ``receive_limit``
    receives the next one moves a message to ``dead`` instead of delivering it. A message
    older than ``retention`` vanishes.
    """

    def __init__(
        self,
        clock: SimulatedClock,
        name: str = "queue",
        *,
        visibility: timedelta = timedelta(seconds=20),
        receive_limit: int = 1_000,
        retention: timedelta = timedelta(days=4),
    ) -> None:
        """An empty queue."""
        self.name = name
        self.dead: list[Message] = []
        self._clock: Clock = clock
        self._call_at = clock.call_at
        self.visibility = visibility
        self._receive_limit = receive_limit
        self._retention = retention
        self._messages: dict[str, Message] = {}
        self._handles: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self._readers: list[Callable[[], None]] = []
        self._outage: QueueError | None = None

    # The port.

    def send(self, wake_up: WakeUp, delay: timedelta = timedelta()) -> None:
        """Send a wake-up that becomes visible after ``delay``. Raises QueueError."""
        self.put(msgspec.json.encode(wake_up).decode(), delay)

    def postpone(self, receipt_handle: str, delay: timedelta) -> None:
        """Make a received message visible again after ``delay``. Raises QueueError."""
        self._raise_outage()
        if not timedelta() <= delay <= LONGEST_VISIBILITY:
            raise QueueError(f"a visibility timeout of {delay} is out of range")
        message = self._received(receipt_handle)
        if message is None or message.visible_at <= self._clock.now():
            raise QueueError(f"message of {receipt_handle} is not in flight")
        self._show(message, self._clock.now() + _whole_seconds(delay))

    # What others do with a queue.

    def put(self, body: str, delay: timedelta = timedelta()) -> Message:
        """Send a message with any body. Raises QueueError."""
        self._raise_outage()
        if not timedelta() <= delay <= LONGEST_DELAY:
            raise QueueError(f"a delay of {delay} is out of range")
        now = self._clock.now()
        message = Message(f"{self.name}-{next(self._numbers)}", body, now, now)
        self._messages[message.message_id] = message
        self._show(message, now + _whole_seconds(delay))
        return message

    def receive(self, limit: int = BATCH) -> Sequence[Message]:
        """Take up to ``limit`` (at most 10) visible messages, the oldest first."""
        now = self._clock.now()
        taken: list[Message] = []
        for message in list(self._messages.values()):
            if len(taken) >= min(limit, BATCH):
                break
            if now - message.sent_at >= self._retention:
                del self._messages[message.message_id]
            elif message.visible_at <= now:
                if message.receives >= self._receive_limit:
                    self.dead.append(self._messages.pop(message.message_id))
                else:
                    taken.append(self._take(message))
        return taken

    def delete(self, receipt_handle: str) -> None:
        """Delete a received message; only its last receipt handle does that."""
        message = self._received(receipt_handle)
        if message is not None:
            del self._messages[message.message_id]

    def on_visible(self, reader: Callable[[], None]) -> None:
        """Call this whenever a message becomes visible."""
        self._readers.append(reader)

    def fail(self, error: QueueError | None) -> None:
        """Refuse to send and to postpone with this error, until called with None."""
        self._outage = error

    @property
    def messages(self) -> Sequence[Message]:
        """Everything in the queue, visible or not, oldest first."""
        return list(self._messages.values())

    @property
    def has_visible(self) -> bool:
        """Whether a receive would find a message."""
        now = self._clock.now()
        return any(
            message.visible_at <= now and now - message.sent_at < self._retention
            for message in self._messages.values()
        )

    def _raise_outage(self) -> None:
        if self._outage is not None:
            raise self._outage

    def _take(self, message: Message) -> Message:
        message.receives += 1
        self._handles.pop(message.receipt_handle, None)
        message.receipt_handle = f"{message.message_id}#{message.receives}"
        self._handles[message.receipt_handle] = message.message_id
        self._show(message, self._clock.now() + self.visibility)
        return message

    def _received(self, receipt_handle: str) -> Message | None:
        return self._messages.get(self._handles.get(receipt_handle, ""))

    def _show(self, message: Message, when: datetime) -> None:
        message.visible_at = when
        self._call_at(when, self._tell_readers)

    def _tell_readers(self) -> None:
        for reader in self._readers:
            reader()


def _whole_seconds(delay: timedelta) -> timedelta:
    return timedelta(seconds=math.ceil(delay / timedelta(seconds=1)))
