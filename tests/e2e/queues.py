"""An SQS standard queue in memory, on the wall clock, for several pollers at once."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock

import msgspec

from evenkeel.errors import QueueError
from evenkeel.model.notice import WakeUp
from evenkeel.ports import Clock
from simulator.queues import BATCH, Message


class WallClockQueue:
    """Implements the port Queue, and the receiving side for pollers.

    A received message is invisible for ``visibility``, or for as long as ``postpone`` says,
    and then comes again, unless it was deleted with the handle of its last receive.
    """

    def __init__(
        self, clock: Clock, name: str, visibility: timedelta = timedelta(seconds=20)
    ) -> None:
        self.name = name
        self._clock = clock
        self._visibility = visibility
        self._messages: dict[str, Message] = {}
        self._lock = Lock()
        self._numbers = itertools.count(1)

    def send(self, wake_up: WakeUp, delay: timedelta = timedelta()) -> None:
        """Send a wake-up."""
        self.put(msgspec.json.encode(wake_up).decode(), delay)

    def put(self, body: str, delay: timedelta = timedelta()) -> None:
        """Send a message with any body."""
        now = self._clock.now()
        with self._lock:
            message = Message(f"{self.name}-{next(self._numbers)}", body, now, now + delay)
            self._messages[message.message_id] = message

    def postpone(self, receipt_handle: str, delay: timedelta) -> None:
        """Make a received message visible again after ``delay``. Raises QueueError."""
        now = self._clock.now()
        with self._lock:
            message = self._received(receipt_handle)
            if message is None or message.visible_at <= now:
                raise QueueError(f"message of {receipt_handle} is not in flight")
            message.visible_at = now + delay

    def receive(self) -> Sequence[Message]:
        """Take up to 10 visible messages."""
        now = self._clock.now()
        with self._lock:
            visible = [m for m in self._messages.values() if m.visible_at <= now][:BATCH]
            for message in visible:
                message.receives += 1
                message.receipt_handle = f"{message.message_id}#{message.receives}"
                message.visible_at = now + self._visibility
            return [replace(message) for message in visible]

    def delete(self, receipt_handle: str) -> None:
        """Delete a received message."""
        with self._lock:
            message = self._received(receipt_handle)
            if message is not None:
                del self._messages[message.message_id]

    @property
    def next_visible(self) -> datetime | None:
        """When the next message becomes visible, or did; None if none is left."""
        with self._lock:
            return min((m.visible_at for m in self._messages.values()), default=None)

    def _received(self, receipt_handle: str) -> Message | None:
        message = self._messages.get(receipt_handle.partition("#")[0])
        return message if message is not None and message.receipt_handle == receipt_handle else None
