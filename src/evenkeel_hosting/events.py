"""The shape of what Lambda hands to the functions, and how it reads their answers.

https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

REGION: Final = "eu-central-1"
ACCOUNT: Final = "123456789012"

POLLERS: Final = 5
"""So many batches of a standard queue Lambda handles at once, to begin with."""

BATCH: Final = 10
"""So many messages SQS takes or gives with one request, at most."""

EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00Z")


@dataclass(slots=True)
class Message:
    """A message. ``receipt_handle`` is the one of its last receive."""

    message_id: str
    body: str
    sent_at: datetime
    visible_at: datetime
    receives: int = 0
    receipt_handle: str = ""


def schedule_event(now: datetime) -> dict[str, Any]:
    """What a schedule without an input of its own sends."""
    return {
        "version": "0",
        "id": "00000000-0000-0000-0000-000000000000",
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": ACCOUNT,
        "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/evenkeel"],
        "detail": "{}",
    }


def batch_event(messages: Sequence[Message], queue_name: str = "queue") -> dict[str, Any]:
    """The event with which Lambda hands these messages to a function."""
    return {"Records": [_record(message, queue_name) for message in messages]}


def failed(message_ids: Collection[str], answer: Mapping[str, Any] | None) -> frozenset[str]:
    """Those of a batch that stay in the queue, as Lambda reads a partial batch response.

    All do if the answer makes no sense, and where there is none: the function raised.
    """
    everything = frozenset(message_ids)
    if answer is None:
        return everything
    failures = answer.get("batchItemFailures") or []
    reported = frozenset(each.get("itemIdentifier") for each in failures)
    strangers = reported - everything
    return everything if strangers else reported


def _record(message: Message, queue_name: str) -> dict[str, Any]:
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": str(message.receives),
            "SentTimestamp": str(round((message.sent_at - EPOCH) / timedelta(milliseconds=1))),
            "SenderId": "AIDAIENQZJOLO23YVJ4VO",
        },
        "messageAttributes": {},
        "md5OfBody": hashlib.md5(message.body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue_name}",
        "awsRegion": REGION,
    }
