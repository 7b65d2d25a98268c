"""Which events the rules let through, by the matcher of moto's EventBridge into moto's SQS."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from tests.kit.mocked_aws import mocked
from tests.stack.cloudformation import REGION
from tests.stack.event_bus import EventBus
from tests.stack.samples import KEPT_AWAY, NEAR_MISSES, REPLAYS, SAMPLES

HEALTH_MISSES: dict[str, dict[str, Any]] = {
    "another service": {"service": "RDS"},
    "an issue": {"eventTypeCategory": "issue"},
    "a notification": {"eventTypeCategory": "accountNotification"},
}


def event_bus(replay_source: str = "") -> EventBus:
    """The rules on moto's event bus."""
    events = boto3.client("events", region_name=REGION)
    return EventBus(events, boto3.client("sqs", region_name=REGION), replay_source)


@pytest.fixture(autouse=True)
def aws() -> Iterator[None]:
    with mocked():
        yield


@pytest.mark.parametrize("sample", sorted(SAMPLES.keys() - KEPT_AWAY))
def test_every_kind_of_notice_arrives_once(sample: str) -> None:
    assert event_bus().delivers(SAMPLES[sample]) == 1


@pytest.mark.parametrize("sample", sorted(KEPT_AWAY))
def test_what_decides_nothing_is_kept_away(sample: str) -> None:
    assert event_bus().delivers(SAMPLES[sample]) == 0


@pytest.mark.parametrize("miss", NEAR_MISSES)
def test_what_only_resembles_a_notice_is_kept_away(miss: str) -> None:
    assert event_bus().delivers(SAMPLES["interruption-warning-terminate"] | NEAR_MISSES[miss]) == 0


@pytest.mark.parametrize("miss", HEALTH_MISSES)
def test_what_health_says_of_other_matters_is_kept_away(miss: str) -> None:
    sample = SAMPLES["scheduled-change-retirement"]
    assert event_bus().delivers(sample | {"detail": sample["detail"] | HEALTH_MISSES[miss]}) == 0
    assert event_bus().delivers(sample | {"source": "aws.ec2"}) == 0


def test_a_termination_that_waits_for_another_hook_is_kept_away() -> None:
    sample = SAMPLES["lifecycle-action-terminate"]
    other = {"LifecycleHookName": "Terminate-LC-Hook"}
    assert event_bus().delivers(sample | {"detail": sample["detail"] | other}) == 0


@pytest.mark.parametrize("sample", sorted(SAMPLES.keys() - KEPT_AWAY))
def test_replays_arrive_where_their_source_is_allowed(sample: str) -> None:
    bus = event_bus(REPLAYS)
    assert bus.delivers(SAMPLES[sample] | {"source": REPLAYS}) == 1
    assert bus.delivers(SAMPLES[sample]) == 1
    assert bus.delivers(SAMPLES[sample] | {"source": "evenkeel.replays"}) == 0
