"""A queue that lives as long as its process: wake-ups where no SQS queue is given for them."""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Condition
from typing import Final

import msgspec

from evenkeel.errors import QueueError
from evenkeel.model.notice import WakeUp
from evenkeel.ports import Clock
from evenkeel.settings import HANDOVER_TIMEOUT
from evenkeel_hosting.events import BATCH, Message, batch_event
from evenkeel_runtime.poll.sources import RecordDocument

LONGEST_WAIT: Final = timedelta(seconds=1)


class InProcessQueue:
    """Implements the port Queue and a poller's Source, on the wall clock.

    A received message is invisible for ``visibility``, or for as long as ``postpone`` says,
    and then comes again, unless it was deleted with the handle of its last receive. Unlike
    SQS it counts in fractions of seconds.
    """

    def __init__(self, clock: Clock, name: str, visibility: timedelta = HANDOVER_TIMEOUT) -> None:
        """An empty queue."""
        self.name = name
        self._clock = clock
        self._visibility = visibility
        self._messages: dict[str, Message] = {}
        self._changed = Condition()
        self._numbers = itertools.count(1)

    # The port.

    def send(self, wake_up: WakeUp, delay: timedelta = timedelta()) -> None:
        """Send a wake-up that becomes visible after ``delay``."""
        self.put(msgspec.json.encode(wake_up).decode(), delay)

    def postpone(self, receipt_handle: str, delay: timedelta) -> None:
        """Make a received message visible again after ``delay``. Raises QueueError."""
        now = self._clock.now()
        with self._changed:
            message = self._received(receipt_handle)
            if message is None or message.visible_at <= now:
                raise QueueError(f"message of {receipt_handle} is not in flight")
            message.visible_at = now + delay
            self._changed.notify()

    # What others do with a queue.

    def put(self, body: str, delay: timedelta = timedelta()) -> None:
        """Send a message with any body."""
        now = self._clock.now()
        with self._changed:
            message = Message(f"{self.name}-{next(self._numbers)}", body, now, now + delay)
            self._messages[message.message_id] = message
            self._changed.notify()

    def receive(self, longest: timedelta = LONGEST_WAIT) -> Sequence[RecordDocument]:
        """Up to ten visible messages, the oldest first; waits so long for a first one."""
        give_up = self._clock.now() + longest
        with self._changed:
            while not (taken := self._take()) and (now := self._clock.now()) < give_up:
                upcoming = min((m.visible_at for m in self._messages.values()), default=give_up)
                self._changed.wait(max(0.0, (min(upcoming, give_up) - now).total_seconds()))
        records: Sequence[RecordDocument] = batch_event(taken, self.name)["Records"]
        return records

    def delete(self, records: Collection[RecordDocument]) -> None:
        """Delete received messages; only their last receipt handles do that."""
        with self._changed:
            for record in records:
                message = self._received(record["receiptHandle"])
                if message is not None:
                    del self._messages[message.message_id]

    def give_back(self, records: Collection[RecordDocument]) -> None:
        """Let received messages be received again at once."""
        now = self._clock.now()
        with self._changed:
            for record in records:
                message = self._received(record["receiptHandle"])
                if message is not None:
                    message.visible_at = now
            self._changed.notify_all()

    @property
    def next_visible(self) -> datetime | None:
        """When the next message becomes visible, or did; None if none is left."""
        with self._changed:
            return min((m.visible_at for m in self._messages.values()), default=None)

    def _take(self) -> Sequence[Message]:
        now = self._clock.now()
        visible = [m for m in self._messages.values() if m.visible_at <= now][:BATCH]
        for message in visible:
            message.receives += 1
            message.receipt_handle = f"{message.message_id}#{message.receives}"
            message.visible_at = now + self._visibility
        return [replace(message) for message in visible]

    def _received(self, receipt_handle: str) -> Message | None:
        message = self._messages.get(receipt_handle.partition("#")[0])
        return message if message is not None and message.receipt_handle == receipt_handle else None
