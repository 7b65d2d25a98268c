"""What template.yaml says, read from the template itself."""

import re
import tomllib
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from evenkeel import settings
from evenkeel.decisions.notice.result import NO_ANSWER_DELAY
from evenkeel.flows.interruption.flow import PATIENCE
from evenkeel.handlers.interruption import MALFORMED_DELAY
from evenkeel.model.notification import SOURCE, Phase
from evenkeel_cli.doctor.aws.facts import rules_of
from evenkeel_hosting.functions import HANDOVERS
from tests.kit.iam import Policy, Right
from tests.kit.reviews import TOKEN
from tests.stack.cloudformation import ACCOUNT, REGION, TEMPLATE, Stack, deployed, load
from tests.stack.sets import CLUSTER, LOGGING, NETWORK, POLLING
from tests.stack.sources import variables

FUNCTIONS = {"InterruptionFunction": "NoticeQueue", "HandoverFunction": "WakeUpQueue"}
POSTPONING = {"sqs:ChangeMessageVisibility"}
BUS = f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/default"
RIGHTS: dict[str, dict[str, set[str]]] = {
    "Interruption": {
        "NoticeQueue.Arn": POLLING | POSTPONING,
        "WakeUpQueue.Arn": {"sqs:SendMessage"},
        "*": {"ec2:DescribeInstances"},  # which knows no resources
    },
    "Handover": {
        "WakeUpQueue.Arn": POLLING | POSTPONING | {"sqs:SendMessage"},
        "*": {"ec2:DescribeInstances"},
        BUS: {"events:PutEvents"},
    },
    "Restore": {"WakeUpQueue.Arn": {"sqs:SendMessage"}},
    "Placement": {},
}
"""What each function's role allows, by resource, besides writing its log."""

with_webhook = partial(deployed, **CLUSTER, WebhookToken=TOKEN, Webhook="false")


@pytest.fixture(scope="module")
def stack() -> Stack:
    return with_webhook()


# Settings


def test_the_functions_find_their_settings_in_their_environments(stack: Stack) -> None:
    region = {settings.connection.REGION: REGION}
    notices = stack.environment("InterruptionFunction") | region
    wake_ups = stack.environment("HandoverFunction") | region
    interruption = settings.InterruptionSettings.from_environment(notices)
    handover = settings.HandoverSettings.from_environment(wake_ups)
    for environ in (notices, wake_ups):
        connection = settings.ConnectionSettings.from_environment(environ)
        assert connection.cluster_name == "prod"
        assert connection.endpoint == CLUSTER["ClusterEndpoint"]
    assert interruption.notice_queue_url.endswith("/NoticeQueue")
    assert interruption.wake_up_queue_url == handover.wake_up_queue_url
    assert handover.wake_up_queue_url.endswith("/WakeUpQueue")


def test_it_observes_and_reads_no_replays_unless_told_otherwise(stack: Stack) -> None:
    modes = {stack.environment(f"{each}Function")[settings.shared.MODE] for each in RIGHTS}
    assert modes == {"observe"}
    assert stack.environment("InterruptionFunction")[settings.interruption.REPLAY_SOURCE] == ""


def test_what_a_parameter_leaves_open_is_what_the_settings_would_take(stack: Stack) -> None:
    needed = (settings.shared.MODE, settings.shared.CLUSTER_NAME, settings.shared.WAKE_UP_QUEUE_URL)
    same = {settings.handover.LOG_STREAM: "same"}
    for function, read in (
        ("HandoverFunction", settings.HandoverSettings.from_environment),
        ("RestoreFunction", settings.RestoreSettings.from_environment),
    ):
        told = stack.environment(function)
        untold: dict[str, str] = {name: told[name] for name in needed}
        assert read(told | same) == read(untold | same)
    connection = ("EVENKEEL_CLUSTER_NAME", "EVENKEEL_CLUSTER_ENDPOINT", "EVENKEEL_CLUSTER_CA")
    region = {settings.connection.REGION: REGION}
    assert settings.ConnectionSettings.from_environment(told | region) == (
        settings.ConnectionSettings.from_environment({n: told[n] for n in connection} | region)
    )


def test_every_setting_can_be_set_and_nothing_else_is(stack: Stack) -> None:
    known = {name for name in variables() if name.startswith("EVENKEEL_")}
    set_ = {name for each in RIGHTS for name in stack.environment(f"{each}Function")}
    assert set_ == known


@pytest.mark.parametrize("bound", ["MinValue", "MaxValue"])
def test_restore_takes_the_bounds_of_its_parameter(bound: str, stack: Stack) -> None:
    moves = {settings.restore.RESTORE_MOVES: str(load()["Parameters"]["RestoreMoves"][bound])}
    settings.RestoreSettings.from_environment(stack.environment("RestoreFunction") | moves)


# Times


@pytest.mark.parametrize(("function", "queue"), FUNCTIONS.items())
def test_a_message_stays_invisible_while_its_function_may_run(
    function: str, queue: str, stack: Stack
) -> None:
    assert stack.of(queue)["VisibilityTimeout"] >= stack.of(function)["Timeout"]
    assert stack.of("HandoverFunction")["Timeout"] == settings.HANDOVER_TIMEOUT.total_seconds()
    assert stack.of("RestoreFunction")["Timeout"] > settings.LONGEST_RESTORE.total_seconds()


def test_a_notice_is_tried_for_as_long_as_it_counts_and_then_becomes_a_dead_letter(
    stack: Stack,
) -> None:
    queue = stack.of("NoticeQueue")
    tries, kept = queue["RedrivePolicy"]["maxReceiveCount"], queue["MessageRetentionPeriod"]
    assert tries * NO_ANSWER_DELAY > PATIENCE
    assert tries * (MALFORMED_DELAY + timedelta(seconds=1)) < timedelta(seconds=kept)


def test_dead_letters_are_kept_for_as_long_as_sqs_keeps_anything(stack: Stack) -> None:
    for queue in ("NoticeDeadLetters", "WakeUpDeadLetters"):
        assert stack.of(queue)["MessageRetentionPeriod"] == 14 * 24 * 3600
    for queue in FUNCTIONS.values():
        letters = f"{queue.removesuffix('Queue')}DeadLetters.Arn"
        assert stack.of(queue)["RedrivePolicy"]["deadLetterTargetArn"] == letters


def test_no_notice_is_delivered_that_is_older_than_its_instance(stack: Stack) -> None:
    for rule in stack.names("AWS::Events::Rule"):
        (target,) = stack.of(rule)["Targets"]
        assert target["Arn"] == "NoticeQueue.Arn"
        assert target["RetryPolicy"] == {"MaximumEventAgeInSeconds": 120}
        assert target["DeadLetterConfig"] == {"Arn": "NoticeDeadLetters.Arn"}


@pytest.mark.parametrize(
    ("name", "schedule"),
    [
        ("HandoverFunction", "HandoverFunctionEveryMinute"),
        ("RestoreFunction", "RestoreFunctionSchedule"),
    ],
)
def test_a_minutes_call_is_not_made_up_for(name: str, schedule: str, stack: Stack) -> None:
    every_minute = stack.of(schedule)
    assert every_minute["ScheduleExpression"] == "rate(1 minute)"
    assert every_minute["Target"]["Arn"] == f"{name}.Arn"
    for retries in (every_minute["Target"]["RetryPolicy"], stack.of(name)["EventInvokeConfig"]):
        assert retries == {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}


def test_restore_can_be_called_more_rarely() -> None:
    schedule = deployed(RestoreSchedule="rate(5 minutes)").of("RestoreFunctionSchedule")
    assert schedule["ScheduleExpression"] == "rate(5 minutes)"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_batch_fails_in_part_and_waits_for_nothing(function: str, stack: Stack) -> None:
    (mapping,) = (e for e in stack.of(function)["Events"].values() if e["Type"] == "SQS")
    properties = mapping["Properties"]
    assert properties["Queue"] == f"{FUNCTIONS[function]}.Arn"
    assert properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert properties["BatchSize"] == 10
    assert "MaximumBatchingWindowInSeconds" not in properties
    at_once = properties["ScalingConfig"]["MaximumConcurrency"]
    assert at_once == (HANDOVERS if function == "HandoverFunction" else 10)


# Rights


@pytest.mark.parametrize("function", RIGHTS)
def test_each_action_is_allowed_on_the_one_resource_that_it_is_for(
    function: str, stack: Stack
) -> None:
    allowed: dict[str, set[str]] = {}
    for action, resource in stack.statements(f"{function}Role"):
        allowed.setdefault(resource, set()).add(action)
    assert allowed == RIGHTS[function] | {f"{function}Logs.Arn": LOGGING}
    assert "ManagedPolicyArns" not in stack.of(f"{function}Role")


def test_handover_may_tell_of_interruptions_and_put_nothing_else_on_the_bus(stack: Stack) -> None:
    """With EC2's source, or the probe's, it could drain nodes."""
    policies = stack.of("HandoverRole")["Policies"]
    (policy,) = (each for each in policies if each["PolicyName"] == "notifications")
    role = Policy(policy["PolicyDocument"])

    def may_put(source: str, detail_type: str) -> bool:
        entry = {"events:source": source, "events:detail-type": detail_type}
        return role.allows(Right("events:PutEvents", BUS, entry))

    for phase in Phase:
        assert may_put(SOURCE, phase.detail_type)
        assert not may_put("aws.ec2", phase.detail_type)
        assert not may_put("evenkeel.probe/prod", phase.detail_type)
    assert not may_put(SOURCE, "EC2 Spot Instance Interruption Warning")


def test_where_nobody_is_told_nothing_may_be_put_on_the_bus() -> None:
    silent = deployed(**CLUSTER, Notify="never")
    assert BUS not in {resource for _, resource in silent.statements("HandoverRole")}


def test_no_rule_of_a_notice_takes_what_is_told() -> None:
    """Else handover would hear itself."""
    for replays in ("", "evenkeel.replays"):
        stack = with_webhook(ReplaySource=replays, LifecycleHook="evenkeel")
        for name in stack.names("AWS::Events::Rule"):
            assert SOURCE not in stack.of(name)["EventPattern"]["source"]
    pattern = re.compile(load()["Parameters"]["ReplaySource"]["AllowedPattern"])
    assert pattern.fullmatch(SOURCE) is None
    assert pattern.fullmatch("evenkeel.replays") is not None


def test_what_is_told_goes_to_a_topic_as_text() -> None:
    topic = f"arn:aws:sns:{REGION}:{ACCOUNT}:on-call"
    rule = with_webhook(NotifyTopic=topic).of("NotifyTopicRule")
    assert rule["EventPattern"] == {
        "source": [SOURCE],
        "detail-type": [phase.detail_type for phase in Phase],
        "detail": {"cluster": ["prod"]},
    }
    (target,) = rule["Targets"]
    assert target["Arn"] == topic
    assert target["InputTransformer"] == {
        "InputPathsMap": {"text": "$.detail.text"},
        "InputTemplate": '"<text>"',
    }


def test_without_a_topic_no_rule_is_there_for_one(stack: Stack) -> None:
    assert "NotifyTopicRule" not in stack.resources


def test_a_lifecycle_hook_is_heeded_and_allowed_only_where_one_is_named(stack: Stack) -> None:
    hooked = with_webhook(LifecycleHook="evenkeel")
    assert set(hooked.names("AWS::Events::Rule")) - set(stack.names("AWS::Events::Rule")) == {
        "LifecycleActionRule"
    }
    pattern = hooked.of("LifecycleActionRule")["EventPattern"]
    assert pattern["detail"] == {"LifecycleHookName": ["evenkeel"]}
    more = {
        function: set(hooked.statements(f"{function}Role"))
        - set(stack.statements(f"{function}Role"))
        for function in RIGHTS
    }
    groups = f"arn:aws:autoscaling:{REGION}:123456789012:autoScalingGroup:*"
    assert more == {
        "Interruption": {
            ("autoscaling:CompleteLifecycleAction", groups),
            ("autoscaling:DescribeLifecycleHooks", "*"),
        },
        "Handover": {
            ("autoscaling:CompleteLifecycleAction", groups),
            ("autoscaling:RecordLifecycleActionHeartbeat", groups),
        },
        "Restore": set(),
        "Placement": set(),
    }
    for policy in ("NoticeQueuePolicy", "NoticeDeadLettersPolicy"):
        statement, _ = hooked.of(policy)["PolicyDocument"]["Statement"]
        sources = statement["Condition"]["ArnEquals"]["aws:SourceArn"]
        assert "LifecycleActionRule.Arn" in sources
    for function in FUNCTIONS:
        environ = hooked.environment(function)
        assert environ[settings.shared.LIFECYCLE_HOOK] == "evenkeel"
        assert stack.environment(function)[settings.shared.LIFECYCLE_HOOK] == ""


def test_a_role_may_be_put_into_a_network_only_where_there_is_one(stack: Stack) -> None:
    inside = with_webhook(SubnetIds="subnet-1,subnet-2", SecurityGroupIds="sg-1")
    assert inside.globals["Function"]["VpcConfig"] == {
        "SubnetIds": ["subnet-1", "subnet-2"],
        "SecurityGroupIds": ["sg-1"],
    }
    assert "VpcConfig" not in stack.globals["Function"]
    for role in (f"{function}Role" for function in RIGHTS):
        more = set(inside.statements(role)) - set(stack.statements(role))
        assert more == {(action, "*") for action in NETWORK}


def test_only_our_rules_may_send_notices(stack: Stack) -> None:
    ours = {f"{rule}.Arn" for rule in stack.names("AWS::Events::Rule")}
    allowed = {
        queue: statement
        for queue, statements in policies_of_queues(stack).items()
        for statement in statements
        if statement["Effect"] == "Allow"
    }
    assert allowed.keys() == {"NoticeQueue", "NoticeDeadLetters"}
    for statement in allowed.values():
        assert statement["Principal"] == {"Service": "events.amazonaws.com"}
        assert statement["Action"] == "sqs:SendMessage"
        assert set(statement["Condition"]["ArnEquals"]["aws:SourceArn"]) == ours, (
            f"OurRules in template.yaml should name {sorted(ours)}"
        )


@pytest.mark.parametrize("hook", ["", "evenkeel"])
def test_the_doctor_looks_at_every_rule(hook: str) -> None:
    stack = with_webhook(LifecycleHook=hook)
    there = {*stack.names("AWS::Events::Rule")}
    assert {*rules_of(stack.parameters)} == there, "see evenkeel_cli/doctor/aws/facts.py"


def test_every_queue_takes_requests_by_tls_alone(stack: Stack) -> None:
    policies = policies_of_queues(stack)
    assert policies.keys() == set(stack.names("AWS::SQS::Queue"))
    for queue, statements in policies.items():
        (denied,) = (each for each in statements if each["Effect"] == "Deny")
        assert (denied["Principal"], denied["Action"]) == ("*", "sqs:*")
        assert denied["Resource"] == f"{queue}.Arn"
        assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def policies_of_queues(stack: Stack) -> dict[str, list[dict[str, Any]]]:
    """The statements about each queue."""
    found = {}
    for name in stack.names("AWS::SQS::QueuePolicy"):
        (url,) = stack.of(name)["Queues"]
        found[url.rpartition("/")[2]] = stack.of(name)["PolicyDocument"]["Statement"]
    return found


def test_each_function_has_a_role_a_log_group_and_a_group_in_the_cluster(stack: Stack) -> None:
    for name in RIGHTS:
        function, entry = stack.of(f"{name}Function"), stack.of(f"{name}Access")
        assert function["Role"] == entry["PrincipalArn"] == f"{name}Role.Arn"
        assert function["LoggingConfig"] == {"LogGroup": f"{name}Logs"}
        assert entry["KubernetesGroups"] == [f"evenkeel-{name.lower()}"]


def test_a_cluster_without_access_entries_gets_none(stack: Stack) -> None:
    without = with_webhook(AccessEntries="false")
    assert without.names("AWS::EKS::AccessEntry") == []
    access = {f"{name}Access" for name in RIGHTS}
    assert without.resources.keys() | access == stack.resources.keys()


def test_no_partition_account_or_region_is_taken_for_granted() -> None:
    text = repr({name: load()[name] for name in ("Globals", "Resources", "Outputs")})
    assert not re.search(r"arn:aws|amazonaws\.com(?!')|\d{12}|[a-z]{2}-[a-z]+-\d", text)


# Parameters


def test_every_parameter_is_described_and_in_one_group() -> None:
    template = load()
    groups = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = [name for group in groups for name in group["Parameters"]]
    assert sorted(grouped) == sorted(template["Parameters"])
    assert all(group["Label"]["default"] for group in groups)
    assert all(each.get("Description") for each in template["Parameters"].values())


@pytest.mark.parametrize(
    ("parameter", "good", "bad"),
    [
        ("LifecycleHook", ["", "evenkeel", "a/b-c_D"], ["two words", "a" * 256]),
        ("ReplaySource", ["", "evenkeel.replay"], ["aws.ec2", "two words"]),
        ("ClusterEndpoint", ["https://a"], ["http://a", "a"]),
        ("ClusterName", ["prod", "a_b-1"], ["", "-a", "a b"]),
        ("ClusterCertificateAuthority", ["LS0t", "LS0=", "LS=="], ["", "-----BEGIN"]),
        (
            "RestoreSchedule",
            ["rate(5 minutes)", "cron(0/5 * * * ? *)"],
            ["", "5 minutes", "rate()"],
        ),
        (
            "CapacityLabels",
            ["lifecycle", "example.com/life,lifecycle"],
            [",lifecycle", "a b", "lifecycle,", "a//b", "-x", "UPPER.com/x", "a" * 64],
        ),
        (
            "WebhookToken",
            ["", TOKEN, "-_" * 22, "f" * 42 + "g", f"{TOKEN},{TOKEN[::-1]}"],
            ["short", TOKEN[:63], f"{TOKEN},", f"{TOKEN},{TOKEN},{TOKEN}"],
        ),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(
    parameter: str, good: list[str], bad: list[str]
) -> None:
    pattern = load()["Parameters"][parameter]["AllowedPattern"]
    assert all(re.fullmatch(pattern, each) for each in good)
    assert not any(re.fullmatch(pattern, each) for each in bad)


def test_nobody_reads_the_token_out_of_the_stack_s_parameters() -> None:
    assert load()["Parameters"]["WebhookToken"]["NoEcho"] is True


def reserved(value: str) -> dict[str, int]:
    """The invocations that are reserved for each function for which some are."""
    stack = with_webhook(ReservedConcurrency=value)
    assert "ReservedConcurrentExecutions" not in stack.globals["Function"]
    names = stack.names("AWS::Serverless::Function")
    found = {name: stack.of(name).get("ReservedConcurrentExecutions") for name in names}
    return {name: number for name, number in found.items() if number is not None}


def test_what_answers_notices_has_concurrency_of_its_own_and_the_webhook_a_ceiling() -> None:
    parameter = load()["Parameters"]["ReservedConcurrency"]
    assert parameter["Default"] == "all"
    assert parameter["AllowedValues"] == ["all", "notices", "none"]
    notices = {"InterruptionFunction": 10, "HandoverFunction": 12}
    assert reserved("all") == notices | {"PlacementFunction": 50}
    assert reserved("notices") == notices
    assert reserved("none") == {}


def test_no_more_batches_of_notices_are_begun_than_are_reserved() -> None:
    """Else Lambda throttles them, and each waits for its whole visibility timeout."""
    for value, scaling in (("all", {"MaximumConcurrency": 10}), ("none", None)):
        function = deployed(**CLUSTER, ReservedConcurrency=value).of("InterruptionFunction")
        (mapping,) = function["Events"].values()
        assert mapping["Properties"].get("ScalingConfig") == scaling


def test_as_much_is_reserved_for_handover_as_its_queue_and_its_schedule_start_at_once() -> None:
    """Else Lambda throttles them: a message waits for its whole visibility, a call is lost."""
    stack = deployed(**CLUSTER)
    function = stack.of("HandoverFunction")
    queue = function["Events"]["WakeUps"]
    assert stack.of("HandoverFunctionEveryMinute")["ScheduleExpression"] == "rate(1 minute)"
    # One call holds the Lease for minutes; another sees that, and ends within seconds, or within
    # 20 where the API server is slow, when the next one may have begun.
    by_schedule = 3
    by_queue = queue["Properties"]["ScalingConfig"]["MaximumConcurrency"]
    assert function["ReservedConcurrentExecutions"] == by_queue + by_schedule


LAMBDAS_LIMIT = 4096
"""Bytes of all environment variables of a function, names included.

https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""
LONGEST_VALUES = {
    "ClusterName": "a" * 100,
    "ClusterEndpoint": f"https://{'A' * 32}.gr7.ap-southeast-1.eks.amazonaws.com",
    "ClusterCertificateAuthority": "A" * 1500,  # as EKS has them
    "WebhookToken": f"{'A' * 256},{'B' * 256}",
    "ReplaySource": "a" * 256,
    "LifecycleHook": "a" * 255,
    "CapacityLabels": ",".join(["node.kubernetes.io/capacity"] * 10),
    "Webhook": "true",
}


@pytest.mark.parametrize("function", RIGHTS)
def test_the_longest_parameters_fit_into_a_function_s_environment(function: str) -> None:
    environment = deployed(**LONGEST_VALUES).environment(f"{function}Function")
    assert sum(len(name) + len(value) for name, value in environment.items()) < LAMBDAS_LIMIT


def test_no_stack_has_a_name_unless_somebody_gives_it_one() -> None:
    """The policies of docs/install.md, and the command, go by names that begin with evenkeel-."""
    configured = tomllib.loads(TEMPLATE.with_name("samconfig.toml").read_text())
    for command in configured["default"].values():
        assert "stack_name" not in command["parameters"]


def test_a_function_gets_a_whole_processor() -> None:
    assert load()["Parameters"]["MemorySize"]["MinValue"] == 1769


def test_each_default_is_as_its_pattern_wants() -> None:
    for name, parameter in load()["Parameters"].items():
        if {"AllowedPattern", "Default"} <= parameter.keys():
            assert re.fullmatch(parameter["AllowedPattern"], parameter["Default"]), name
