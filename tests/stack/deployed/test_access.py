"""Probes through everything that is deployed, and functions whose roles lose their access."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from tests.stack.deployed.conftest import Deployed
from tests.stack.deployed.verifier import Verifier

pytestmark = pytest.mark.stack

type Access = Callable[[str, str | None], None]

SCHEDULED: Mapping[str, Any] = {"source": "aws.scheduler", "detail-type": "Scheduled Event"}


@pytest.fixture
def access(stack: Deployed, verifier: Verifier) -> Iterator[Access]:
    """Gives the role of a function another group, or none; at the end all have their own."""
    before = dict(verifier.groups)

    def change(function: str, group: str | None) -> None:
        role = stack.outputs[f"{function}RoleArn"].rpartition("/")[2]
        verifier.groups.pop(role, None)
        if group is not None:
            verifier.groups[role] = group

    yield change
    verifier.groups.update(before)


def put_probe(stack: Deployed) -> None:
    """Put the event on the bus that the deployed schedule puts there every five minutes."""
    schedule = stack.ministack.client("scheduler").get_schedule(
        Name=stack.physical_id("ProbeSchedule").rpartition("/")[2]
    )
    target = schedule["Target"]
    assert target["Arn"].endswith(":event-bus/default")
    stack.put(**target["EventBridgeParameters"], Detail=target["Input"])


def counted(stack: Deployed, function: str, metric: str) -> int:
    """How many lines of a function's log count this metric."""
    return sum(f'"{metric}":[' in line.replace(" ", "") for line in stack.log_of(function))


def call(stack: Deployed, function: str) -> Mapping[str, Any]:
    """What a function answers to its schedule, or raises."""
    answer = stack.ministack.client("lambda").invoke(
        FunctionName=stack.physical_id(f"{function}Function"), Payload=json.dumps(SCHEDULED)
    )
    payload: Mapping[str, Any] = json.loads(answer["Payload"].read())
    assert ("FunctionError" in answer) == ("errorType" in payload), payload
    return payload


def test_a_probe_gets_to_the_api_server_and_is_counted(stack: Deployed) -> None:
    before = counted(stack, "Interruption", "ProbesAnswered")
    put_probe(stack)
    stack.control_plane.wait_for(
        "the probe to be answered",
        lambda: counted(stack, "Interruption", "ProbesAnswered") > before,
    )
    stack.wait_until_done()


@pytest.mark.parametrize("group", [None, "nobody"], ids=["401", "403"])
def test_a_probe_of_a_role_without_access_is_not_answered_and_does_not_stay(
    group: str | None, stack: Deployed, access: Access
) -> None:
    access("Interruption", group)
    forbidden = counted(stack, "Interruption", "ClusterForbidden")

    def is_counted() -> bool:
        put_probe(stack)  # what the API server knows of a token is some seconds old
        return counted(stack, "Interruption", "ClusterForbidden") > forbidden

    stack.control_plane.wait_for("the probe to be refused", is_counted, every=0.5)
    stack.wait_until_done()


@pytest.mark.parametrize("function", ["Handover", "Restore"])
@pytest.mark.parametrize(
    ("group", "remedy"), [(None, "access entry"), ("nobody", "evenkeel doctor")], ids=["401", "403"]
)
def test_a_call_of_the_schedule_without_access_is_an_error_that_says_what_mends_it(
    group: str | None, remedy: str, function: str, stack: Deployed, access: Access
) -> None:
    assert "errorType" not in call(stack, function)
    access(function, group)
    raised: dict[str, Any] = {}

    def fails() -> bool:
        raised.update(call(stack, function))
        return "errorType" in raised

    stack.control_plane.wait_for("the role to have no access", fails, every=0.5)
    assert remedy in raised["errorMessage"]
    assert counted(stack, function, "ClusterForbidden") > 0


def test_a_wake_up_without_access_stays_until_there_is_some(
    stack: Deployed, access: Access
) -> None:
    access("Handover", None)
    wait_for = stack.control_plane.wait_for
    wait_for("the role to have no access", lambda: "errorType" in call(stack, "Handover"))
    before = counted(stack, "Handover", "ClusterForbidden")
    stack.send("WakeUpQueueUrl", json.dumps({"v": 1, "reason": "test"}))
    wait_for(
        "it to have come back", lambda: counted(stack, "Handover", "ClusterForbidden") > before + 1
    )
    assert sum(stack.counts("WakeUpQueueUrl")) >= 1
    assert stack.counts("WakeUpDeadLettersUrl") == (0, 0)

    access("Handover", "evenkeel-handover")

    stack.wait_until_done("WakeUpQueueUrl")
