"""A stack in each of CloudFormation's states, made or changed, also by a command that is killed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.install import settling
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.patience import ImpatientClock, TimeIsUpError
from evenkeel_cli.install.site import Site
from evenkeel_cli.install.stacks import Deleted, Deployed, Swept
from evenkeel_cli.install.steps import Step
from tests.kit.aws_clients import STACK
from tests.unit.cli.install.cloud import (
    OURS,
    PARAMETERS,
    TEMPLATE,
    Cloud,
    a_build,
    a_cloud,
    a_site,
    told,
)
from tests.unit.cli.install.keeping import REGION
from tests.unit.cli.install.killing import gone_through

FIRST, SECOND, THIRD = (f"{STACK}/HandoverFunction-{each * 16}.zip" for each in "123")


def deployed(
    cloud: Cloud,
    build: Build | None = None,
    parameters: Mapping[str, str] = PARAMETERS,
    said: list[str] | None = None,
    *,
    later: int = 0,
    **place: str,
) -> Deployed:
    """A step, so many seconds after the first run of the command."""
    site = a_site(cloud, said, **place)
    site.clock.sleep(timedelta(seconds=later))
    return Deployed(site, build or a_build("2"), parameters)


def zips(cloud: Cloud) -> set[str]:
    return {key for key in cloud.buckets[OURS] if key.endswith(".zip")}


def test_a_stack_is_made_and_then_as_wanted() -> None:
    cloud, said = Cloud(), list[str]()
    step = deployed(cloud, said=said)
    assert step.look() == [f"make {STACK}", "  ClusterName=prod", "  Mode=act"]
    step.do()
    assert cloud.status == "CREATE_COMPLETE"
    assert cloud.template["Resources"]["HandoverFunction"]["Properties"] == {
        "CodeUri": f"s3://{OURS}/{SECOND}"
    }
    assert said == [
        "Add     NoticeQueue (AWS::SQS::Queue)",
        "Add     HandoverFunction (AWS::Serverless::Function)",
        "0 of 2  CREATE_IN_PROGRESS  NoticeQueue",
        "0 of 2  CREATE_IN_PROGRESS  HandoverFunction",
        "1 of 2  CREATE_COMPLETE  NoticeQueue",
        "2 of 2  CREATE_COMPLETE  HandoverFunction",
    ]
    assert step.look() == []


@pytest.mark.parametrize("status", ["UPDATE_COMPLETE", "ROLLBACK_COMPLETE"])
def test_an_operation_that_is_seen_late_is_followed_to_its_own_end(status: str) -> None:
    """Its stack still is as it was before when it is looked at first."""
    cloud = a_cloud(status, is_late=True)
    deployed(cloud).do()
    assert cloud.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE")
    assert not cloud.pending


def test_without_apply_nothing_is_written_and_all_that_differs_is_told() -> None:
    cloud = a_cloud()
    old = TEMPLATE["Resources"]["NoticeQueue"]
    cloud.template["Resources"] |= {
        "OldQueue": old,
        "NoticeQueue": {**old, "Properties": {"FifoQueue": True}},
    }
    after = {**TEMPLATE["Resources"], "Api": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {}}}
    step = deployed(cloud, a_build("2", Resources=after), {**PARAMETERS, "Mode": "observe"})
    assert step.look() == [
        f"bring {STACK} to this code",
        "  Mode: act -> observe",
        "  changes: NoticeQueue (AWS::SQS::Queue)",
        "  code of HandoverFunction: 111111111111 -> 222222222222",
        "  comes: Api (AWS::ApiGatewayV2::Api)",
        "  goes: OldQueue (AWS::SQS::Queue)",
    ]
    assert all(name.startswith(("get_", "describe_", "list_")) for name, _ in cloud.asked)


def test_parameters_that_nobody_names_stay_and_those_that_the_template_lost_go() -> None:
    cloud = a_cloud()
    cloud.parameters["HandoverConcurrency"] = "5"
    deployed(cloud, parameters={"Mode": "observe"}).do()
    (made,) = cloud.calls("create_change_set")
    assert made["Parameters"] == [
        {"ParameterKey": "Mode", "ParameterValue": "observe"},
        {"ParameterKey": "ClusterName", "UsePreviousValue": True},
        {"ParameterKey": "Window", "UsePreviousValue": True},
    ]
    assert made["Capabilities"] == ["CAPABILITY_IAM"]
    assert made["ClientToken"] == made["ChangeSetName"]
    assert "TemplateBody" not in made
    assert "RoleARN" not in made
    assert cloud.parameters == {"Mode": "observe", "ClusterName": "prod", "Window": "50"}


def test_a_parameter_that_the_template_lacks_is_refused_before_anything() -> None:
    with pytest.raises(BadInputError, match="--parameter Windo: the stack has none"):
        deployed(Cloud(), parameters={"Windo": "5"})


def test_cloudformation_works_by_the_role_that_is_named() -> None:
    cloud = a_cloud("UPDATE_ROLLBACK_FAILED")
    role = "arn:aws:iam::123456789012:role/evenkeel-deployer"
    deployed(cloud, role_arn=role).do()
    Deleted(a_site(cloud, role_arn=role)).do()
    for method in ("continue_update_rollback", "create_change_set", "delete_stack"):
        (asked,) = cloud.calls(method)
        assert asked["RoleARN"] == role


def test_a_change_set_without_changes_is_no_error() -> None:
    """As where nothing but a description differs."""
    cloud = a_cloud()
    step = deployed(cloud, a_build("1"), {**PARAMETERS, "Window": "50"})
    cloud.template = {**cloud.template, "Description": "other"}
    assert step.look()[1:] == ["  its template, in which no resource differs"]
    cloud.refused = "The submitted information didn't contain changes. Submit other information"
    step.do()
    assert len(cloud.calls("delete_change_set")) == 1
    assert not cloud.calls("execute_change_set")


@pytest.mark.parametrize(
    ("kind", "is_lost"),
    [
        ("AWS::SQS::Queue", True),
        ("AWS::SecretsManager::Secret", True),
        ("AWS::ApiGatewayV2::Api", True),
        ("AWS::Lambda::LayerVersion", False),
    ],
)
def test_what_holds_something_is_not_replaced(kind: str, *, is_lost: bool) -> None:
    cloud = a_cloud(replacing=("NoticeQueue",))
    resources = TEMPLATE["Resources"] | {"NoticeQueue": {"Type": kind, "Properties": {"N": "1"}}}
    step = deployed(cloud, a_build("2", Resources=resources))
    if not is_lost:
        step.do()
        return
    with pytest.raises(UnmetError, match=r"would replace NoticeQueue, .* execute-change-set"):
        step.do()
    assert not cloud.calls("execute_change_set")
    assert zips(cloud) == {FIRST, SECOND}


def test_a_change_set_alone_is_made_and_executed_by_hand() -> None:
    cloud, said = Cloud(), list[str]()
    by_hand = deployed(cloud, said=said).propose()
    (made,) = cloud.calls("create_change_set")
    name = f"{made['ChangeSetName']}-id"
    assert by_hand == f"aws cloudformation execute-change-set --change-set-name {name}"
    assert len(said) == 2
    assert cloud.status == "REVIEW_IN_PROGRESS"
    again = deployed(cloud, later=99)
    assert again.look()[0] == f"make {STACK}"
    again.do()
    assert cloud.status == "CREATE_COMPLETE"


@pytest.mark.parametrize(
    "status", ["UPDATE_IN_PROGRESS", "ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_FAILED"]
)
def test_a_change_set_alone_does_nothing_to_the_stack(status: str) -> None:
    cloud = a_cloud(status)
    with pytest.raises(UnmetError, match=f"is {status}, .*: --apply goes on from there"):
        deployed(cloud).propose()
    assert all(name.startswith(("get_", "describe_", "list_")) for name, _ in cloud.asked)


@pytest.mark.parametrize(
    ("status", "said", "asked"),
    [
        ("ROLLBACK_COMPLETE", "delete {}, which is ROLLBACK_COMPLETE, and", "delete_stack"),
        ("CREATE_FAILED", "delete {}, which is CREATE_FAILED, and", "delete_stack"),
        ("DELETE_FAILED", "delete {}, which is DELETE_FAILED, and", "delete_stack"),
        ("UPDATE_ROLLBACK_FAILED", "continue the rollback of {}", "continue_update_rollback"),
        ("UPDATE_ROLLBACK_COMPLETE", "bring {} to this code", ""),
        ("IMPORT_COMPLETE", "bring {} to this code", ""),
    ],
)
def test_it_goes_on_from_whatever_was_left(status: str, said: str, asked: str) -> None:
    cloud = a_cloud(status)
    step = deployed(cloud)
    assert step.look()[0].startswith(said.format(STACK))
    step.do()
    is_anew = asked == "delete_stack"
    assert cloud.status == ("CREATE_COMPLETE" if is_anew else "UPDATE_COMPLETE")
    others = {"delete_stack", "continue_update_rollback"} - {asked}
    assert not any(cloud.calls(each) for each in others)
    assert step.look() == []


@pytest.mark.parametrize(
    ("status", "end"),
    [
        ("CREATE_IN_PROGRESS", "CREATE_COMPLETE"),
        ("UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"),
        ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "UPDATE_COMPLETE"),
        ("ROLLBACK_IN_PROGRESS", "ROLLBACK_COMPLETE"),
        ("UPDATE_ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_FAILED"),
        ("DELETE_IN_PROGRESS", "DELETE_COMPLETE"),
        ("DELETE_IN_PROGRESS", "DELETE_FAILED"),
    ],
)
def test_what_is_under_way_is_followed_and_then_gone_on_from(status: str, end: str) -> None:
    cloud, said = a_cloud(status), list[str]()
    cloud.pending = [told("SOME_IN_PROGRESS", "Slow"), told("SOME_COMPLETE", "Slow"), told(end)]
    step = deployed(cloud, said=said)
    assert step.look() == [f"follow {STACK}, which is {status}, and bring it to this code then"]
    step.do()
    assert said[:2] == ["0  SOME_IN_PROGRESS  Slow", "1  SOME_COMPLETE  Slow"]
    assert cloud.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE")
    assert step.look() == []


def test_parameters_are_read_when_nothing_is_under_way() -> None:
    """Of a change that fails they are taken back."""
    cloud = a_cloud("UPDATE_IN_PROGRESS")
    cloud.pending = [told("UPDATE_ROLLBACK_IN_PROGRESS"), told("UPDATE_ROLLBACK_FAILED")]
    found = settling.at_rest(a_site(cloud))
    assert found is not None
    assert found.status == "UPDATE_ROLLBACK_COMPLETE"
    assert settling.at_rest(a_site(Cloud())) is None


def test_what_is_followed_may_have_made_it_as_wanted() -> None:
    cloud = a_cloud("UPDATE_IN_PROGRESS", a_build("2"))
    cloud.pending = [told("UPDATE_COMPLETE")]
    deployed(cloud).do()
    assert not cloud.calls("create_change_set")


def test_what_takes_longer_than_was_said_is_followed_by_the_next_run() -> None:
    cloud, build = a_cloud(), a_build("2")
    site = a_site(cloud)
    in_a_hurry = replace(site, clock=ImpatientClock(site.clock, timedelta(seconds=2)))
    with pytest.raises(TimeIsUpError, match="not done after 2s: AWS and the cluster are still"):
        Deployed(in_a_hurry, build, PARAMETERS).do()
    assert site.clock.boot() == timedelta(seconds=2)
    assert cloud.status == "UPDATE_IN_PROGRESS"
    again = Deployed(site, build, PARAMETERS)
    again.do()
    assert again.look() == []
    assert len(cloud.calls("execute_change_set")) == 1


@pytest.mark.parametrize("status", ["UPDATE_ROLLBACK_FAILED", "DELETE_FAILED"])
def test_what_stays_stuck_is_named(status: str) -> None:
    cloud = a_cloud(status, failing={"HandoverRole": "the role is in use"})
    with pytest.raises(UnmetError, match=r"HandoverRole \(.*\) failed first: the role is in use"):
        deployed(cloud).do()


def test_a_failing_upgrade_is_named_and_its_rollback_leaves_what_was() -> None:
    cloud = a_cloud(failing={"HandoverFunction": "no such runtime"})
    with pytest.raises(UnmetError, match=r"UPDATE_ROLLBACK_COMPLETE: HandoverFunction .* no such"):
        deployed(cloud).do()
    assert zips(cloud) == {FIRST, SECOND}  # the rollback fetches the first
    cloud.failing.clear()
    again = deployed(cloud, later=99)
    again.do()
    assert again.look() == []


def test_the_stack_of_another_cluster_is_left_alone() -> None:
    cloud = a_cloud("ROLLBACK_COMPLETE")
    cloud.parameters["ClusterName"] = "other"
    removal = Deleted(a_site(cloud))
    for attempt in (deployed(cloud).look, deployed(cloud).do, removal.look, removal.do):
        with pytest.raises(UnmetError, match="is for the cluster other: name another stack"):
            attempt()
    assert not cloud.calls("delete_stack")


def test_files_of_this_deployment_and_the_one_before_stay() -> None:
    cloud = a_cloud()
    cloud.buckets[OURS]["evenkeel-production/other.zip"] = b""
    for version, kept in (("2", {FIRST, SECOND}), ("3", {SECOND, THIRD})):
        deployed(cloud, a_build(version), later=int(version)).do()
        assert zips(cloud) == kept | {"evenkeel-production/other.zip"}
    assert len([key for key in cloud.buckets[OURS] if key.endswith(".json")]) == 1


def test_a_bucket_of_one_s_own_is_used_until_another_is_named() -> None:
    cloud = Cloud(buckets={"mine": {}})
    deployed(cloud, a_build("1"), bucket="mine").do()
    deployed(cloud, a_build("2"), later=1).do()
    assert set(cloud.buckets) == {"mine"}
    assert FIRST in cloud.buckets["mine"]
    assert SECOND in cloud.buckets["mine"]
    swept = Swept(a_site(cloud))
    Deleted(a_site(cloud)).do()
    swept.do()
    assert cloud.buckets == {"mine": {}}
    assert not cloud.policies


def test_a_removal_leaves_nothing_also_where_two_stacks_share_the_bucket() -> None:
    cloud = a_cloud()
    cloud.buckets[OURS]["evenkeel-other/x.zip"] = b""
    steps: list[Step] = [Deleted(a_site(cloud)), Swept(a_site(cloud))]
    assert steps[1].look() == [
        f"delete 1 files under {STACK}/ in {OURS}, and the bucket if nothing else is in it"
    ]
    for step in steps:
        step.do()
        assert step.look() == []
    assert cloud.buckets == {OURS: {"evenkeel-other/x.zip": b""}}
    cloud.buckets[OURS].clear()
    left = Swept(a_site(cloud))
    assert left.look() == [f"delete {OURS}, which is empty"]
    left.do()
    assert cloud.buckets == {}


@pytest.mark.parametrize("status", ["REVIEW_IN_PROGRESS", "UPDATE_IN_PROGRESS", "DELETE_FAILED"])
def test_a_stack_in_any_state_is_removed(status: str) -> None:
    cloud = a_cloud(status)
    cloud.pending = [] if status == "REVIEW_IN_PROGRESS" else [told("UPDATE_COMPLETE")]
    step = Deleted(a_site(cloud))
    assert step.look() == [f"delete {STACK}, which is {status}"]
    step.do()
    assert step.look() == []


def in_turn(cloud: Cloud, *make: Callable[[Site], Step]) -> list[str]:
    """Kill these steps after each write; methods and files after which that happened."""
    moments = count()

    def steps(aws: Aws) -> list[Step]:
        site = replace(a_site(cloud), aws=aws)
        site.clock.sleep(timedelta(seconds=next(moments)))
        return [each(site) for each in make]

    killed = gone_through(REGION, lambda _: cloud, steps)
    return [each.replace(f"{STACK}/", "") for each in killed]


SETTINGS = ["put_public_access_block", "put_bucket_encryption", "put_bucket_policy"]
EXECUTED = ["create_change_set", "execute_change_set"]


def test_a_command_that_is_killed_after_each_write_goes_on() -> None:
    cloud = Cloud()
    killed = in_turn(cloud, lambda site: Deployed(site, a_build("2"), PARAMETERS))
    function, template = "put_object HandoverFunction-2222222222222222.zip", killed[5]
    assert template.startswith("put_object template-")
    assert killed == ["create_bucket", *SETTINGS, function, template, *EXECUTED]
    assert cloud.status == "CREATE_COMPLETE"
    assert len(cloud.calls("execute_change_set")) == 1

    killed = in_turn(cloud, lambda site: Deployed(site, a_build("3"), PARAMETERS))
    assert [each.partition(" ")[0] for each in killed] == ["put_object"] * 2 + EXECUTED
    assert cloud.status == "UPDATE_COMPLETE"

    killed = in_turn(cloud, Deleted, Swept)
    assert killed == ["delete_stack", "delete_objects", "delete_bucket"]
    assert cloud.buckets == {}
    assert cloud.status == "DELETE_COMPLETE"
