"""What a poller gets from its queue, in the process or from SQS."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import boto3
import moto.sqs.models
import pytest

from evenkeel.errors import QueueError, SettingsError
from evenkeel.handlers.records import read_batch
from evenkeel.ports import Clock
from evenkeel_runtime.poll import sqs as poll_sqs
from evenkeel_runtime.poll.in_process import InProcessQueue
from evenkeel_runtime.poll.sources import RecordDocument, Source
from evenkeel_runtime.poll.sqs import SqsSource, region_of
from evenkeel_sandbox.simulator.clock import SimulatedClock

REGION = "eu-central-1"
START = datetime(2026, 11, 21, 6, tzinfo=UTC)


class Ground(Protocol):
    @property
    def source(self) -> Source:
        """The queue under test."""
        ...

    def put(self, body: str) -> None:
        """Send a message."""

    def advance(self, seconds: float) -> None:
        """Let time pass."""


class Impatient(InProcessQueue):
    """It waits for no message: its clock does not move by itself."""

    def receive(self, longest: timedelta = timedelta()) -> Sequence[RecordDocument]:
        return super().receive(longest)


class InProcess:
    def __init__(self) -> None:
        self._clock = SimulatedClock(START)
        clock: Clock = self._clock
        self.source = Impatient(clock, "wake-ups", visibility=timedelta(seconds=20))

    def put(self, body: str) -> None:
        self.source.put(body)

    def advance(self, seconds: float) -> None:
        self._clock.advance(timedelta(seconds=seconds))


class Moto:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._now = START.timestamp()
        monkeypatch.setattr(moto.sqs.models, "unix_time", lambda: self._now)
        monkeypatch.setattr(moto.sqs.models, "unix_time_millis", lambda: self._now * 1_000)
        monkeypatch.setattr(poll_sqs, "WAIT", timedelta())
        self.client = boto3.client("sqs", region_name=REGION)
        self.url = self.client.create_queue(
            QueueName="wake-ups", Attributes={"VisibilityTimeout": "20"}
        )["QueueUrl"]
        self.source = SqsSource(self.client, self.url)

    def put(self, body: str) -> None:
        self.client.send_message(QueueUrl=self.url, MessageBody=body)

    def advance(self, seconds: float) -> None:
        self._now += seconds


@pytest.fixture
def ground(aws: str, monkeypatch: pytest.MonkeyPatch) -> Ground:
    return InProcess() if aws == "simulator" else Moto(monkeypatch)


def bodies(records: Sequence[RecordDocument]) -> list[str]:
    return sorted(record["body"] for record in records)


def test_a_batch_is_what_lambda_hands_to_a_function(ground: Ground) -> None:
    ground.put("{}")
    (document,) = ground.source.receive()
    (record,) = read_batch({"Records": [document]})
    assert (record.body, record.event_source, record.receives) == ("{}", "aws:sqs", 1)
    assert record.message_id
    assert document["attributes"]["SentTimestamp"].isdecimal()


def test_a_batch_holds_ten_messages_at_most(ground: Ground) -> None:
    for number in range(13):
        ground.put(str(number))
    first, second = ground.source.receive(), ground.source.receive()
    assert (len(first), len(second)) == (10, 3)
    assert ground.source.receive() == []


def test_deleted_messages_are_gone_and_the_others_come_back(ground: Ground) -> None:
    for number in range(3):
        ground.put(str(number))
    records = ground.source.receive()
    ground.source.delete([record for record in records if record["body"] != "1"])
    ground.advance(19)
    assert ground.source.receive() == []
    ground.advance(1.1)
    (again,) = ground.source.receive()
    assert again["body"] == "1"
    assert read_batch({"Records": [again]})[0].receives == 2


def test_messages_given_back_come_again_at_once(ground: Ground) -> None:
    for number in range(12):
        ground.put(str(number))
    records = [*ground.source.receive(), *ground.source.receive()]
    ground.source.give_back(records)
    ground.advance(0.1)
    again = [*ground.source.receive(), *ground.source.receive()]
    assert bodies(again) == bodies(records)


def test_nothing_to_delete_is_no_request(ground: Ground) -> None:
    ground.source.delete([])
    ground.source.give_back([])


@pytest.mark.parametrize("aws", ["moto"], indirect=True)
def test_a_queue_tells_what_its_owner_has_set(aws: str, monkeypatch: pytest.MonkeyPatch) -> None:
    del aws
    there = Moto(monkeypatch)
    assert str(there.source.look()) == "visibility 20 s, no dead letter queue"
    dead = there.client.create_queue(QueueName="evenkeel-dead")["QueueUrl"]
    arn = there.client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
    policy = f'{{"deadLetterTargetArn":"{arn["Attributes"]["QueueArn"]}","maxReceiveCount":"80"}}'
    there.client.set_queue_attributes(QueueUrl=there.url, Attributes={"RedrivePolicy": policy})
    facts = there.source.look()
    assert str(facts) == "visibility 20 s, after 80 receives to evenkeel-dead"
    assert facts.retention == timedelta(days=4)


@pytest.mark.parametrize("aws", ["moto"], indirect=True)
def test_a_queue_that_is_not_there_is_named_with_the_remedy(
    aws: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    del aws
    there = Moto(monkeypatch)
    missing = SqsSource(there.client, there.url.replace("wake-ups", "wakeups"))
    with pytest.raises(SettingsError, match=r"wakeups cannot be used: .*: check its URL"):
        missing.look()
    record: dict[str, Any] = {"receiptHandle": "unknown"}
    for action in (missing.receive, lambda: missing.delete([record])):
        with pytest.raises(QueueError, match="failed"):
            action()


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://sqs.eu-central-1.amazonaws.com/123456789012/notices", "eu-central-1"),
        ("https://sqs.cn-north-1.amazonaws.com.cn/123456789012/notices", "cn-north-1"),
        ("http://127.0.0.1:5000/123456789012/notices", None),
        ("https://sqs.example.org/notices", None),
    ],
)
def test_a_queues_url_names_its_region(url: str, region: str | None) -> None:
    assert region_of(url) == region
