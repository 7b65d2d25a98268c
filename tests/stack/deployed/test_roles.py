"""The roles of the stack, those that SAM would make included, as CloudFormation makes them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

pytestmark = pytest.mark.stack

BOUNDARY = {"Fn::If": ["HasBoundary", {"Ref": "PermissionsBoundary"}, {"Ref": "AWS::NoValue"}]}
OURS_ALONE = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
"""A service acts for any account that asks it, unless its role's trust says for whose."""


@pytest.fixture
def roles(translated: dict[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The properties of each role."""
    return {
        name: each["properties"]
        for name, each in translated.items()
        if each["type"] == "AWS::IAM::Role"
    }


def trusting(role: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Which services may assume a role, and on what condition."""
    for statement in role["AssumeRolePolicyDocument"]["Statement"]:
        assert statement["Effect"] == "Allow"
        assert statement["Action"] == "sts:AssumeRole"
        (kind,) = statement["Principal"]
        assert kind == "Service"
        yield statement["Principal"]["Service"], statement.get("Condition")


def test_every_role_has_the_boundary(roles: dict[str, Mapping[str, Any]]) -> None:
    assert len(roles) == 6
    without = {n for n, each in roles.items() if each.get("PermissionsBoundary") != BOUNDARY}
    assert not without


def test_schedules_of_other_accounts_may_assume_no_role(
    roles: dict[str, Mapping[str, Any]],
) -> None:
    """Lambda takes a role from none but its own account, and knows no such condition."""
    found = {name: dict(trusting(each)) for name, each in roles.items()}
    assert set().union(*found.values()) == {"lambda.amazonaws.com", "scheduler.amazonaws.com"}
    by_schedule = {
        name: trust["scheduler.amazonaws.com"]
        for name, trust in found.items()
        if "scheduler.amazonaws.com" in trust
    }
    assert by_schedule == dict.fromkeys(("ProbeRole", "ScheduleRole"), OURS_ALONE)


def test_schedules_invoke_their_two_functions_and_nothing_else(
    translated: dict[str, Any], roles: dict[str, Mapping[str, Any]]
) -> None:
    ((statement,),) = (
        policy["PolicyDocument"]["Statement"] for policy in roles["ScheduleRole"]["Policies"]
    )
    invoked = [{"Fn::GetAtt": [f"{name}Function", "Arn"]} for name in ("Handover", "Restore")]
    assert (statement["Action"], statement["Resource"]) == ("lambda:InvokeFunction", invoked)
    targets = [
        each["properties"]["Target"]
        for each in translated.values()
        if each["type"] == "AWS::Scheduler::Schedule"
    ]
    role = {"Fn::GetAtt": ["ScheduleRole", "Arn"]}
    assert [each["Arn"] for each in targets if each["RoleArn"] == role] == invoked


def test_no_role_or_schedule_has_a_name_of_its_own(
    translated: dict[str, Any], roles: dict[str, Mapping[str, Any]]
) -> None:
    """So CAPABILITY_IAM suffices, and names begin with the stack's, as the policies want it."""
    assert not any("RoleName" in each or "ManagedPolicyArns" in each for each in roles.values())
    others = {"AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::IAM::User"}
    assert not others & {each["type"] for each in translated.values()}
    schedules = [e for e in translated.values() if e["type"] == "AWS::Scheduler::Schedule"]
    assert len(schedules) == 3
    assert not any("Name" in each["properties"] for each in schedules)


def test_what_is_paid_for_or_holds_data_bears_the_stacks_tags(translated: dict[str, Any]) -> None:
    untagged = {each["type"] for each in translated.values() if not each["is_tagged"]}
    assert untagged == {
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Permission",
        "AWS::Logs::QueryDefinition",
        "AWS::SQS::QueuePolicy",
        "AWS::Scheduler::Schedule",
    }
