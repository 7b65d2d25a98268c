"""Looks back at all calls of these tests: what the policies of their callers gave, and did not.

ministack judges each request by the deployed policies, with their resources and conditions.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.kit.iam import Policy, Right
from tests.stack.deployed.conftest import Deployed
from tests.stack.deployed.installer import DOCTOR, USER
from tests.stack.deployed.ministack import Ministack
from tests.stack.paths import PATHS
from tests.stack.sets import NETWORK, OF_LAMBDA

pytestmark = pytest.mark.stack

FUNCTIONS = ("interruption", "handover", "restore", "placement")
UNKNOWN = {"lambda GET /2016-08-19/account-settings"}
"""What ministack lets everybody do: that who installs has the right, other tests say."""


@pytest.fixture(autouse=True)
def _after_all(request: pytest.FixtureRequest) -> None:
    run = {each.name.partition("[")[0] for each in request.session.items}
    lacking = {path.test for path in PATHS if path.calls} - run
    if lacking:
        pytest.skip(f"what was not run used nothing: {', '.join(sorted(lacking))}")


def role_of(stack: Deployed, function: str) -> str:
    """The name of a function's role."""
    return stack.outputs[f"{function.capitalize()}RoleArn"].rpartition("/")[2]


def policies_of(ministack: Ministack, role: str) -> Iterator[Policy]:
    """The policies of a role; it has no managed ones."""
    iam = ministack.client("iam")
    assert not iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]
    for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        yield Policy(iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"])


def unused(ministack: Ministack, role: str, used: set[Right]) -> set[tuple[str, str]]:
    """The actions and resources that a role's policies give, and that nothing used."""
    given = {pair for policy in policies_of(ministack, role) for pair in policy.pairs()}
    return {pair for pair in given if not any(is_by(right, *pair) for right in used)}


def is_by(right: Right, action: str, resource: str) -> bool:
    """Whether this action on this resource gives a right."""
    statement = {"Effect": "Allow", "Action": action, "Resource": resource}
    return Policy({"Version": "2012-10-17", "Statement": [statement]}).allows(right)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_is_refused_nothing_and_has_no_right_that_it_does_not_use(
    function: str, stack: Deployed
) -> None:
    role, trail = role_of(stack, function), stack.ministack.trail
    assert trail.refused(role) == set()
    idle = unused(stack.ministack, role, trail.used(role))
    assert {pair for pair in idle if pair[0] not in OF_LAMBDA | NETWORK} == set()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_a_function_called_is_what_its_paths_say(function: str, stack: Deployed) -> None:
    called = {right.action for right in stack.ministack.trail.used(role_of(stack, function))}
    shown = {call for path in PATHS if path.function == function for call in path.calls}
    assert called == shown


def test_a_schedule_may_do_what_it_is_to_do_and_its_role_may_nothing_else(stack: Deployed) -> None:
    """ministack does not ask: its scheduler may do anything."""
    needed: dict[str, set[Right]] = {}
    for target in targets_of(stack):
        needed.setdefault(target["RoleArn"].rpartition("/")[2], set()).add(right_of(target))
    for role, rights in needed.items():
        policies = list(policies_of(stack.ministack, role))
        assert {each for each in rights if not any(p.allows(each) for p in policies)} == set()
        assert unused(stack.ministack, role, rights) == set()
    functions = {role_of(stack, each) for each in FUNCTIONS}
    assert functions | set(needed) == set(resources_of(stack, "AWS::IAM::Role"))


def test_the_probe_s_role_may_put_no_other_event(stack: Deployed) -> None:
    role = stack.physical_id("ProbeRole")
    (policy,) = policies_of(stack.ministack, role)
    (probe,) = (right_of(e) for e in targets_of(stack) if e["RoleArn"].endswith(f"/{role}"))
    assert policy.allows(probe)
    for key in probe.context:
        for other in ("EC2 Spot Instance Interruption Warning", "evenkeel.replay"):
            event = Right(probe.action, probe.resource, {**probe.context, key: other})
            assert not policy.allows(event)


def test_who_installs_and_who_looks_is_refused_nothing(stack: Deployed) -> None:
    trail = stack.ministack.trail
    for user in (USER, DOCTOR):
        assert trail.used(user)
        assert trail.refused(user) == set()


def test_there_is_a_right_for_all_that_is_asked(stack: Deployed) -> None:
    assert stack.ministack.trail.unjudged("evenkeel") - UNKNOWN == set()


def targets_of(stack: Deployed) -> Iterator[Mapping[str, Any]]:
    """The targets of the stack's schedules."""
    scheduler = stack.ministack.client("scheduler")
    for name in resources_of(stack, "AWS::Scheduler::Schedule"):
        yield scheduler.get_schedule(Name=name.rpartition("/")[2])["Target"]


def right_of(target: Mapping[str, Any]) -> Right:
    """What it takes to call a schedule's target."""
    if "EventBridgeParameters" not in target:
        assert ":function:" in target["Arn"]
        return Right("lambda:InvokeFunction", target["Arn"])
    event = target["EventBridgeParameters"]
    of_event = {"events:source": event["Source"], "events:detail-type": event["DetailType"]}
    return Right("events:PutEvents", target["Arn"], of_event)


def resources_of(stack: Deployed, kind: str) -> Iterator[str]:
    """The physical ids of the stack's resources of a type."""
    client = stack.ministack.client("cloudformation")
    for page in client.get_paginator("list_stack_resources").paginate(StackName=stack.name):
        for each in page["StackResourceSummaries"]:
            if each["ResourceType"] == kind:
                yield each["PhysicalResourceId"]
