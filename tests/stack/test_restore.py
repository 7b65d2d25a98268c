"""What template.yaml says of restore."""

import re

import pytest

from evenkeel import settings
from tests.stack.cloudformation import Stack, deployed, load
from tests.stack.sets import CLUSTER, LOGGING, NETWORK


@pytest.fixture(scope="module")
def stack() -> Stack:
    return deployed(**CLUSTER)


def test_what_a_parameter_leaves_open_is_what_the_settings_would_take(stack: Stack) -> None:
    told = stack.environment("RestoreFunction")
    needed = (settings.shared.MODE, settings.shared.CLUSTER_NAME, settings.shared.WAKE_UP_QUEUE_URL)
    untold: dict[str, str] = {name: told[name] for name in needed}
    assert settings.RestoreSettings.from_environment(told) == (
        settings.RestoreSettings.from_environment(untold)
    )


@pytest.mark.parametrize(
    ("parameter", "setting"),
    [
        ("RestoreMoves", settings.restore.RESTORE_MOVES),
    ],
)
def test_the_settings_take_what_the_parameters_allow(
    parameter: str, setting: str, stack: Stack
) -> None:
    told = stack.environment("RestoreFunction")
    for bound in ("MinValue", "MaxValue"):
        value = str(load()["Parameters"][parameter][bound])
        settings.RestoreSettings.from_environment(told | {setting: value})


def test_it_is_called_by_a_schedule_whose_calls_are_not_made_up_for(stack: Stack) -> None:
    function = stack.of("RestoreFunction")
    (schedule,) = function["Events"].values()
    assert schedule["Type"] == "ScheduleV2"
    assert schedule["Properties"]["ScheduleExpression"] == "rate(1 minute)"
    for retries in (schedule["Properties"]["RetryPolicy"], function["EventInvokeConfig"]):
        assert retries == {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}
    rare = deployed(**CLUSTER, RestoreSchedule="rate(5 minutes)").of("RestoreFunction")
    assert rare["Events"]["Schedule"]["Properties"]["ScheduleExpression"] == "rate(5 minutes)"


def test_another_schedule_has_to_be_one() -> None:
    pattern = load()["Parameters"]["RestoreSchedule"]["AllowedPattern"]
    for good in ("rate(1 minute)", "rate(5 minutes)", "cron(0/5 * * * ? *)"):
        assert re.fullmatch(pattern, good)
    for bad in ("", "5 minutes", "rate()"):
        assert not re.fullmatch(pattern, bad)


def test_its_role_may_wake_the_reconciler_and_write_its_log(stack: Stack) -> None:
    allowed = set(stack.statements("RestoreRole"))
    logs = {(action, "RestoreLogs.Arn") for action in LOGGING}
    assert allowed == logs | {("sqs:SendMessage", "WakeUpQueue.Arn")}
    inside = deployed(**CLUSTER, SubnetIds="s", SecurityGroupIds="g")
    more = set(inside.statements("RestoreRole")) - allowed
    assert more == {(action, "*") for action in NETWORK}


def test_it_has_a_log_group_and_a_group_in_the_cluster(stack: Stack) -> None:
    function = stack.of("RestoreFunction")
    assert function["Role"] == "RestoreRole.Arn"
    assert function["LoggingConfig"] == {"LogGroup": "RestoreLogs"}
    entry = stack.of("RestoreAccess")
    assert entry["PrincipalArn"] == "RestoreRole.Arn"
    assert entry["KubernetesGroups"] == ["evenkeel-restore"]
