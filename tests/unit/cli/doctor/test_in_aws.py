"""Each link in AWS, judged: one that holds, and one for each way in which it may not."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.doctor.aws import access, functions, queues, rules, stack
from evenkeel_cli.doctor.aws.functions import Counted, Mapped
from evenkeel_cli.doctor.aws.queues import Attributes
from evenkeel_cli.doctor.aws.rules import Found, Rule
from evenkeel_cli.doctor.findings import Verdict
from tests.kit.clocks import NOW
from tests.unit.cli.doctor.checking import BROKEN, FINE, UNKNOWN, check

QUEUE = "arn:aws:sqs:eu-central-1:123456789012:notices"
RULES = [f"arn:aws:events:eu-central-1:123456789012:rule/{name}" for name in ("notice", "state")]


def a_stack(status: str = "UPDATE_COMPLETE", age_minutes: float = 600, **parameters: str) -> Stack:
    return Stack(
        name="evenkeel-prod",
        id="arn",
        status=status,
        created=NOW - timedelta(minutes=age_minutes),
        parameters={"ClusterName": "prod", "Mode": "act"} | parameters,
        outputs={},
        ids={},
    )


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("CREATE_COMPLETE", FINE),
        ("UPDATE_ROLLBACK_COMPLETE", FINE),
        ("UPDATE_IN_PROGRESS", UNKNOWN),
        ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", UNKNOWN),
        ("REVIEW_IN_PROGRESS", BROKEN),
        ("ROLLBACK_COMPLETE", BROKEN),
        ("UPDATE_ROLLBACK_FAILED", BROKEN),
    ],
)
def test_a_stack_has_to_be_up(status: str, verdict: Verdict) -> None:
    check(stack.judge(a_stack(status), "prod"), verdict, status)
    check(stack.judge(a_stack(status), None), verdict, status)


def test_a_stack_that_was_never_made_is_deployed_and_not_waited_for() -> None:
    """A change set made it, and nobody carried that out: CloudFormation waits for ever."""
    found = stack.judge(replace(a_stack("REVIEW_IN_PROGRESS"), parameters={}), "prod")
    check(found, BROKEN, "deploy it")


def test_of_a_stack_it_is_said_whether_notices_have_concurrency_of_their_own() -> None:
    link = "no concurrency is reserved for notices"
    check(stack.judge(a_stack(ReservedConcurrency="none"), "prod"), FINE, link)
    assert link not in stack.judge(a_stack(ReservedConcurrency="notices"), "prod").reason


def test_a_stack_has_to_be_the_clusters() -> None:
    check(stack.judge(a_stack(), "test"), BROKEN, "is for the cluster prod, not test")
    check(stack.missing("evenkeel-x", "eu-central-1"), BROKEN, "no stack evenkeel-x")


@pytest.mark.parametrize(
    ("rule", "targets", "queue", "verdict", "said"),
    [
        (Rule(RULES[0], "ENABLED"), (QUEUE,), QUEUE, FINE, "it is on"),
        (None, (), QUEUE, BROKEN, "there is no such rule"),
        (Rule(RULES[0], "DISABLED"), (QUEUE,), QUEUE, BROKEN, "enable-rule --name notice"),
        (Rule(RULES[0], "ENABLED"), (), QUEUE, BROKEN, "does not send to the queue"),
        (Rule(RULES[0], "ENABLED"), (QUEUE,), "", UNKNOWN, "is not known"),
    ],
)
def test_a_rule_has_to_be_on_and_to_send(
    rule: Rule | None, targets: tuple[str, ...], queue: str, verdict: Verdict, said: str
) -> None:
    check(rules.judge(Found("rule NoticeRule", rule, targets), queue), verdict, said)


ALLOW: dict[str, Any] = {
    "Effect": "Allow",
    "Principal": {"Service": "events.amazonaws.com"},
    "Action": "sqs:SendMessage",
    "Resource": QUEUE,
    "Condition": {"ArnEquals": {"aws:SourceArn": RULES}},
}


def policy(*statements: dict[str, Any]) -> Attributes:
    return Attributes(queue_arn=QUEUE, policy=json.dumps({"Statement": statements}))


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, FINE),
        ({"Principal": "*", "Action": ["SQS:*"], "Resource": "*", "Condition": {}}, FINE),
        ({"Effect": "Deny"}, BROKEN),
        ({"Principal": {"Service": "sns.amazonaws.com"}}, BROKEN),
        ({"Principal": {"AWS": "*"}}, BROKEN),
        ({"Action": "sqs:ReceiveMessage"}, BROKEN),
        ({"Resource": f"{QUEUE}-other"}, BROKEN),
        ({"Condition": {"ArnEquals": {"aws:SourceArn": RULES[0]}}}, BROKEN),
        ({"Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-1"}}}, BROKEN),
        ({"Condition": {"Bool": {"aws:SecureTransport": "true"}}}, FINE),
        ({"Condition": {"Bool": {"aws:SecureTransport": "false"}}}, BROKEN),
    ],
)
def test_a_policy_has_to_let_both_rules_send(changes: dict[str, Any], verdict: Verdict) -> None:
    check(queues.judge_policy("NoticeQueue", policy(ALLOW | changes), RULES), verdict)


def test_a_policy_must_not_deny_what_it_allows() -> None:
    none = Attributes(queue_arn=QUEUE)
    check(queues.judge_policy("NoticeQueue", none, RULES), BROKEN, "no policy")
    deny = ALLOW | {"Effect": "Deny", "Condition": {}}
    check(queues.judge_policy("NoticeQueue", policy(ALLOW, deny), RULES), BROKEN, "denies")


def test_a_policy_may_deny_what_does_not_come_by_tls() -> None:
    without_tls = {"Bool": {"aws:SecureTransport": "false"}}
    deny = ALLOW | {"Effect": "Deny", "Principal": "*", "Condition": without_tls}
    check(queues.judge_policy("NoticeQueue", policy(ALLOW, deny), RULES), FINE)
    by_tls = {"Bool": {"aws:SecureTransport": "true"}}
    check(
        queues.judge_policy("NoticeQueue", policy(ALLOW, deny | {"Condition": by_tls}), RULES),
        BROKEN,
        "denies",
    )


def test_dead_letters_have_to_be_read() -> None:
    check(queues.judge_dead_letters("NoticeDeadLetters", Attributes()), FINE)
    hidden = Attributes(approximate_number_of_messages_not_visible="1")
    check(queues.judge_dead_letters("NoticeDeadLetters", hidden), BROKEN, "1 message:")
    two = Attributes(approximate_number_of_messages="2")
    check(queues.judge_dead_letters("WakeUpDeadLetters", two), BROKEN, "2 messages: each came")


@pytest.mark.parametrize(
    ("state", "verdict", "said"),
    [
        ("Enabled", FINE, "enabled"),
        ("Updating", FINE, "updating"),
        ("Enabling", UNKNOWN, "ask again"),
        ("Disabled", BROKEN, "(USER_INITIATED): messages stay -> aws lambda update"),
        ("", BROKEN, "in no state"),
    ],
)
def test_lambda_has_to_read_the_queue(state: str, verdict: Verdict, said: str) -> None:
    mapping = Mapped(QUEUE, state, "USER_INITIATED" if state == "Disabled" else "", "u-1")
    found = functions.judge_mapping("interruption", [mapping], QUEUE)
    check(found, verdict, *said.split(" -> "))


def test_lambda_has_to_read_this_queue() -> None:
    other = Mapped(f"{QUEUE}-other", "Enabled")
    check(functions.judge_mapping("handover", [other], QUEUE), BROKEN, "reads no queue")
    check(functions.judge_mapping("handover", [], ""), BROKEN, "reads no queue")
    check(functions.judge_mapping("handover", [other], ""), FINE)


def counted(minutes: float | None, of_late: float = 0) -> Counted:
    return Counted(None if minutes is None else NOW - timedelta(minutes=minutes), of_late)


@pytest.mark.parametrize(
    ("function", "minutes", "errors", "age", "verdict", "said"),
    [
        ("handover", 4, 0, 600, FINE, "within the last 5 min"),
        ("handover", 15, 0, 600, FINE, "15 min ago"),
        ("handover", 16, 0, 600, BROKEN, "16 min ago"),
        ("handover", None, 0, 600, BROKEN, "or never"),
        ("handover", None, 0, 5, UNKNOWN, "younger"),
        ("handover", 1, 2, 600, BROKEN, "2 errors"),
        ("placement", None, 0, 600, FINE, "no review within a day"),
        ("placement", 600, 0, 600, FINE, "10 h ago"),
        ("restore", 200, 0, 600, BROKEN, "3 h ago"),
    ],
)
def test_a_function_has_to_be_called_and_not_to_fail(
    function: str, minutes: float | None, errors: float, age: float, verdict: Verdict, said: str
) -> None:
    metrics = {
        f"{function}/Invocations": counted(minutes),
        f"{function}/Errors": counted(None, errors),
    }
    found = functions.judge_invocations(function, metrics, a_stack(age_minutes=age), NOW)
    check(found, verdict, said)


@pytest.mark.parametrize(
    ("schedule", "verdict"),
    [("rate(1 hour)", FINE), ("rate(5 minutes)", BROKEN), ("cron(0 3 * * ? *)", FINE)],
)
def test_restore_may_be_called_as_seldom_as_its_schedule_says(
    schedule: str, verdict: Verdict
) -> None:
    metrics = {"restore/Invocations": counted(170)}
    made = a_stack(RestoreSchedule=schedule)
    check(functions.judge_invocations("restore", metrics, made, NOW), verdict)


@pytest.mark.parametrize(
    ("minutes", "age", "verdict"),
    [(4, 600, FINE), (16, 600, BROKEN), (None, 600, BROKEN), (None, 5, UNKNOWN)],
)
def test_a_probe_has_to_be_answered(minutes: float | None, age: float, verdict: Verdict) -> None:
    metrics = {functions.PROBE: counted(minutes)}
    check(functions.judge_probe(metrics, a_stack(age_minutes=age), NOW), verdict)


ROLE = "arn:aws:iam::123456789012:role/interruption"


def test_a_role_has_to_get_into_the_cluster() -> None:
    check(access.judge_entry("interruption", ROLE, ["evenkeel-interruption"]), FINE)
    check(access.judge_entry("interruption", ROLE, ["other"]), BROKEN, "does not name")
    check(access.judge_entry("interruption", ROLE, None), BROKEN, "no access entry")
    check(access.judge_line("interruption", ROLE, {ROLE: ["evenkeel-interruption"]}), FINE)
    check(access.judge_line("interruption", ROLE, {ROLE: []}), BROKEN, "aws-auth does not map")
    check(access.judge_line("interruption", ROLE, {}), BROKEN, "configmap aws-auth")
