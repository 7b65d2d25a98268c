"""An operation on a stack, told as it comes, and what it failed by."""

from collections.abc import Callable
from typing import Any

import pytest

from evenkeel.ports import Clock
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install.change_set import ChangeSets, Wanted
from evenkeel_cli.install.following import Ended, Following
from tests.kit.api_server import HandClock
from tests.kit.aws_clients import STACK
from tests.unit.cli.install.cloud import Cloud, a_cloud, a_site, told
from tests.unit.cli.install.keeping import REGION

SAYS_MORE = "1 validation error: to troubleshoot, use the DescribeEvents API"


def a_following(cloud: Cloud, say: Callable[[str], None], clock: Clock) -> Following:
    return Following(Aws(REGION, lambda _: cloud), clock, cloud.id, say)


def followed(*pending: dict[str, str], **others: Any) -> tuple[Ended, list[str]]:
    """Follow an update that is under way; how it ended, and what was said."""
    cloud, said = a_cloud("UPDATE_IN_PROGRESS", **others), list[str]()
    cloud.pending = list(pending)
    return a_following(cloud, said.append, HandClock()).to_the_end(), said


def test_each_state_of_a_resource_is_told_once() -> None:
    ended, said = followed(
        told("UPDATE_IN_PROGRESS", "Queue"),
        told("UPDATE_IN_PROGRESS", "Queue", "Resource update started"),
        told("UPDATE_COMPLETE", "Queue"),
        told("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"),
        told("DELETE_COMPLETE", "Old"),
        told("UPDATE_COMPLETE"),
    )
    assert ended == Ended("UPDATE_COMPLETE")
    assert said == [
        "0  UPDATE_IN_PROGRESS  Queue",
        "1  UPDATE_COMPLETE  Queue",
        "2  DELETE_COMPLETE  Old",
    ]


def test_of_what_is_known_to_change_it_is_counted_how_much_is_done() -> None:
    cloud, said = a_cloud(), list[str]()
    following = a_following(cloud, said.append, HandClock())
    newest = following.newest()
    cloud.pending = [
        told("UPDATE_IN_PROGRESS"),
        told("UPDATE_COMPLETE", "Other"),
        told("UPDATE_COMPLETE", "Queue"),
        told("UPDATE_COMPLETE"),
    ]
    following.to_the_end(newest, ["Queue", "Layer"])
    assert said == ["0 of 2  UPDATE_COMPLETE  Other", "1 of 2  UPDATE_COMPLETE  Queue"]


def test_the_first_failure_is_that_which_made_the_others_be_cancelled() -> None:
    ended, said = followed(
        told("UPDATE_FAILED", "Queue", "Resource update cancelled"),
        told("UPDATE_FAILED", "Role", "no such boundary"),
        told("UPDATE_FAILED", "Layer", "too large"),
        told("UPDATE_ROLLBACK_IN_PROGRESS", "", "The following resource(s) failed: [Role, Layer]"),
        told("UPDATE_ROLLBACK_COMPLETE"),
    )
    assert ended.status == "UPDATE_ROLLBACK_COMPLETE"
    assert ended.failure == "Role (AWS::Some::Type) failed first: no such boundary"
    assert "2  UPDATE_FAILED  Role: no such boundary" in said


@pytest.mark.parametrize(
    ("checks", "failure"),
    [
        (
            [{"ValidationStatusReason": "a name is taken", "ValidationPath": "/Resources/Role"}],
            "/Resources/Role: a name is taken",
        ),
        ([{"ResourceStatusReason": "refused", "LogicalResourceId": "Role"}], "Role: refused"),
        ([{"ResourceStatusReason": "refused"}], "refused"),
        ([{}], SAYS_MORE),
    ],
)
def test_where_a_validation_failed_it_says_what(checks: list[dict[str, str]], failure: str) -> None:
    """CloudFormation rolls back before it makes anything; its stack's events tell no more."""
    pending = [told("UPDATE_FAILED", "", SAYS_MORE), told("UPDATE_ROLLBACK_IN_PROGRESS")]
    ended, _ = followed(*pending, told("UPDATE_ROLLBACK_COMPLETE"), checks=checks)
    assert ended == Ended("UPDATE_ROLLBACK_COMPLETE", failure)


def test_a_change_set_that_a_validation_refuses_says_what() -> None:
    cloud = a_cloud(refused=SAYS_MORE, checks=[{"ValidationStatusReason": "no such property"}])
    cloud.buckets["b"] = {"t": b'{"Parameters": {}, "Resources": {}}'}
    wanted = Wanted(STACK, "https://s3.aws/b/t", frozenset(), {})
    sets = ChangeSets(Aws(REGION, lambda _: cloud), HandClock())
    with pytest.raises(UnmetError, match="refuses the change set: no such property"):
        sets.make(wanted, a_site(cloud).stack())


def test_an_interrupt_leaves_aws_at_work_and_says_so() -> None:
    cloud, said = a_cloud("UPDATE_IN_PROGRESS"), list[str]()

    class Interrupted(HandClock):
        def sleep(self, _: Any) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        a_following(cloud, said.append, Interrupted()).to_the_end()
    assert said == ["AWS goes on by itself: the same command follows it"]
    assert all(name.startswith("describe_") for name, _ in cloud.asked)
