"""SQS records in, partial batch responses out; what both functions share.

https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
"""

import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec

from evenkeel.errors import (
    MalformedEventError,
    MalformedWakeUpError,
    QueueError,
    UnreadableError,
)
from evenkeel.model.decoding import converted, decoded
from evenkeel.model.notice import WakeUp
from evenkeel.ports import Queue, Recorder

_EVENT_SOURCE: Final = "aws:sqs"


class Record(msgspec.Struct, frozen=True, rename="camel"):
    """One message of a batch. ``attributes`` are the system's; SQS sends numbers as strings."""

    message_id: str
    receipt_handle: str
    body: str
    event_source: str
    attributes: dict[str, str] = {}

    @property
    def receives(self) -> int:
        """How often the message was received, this time included; SQS counts roughly."""
        count = self.attributes.get("ApproximateReceiveCount", "1")
        return int(count) if count.isdecimal() else 1


class _Batch(msgspec.Struct, frozen=True, rename="pascal"):
    records: tuple[Record, ...]


def is_batch(event: dict[str, Any]) -> bool:
    """Whether an event holds messages of a queue, which the schedule's does not."""
    return "Records" in event


def read_batch(event: dict[str, Any]) -> Sequence[Record]:
    """The messages of an SQS event.

    Raises MalformedEventError: then something else than SQS hands out the records, and none may
    be acknowledged on its behalf.
    """
    try:
        records = converted(event, _Batch).records
    except UnreadableError as error:
        raise MalformedEventError(f"this is no event of an SQS event source: {error}") from error
    for record in records:
        if record.event_source != _EVENT_SOURCE:
            raise MalformedEventError(
                f"this is an event of {record.event_source!r}, and should be one of {_EVENT_SOURCE}"
            )
    return records


def alone(event: dict[str, Any]) -> Record:
    """An event that invokes the function itself, as the message that a queue would make of it."""
    name = event.get("id")
    return Record(
        message_id=name if isinstance(name, str) else "",
        receipt_handle="",
        body=json.dumps(event),
        event_source="",
    )


def failures(message_ids: Iterable[str]) -> dict[str, Any]:
    """The answer that keeps these messages in the queue and lets all others be deleted."""
    return {"batchItemFailures": [{"itemIdentifier": each} for each in message_ids]}


def postpone(records: Sequence[tuple[Record, timedelta]], queue: Queue, recorder: Recorder) -> None:
    """Let messages come back, each after so long.

    From the first on that SQS does not postpone they come back when the queue's visibility timeout
    ends: an SQS that hangs costs one call, and not one for each, which no function has time for.
    """
    for position, (record, delay) in enumerate(records):
        try:
            queue.postpone(record.receipt_handle, delay)
        except QueueError as error:
            recorder.noted(
                f"message {record.message_id} comes back when its visibility timeout ends, as"
                f" {len(records) - position - 1} others do: {error}"
            )
            return


def read_wake_up(record: Record) -> WakeUp:
    """The wake-up in a message. Raises MalformedWakeUpError."""
    try:
        wake_up = decoded(WakeUp, record.body)
    except UnreadableError as error:
        raise MalformedWakeUpError(f"message {record.message_id} is no wake-up: {error}") from error
    if not all(notice.makes_sense for notice in wake_up.notices.values()):
        problem = "has a time that is out of range"
        raise MalformedWakeUpError(f"message {record.message_id} {problem}")
    return wake_up
