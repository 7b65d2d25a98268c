"""SQS events are read as Lambda sends them, and nothing else is taken for one."""

from typing import Any

import pytest

from evenkeel.errors import MalformedEventError, MalformedWakeUpError
from evenkeel.handlers.records import failures, is_batch, read_batch, read_wake_up
from evenkeel.model.notice import WakeUp


def record(**changes: Any) -> dict[str, Any]:
    """A record as Lambda's documentation shows it."""
    return {
        "messageId": "059f36b4-87a3-44ab-83d2-661975830a7d",
        "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
        "body": '{"v":1,"reason":"NodesMarked"}',
        "attributes": {
            "ApproximateReceiveCount": "3",
            "SentTimestamp": "1545082649183",
            "SenderId": "AIDAIENQZJOLO23YVJ4VO",
            "ApproximateFirstReceiveTimestamp": "1545082649185",
        },
        "messageAttributes": {},
        "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-2:123456789012:my-queue",
        "awsRegion": "us-east-2",
    } | changes


def test_a_batch_is_read() -> None:
    event = {"Records": [record(), record(messageId="m2", attributes={})]}
    assert is_batch(event)
    first, second = read_batch(event)
    assert first.message_id == "059f36b4-87a3-44ab-83d2-661975830a7d"
    assert first.receipt_handle == "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a"
    assert first.receives == 3
    assert read_wake_up(first) == WakeUp(reason="NodesMarked")
    assert second.message_id == "m2"
    assert second.receives == 1


def test_a_schedules_event_is_no_batch() -> None:
    assert not is_batch({"source": "aws.scheduler", "detail": "{}"})
    assert not is_batch({})


def test_a_count_that_is_no_number_counts_as_the_first() -> None:
    (read,) = read_batch({"Records": [record(attributes={"ApproximateReceiveCount": "?"})]})
    assert read.receives == 1


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        ({}, "no event of an SQS event source"),
        ({"Records": None}, "no event of an SQS event source"),
        ({"Records": [{"kinesis": {}}]}, "no event of an SQS event source"),
        ({"Records": [record(body=None)]}, "no event of an SQS event source"),
        ({"Records": [record(eventSource="aws:sns")]}, "'aws:sns'"),
    ],
    ids=["empty", "null", "kinesis", "no body", "sns"],
)
def test_an_event_of_something_else_is_refused_as_a_whole(
    event: dict[str, Any], problem: str
) -> None:
    with pytest.raises(MalformedEventError, match=problem):
        read_batch(event)


@pytest.mark.parametrize("body", ["", "{}", "[]", '{"reason": 7}', "\ud800", "[" * 100_000])
def test_a_message_that_is_no_wake_up_is_told_apart(body: str) -> None:
    (read,) = read_batch({"Records": [record(body=body)]})
    with pytest.raises(MalformedWakeUpError, match="059f36b4"):
        read_wake_up(read)


def test_the_answer_names_what_failed() -> None:
    assert failures(["m1", "m2"]) == {
        "batchItemFailures": [{"itemIdentifier": "m1"}, {"itemIdentifier": "m2"}]
    }
    assert failures([]) == {"batchItemFailures": []}
