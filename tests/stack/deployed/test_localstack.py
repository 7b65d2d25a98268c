"""Which events the rules let through, by a third matcher: LocalStack's EventBridge into its SQS."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from tests.stack.cloudformation import REGION
from tests.stack.deployed import localstack
from tests.stack.event_bus import EventBus
from tests.stack.samples import KEPT_AWAY, NEAR_MISSES, SAMPLES

pytestmark = pytest.mark.stack

WARNING = SAMPLES["interruption-warning-terminate"]
QUIET = 2
"""Seconds without another event: what a rule lets through is there in some milliseconds."""


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EventBus]:
    with localstack.launched(tmp_path_factory.mktemp("localstack")) as url:
        options: dict[str, Any] = {
            "region_name": REGION,
            "endpoint_url": url,
            "aws_access_key_id": "test",
            "aws_secret_access_key": "test",
        }
        events, sqs = boto3.client("events", **options), boto3.client("sqs", **options)
        yield EventBus(events, sqs, "", seconds=QUIET)


def test_every_kind_of_notice_arrives_once(bus: EventBus) -> None:
    sent = {name: event for name, event in SAMPLES.items() if name not in KEPT_AWAY}
    for event in sent.values():
        bus.put(event)
    arrived: list[dict[str, Any]] = []
    while some := bus.receive():
        arrived += some

    def told(events: list[dict[str, Any]]) -> list[str]:
        return sorted(f"{event['detail-type']} {event['detail']}" for event in events)

    assert told(arrived) == told(list(sent.values()))


def test_nothing_else_does(bus: EventBus) -> None:
    for name in KEPT_AWAY:
        bus.put(SAMPLES[name])
    for miss in NEAR_MISSES.values():
        bus.put(WARNING | miss)
    assert bus.receive() == []
