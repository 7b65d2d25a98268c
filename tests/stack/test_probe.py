"""The probe that the template's schedule puts on the bus, and the rule that lets it through."""

import json
import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from evenkeel.decisions.notice.event import Probe
from evenkeel.decisions.notice.reading import read_json
from tests.kit.mocked_aws import mocked
from tests.stack.cloudformation import ACCOUNT, REGION, Stack, deployed
from tests.stack.event_bus import EventBus
from tests.stack.samples import NEAR_MISSES
from tests.stack.sets import CLUSTER

BUS = f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/default"
SOURCE = re.compile(r"(?!aws\.)[/.\-_A-Za-z0-9]{1,256}")
"""What PutEvents takes.

https://docs.aws.amazon.com/scheduler/latest/APIReference/API_EventBridgeParameters.html
"""


@pytest.fixture(scope="module", params=["", "evenkeel.replay"])
def stack(request: pytest.FixtureRequest) -> Stack:
    return deployed(**CLUSTER, ReplaySource=request.param)


def probe_of(stack: Stack) -> dict[str, Any]:
    """The event that the schedule puts on the bus."""
    target = stack.of("ProbeSchedule")["Target"]
    return {
        "version": "0",
        "id": "7bf73129-1428-4cd3-a780-95db273d1609",
        "detail-type": target["EventBridgeParameters"]["DetailType"],
        "source": target["EventBridgeParameters"]["Source"],
        "account": ACCOUNT,
        "time": "2026-11-21T06:00:00Z",
        "region": REGION,
        "resources": [],
        "detail": json.loads(target["Input"]),
    }


@pytest.fixture
def aws() -> Iterator[None]:
    with mocked():
        yield


def test_a_probe_is_put_on_the_default_bus_every_five_minutes(stack: Stack) -> None:
    schedule = stack.of("ProbeSchedule")
    assert schedule["ScheduleExpression"] == "rate(5 minutes)"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["Target"]["Arn"] == BUS
    assert schedule["Target"]["RoleArn"] == "ProbeRole.Arn"
    assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] == 0
    assert "Name" not in schedule  # a second stack has a schedule of its own


def test_the_schedules_role_may_put_events_on_that_bus_and_nothing_else(stack: Stack) -> None:
    assert set(stack.statements("ProbeRole")) == {("events:PutEvents", BUS)}
    (trust,) = stack.of("ProbeRole")["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": ACCOUNT}}


def test_the_schedules_role_may_put_no_event_but_the_probe(stack: Stack) -> None:
    """With the source of a notice, or with the ReplaySource, it could drain nodes."""
    (policy,) = stack.of("ProbeRole")["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    probe = probe_of(stack)
    assert statement["Condition"] == {
        "StringEquals": {
            "events:source": probe["source"],
            "events:detail-type": probe["detail-type"],
        }
    }


def test_it_is_one_for_the_function_and_its_source_one_that_a_stack_may_have(stack: Stack) -> None:
    event = probe_of(stack)
    assert SOURCE.fullmatch(event["source"])
    assert event["source"].endswith("/evenkeel")  # the stack's name
    assert read_json(json.dumps(event)) == Probe(event_id=event["id"])


@pytest.mark.usefixtures("aws")
def test_it_arrives_once_and_another_stacks_does_not(stack: Stack) -> None:
    events, sqs = (boto3.client(service, region_name=REGION) for service in ("events", "sqs"))
    bus = EventBus(events, sqs, stack.parameters["ReplaySource"])
    assert bus.delivers(probe_of(stack)) == 1
    assert bus.delivers(probe_of(stack) | NEAR_MISSES["another stack's probe"]) == 0
