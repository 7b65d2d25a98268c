"""Each link in AWS, judged: one that holds, and one for each way in which it may not."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from evenkeel_cli.aws.asking import AwsError
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.doctor.aws import checks, facts
from evenkeel_cli.doctor.aws.facts import PROBE, Attributes, Counted, Mapped, Rule, Target
from evenkeel_cli.doctor.check import Finding, Verdict
from tests.kit.clocks import NOW
from tests.unit.cli.doctor.checking import BROKEN, FINE, UNKNOWN, check, in_aws

QUEUE = "arn:aws:sqs:eu-central-1:123456789012:notices"
RULES = [f"arn:aws:events:eu-central-1:123456789012:rule/{name}" for name in ("notice", "state")]


TO_QUEUE = (Target(QUEUE),)


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
    check(checks.stack_is_up(a_stack(status), "prod"), verdict, status)
    check(checks.stack_is_up(a_stack(status), None), verdict, status)


def test_a_stack_that_was_never_made_is_deployed_and_not_waited_for() -> None:
    """A change set made it, and nobody carried that out: CloudFormation waits for ever."""
    found = checks.stack_is_up(replace(a_stack("REVIEW_IN_PROGRESS"), parameters={}), "prod")
    check(found, BROKEN, "deploy it")


def test_of_a_stack_it_is_said_whether_notices_have_concurrency_of_their_own() -> None:
    link = "no concurrency is reserved for notices"
    check(checks.stack_is_up(a_stack(ReservedConcurrency="none"), "prod"), FINE, link)
    assert link not in checks.stack_is_up(a_stack(ReservedConcurrency="notices"), "prod").reason


def test_a_stack_has_to_be_the_clusters() -> None:
    check(checks.stack_is_up(a_stack(), "test"), BROKEN, "is for the cluster prod, not test")


@pytest.mark.parametrize(
    ("rule", "queue", "verdict", "said"),
    [
        (Rule(RULES[0], "ENABLED", TO_QUEUE), Attributes(QUEUE), FINE, "it is on"),
        (None, Attributes(QUEUE), BROKEN, "there is no such rule"),
        (Rule(RULES[0], "DISABLED", TO_QUEUE), Attributes(QUEUE), BROKEN, "--name notice"),
        (Rule(RULES[0], "ENABLED"), Attributes(QUEUE), BROKEN, "does not send to the queue"),
        (Rule(RULES[0], "ENABLED", TO_QUEUE), AwsError("403"), UNKNOWN, "is not known"),
    ],
)
def test_a_rule_has_to_be_on_and_to_send(
    rule: Rule | None, queue: Attributes | AwsError, verdict: Verdict, said: str
) -> None:
    known = {("rule", "NoticeRule"): rule, ("queue", "NoticeQueue"): queue}
    check(checks.rule("NoticeRule", in_aws(a_stack(), known)), verdict, said)


ALLOW: dict[str, Any] = {
    "Effect": "Allow",
    "Principal": {"Service": "events.amazonaws.com"},
    "Action": "sqs:SendMessage",
    "Resource": QUEUE,
    "Condition": {"ArnEquals": {"aws:SourceArn": RULES}},
}


def policy(*statements: dict[str, Any]) -> Finding:
    return judged(Attributes(QUEUE, json.dumps({"Statement": statements})))


def judged(queue: Attributes) -> Finding:
    """The policy of a queue for two rules, and a third one that cannot be read."""
    rules: list[Any] = [*map(Rule, RULES), AwsError("403")]
    known: dict[tuple[str, ...], Any] = {
        ("rule", name): each for name, each in zip(facts.RULES, rules, strict=True)
    }
    known |= {("queue", "NoticeQueue"): queue}
    return checks.policy("NoticeQueue", in_aws(a_stack(), known))


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
    check(policy(ALLOW | changes), verdict)


def test_a_policy_must_not_deny_what_it_allows() -> None:
    check(judged(Attributes(QUEUE)), BROKEN, "no policy")
    deny = ALLOW | {"Effect": "Deny", "Condition": {}}
    check(policy(ALLOW, deny), BROKEN, "denies")


def test_a_policy_may_deny_what_does_not_come_by_tls() -> None:
    without_tls = {"Bool": {"aws:SecureTransport": "false"}}
    deny = ALLOW | {"Effect": "Deny", "Principal": "*", "Condition": without_tls}
    check(policy(ALLOW, deny), FINE)
    by_tls = {"Bool": {"aws:SecureTransport": "true"}}
    check(policy(ALLOW, deny | {"Condition": by_tls}), BROKEN, "denies")


@pytest.mark.parametrize(
    ("queue", "found", "verdict", "said"),
    [
        ("NoticeDeadLetters", Attributes(), FINE, "it is empty"),
        (
            "NoticeDeadLetters",
            Attributes(approximate_number_of_messages_not_visible="1"),
            BROKEN,
            "1 message:",
        ),
        (
            "WakeUpDeadLetters",
            Attributes(approximate_number_of_messages="2"),
            BROKEN,
            "2 messages: each came",
        ),
    ],
)
def test_dead_letters_have_to_be_read(
    queue: str, found: Attributes, verdict: Verdict, said: str
) -> None:
    check(checks.dead_letters(queue, in_aws(a_stack(), {("queue", queue): found})), verdict, said)


def source(function: str, mapped: list[Mapped], arn: str = QUEUE) -> Any:
    """How a function is fed; without ``arn`` its queue cannot be read."""
    queue = Attributes(arn) if arn else AwsError("403")
    known = {("queue", facts.SOURCES[function]): queue, ("mappings", function): mapped}
    return checks.source(function, in_aws(a_stack(), known))


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
    check(source("interruption", [mapping]), verdict, *said.split(" -> "))


def test_lambda_has_to_read_this_queue() -> None:
    other = Mapped(f"{QUEUE}-other", "Enabled")
    check(source("handover", [other]), BROKEN, "reads no queue")
    check(source("handover", [], ""), BROKEN, "reads no queue")
    check(source("handover", [other], ""), FINE)


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
    known = in_aws(a_stack(age_minutes=age), {"metrics": metrics})
    check(checks.calls(function, known), verdict, said)


@pytest.mark.parametrize(
    ("schedule", "verdict"),
    [("rate(1 hour)", FINE), ("rate(5 minutes)", BROKEN), ("cron(0 3 * * ? *)", FINE)],
)
def test_restore_may_be_called_as_seldom_as_its_schedule_says(
    schedule: str, verdict: Verdict
) -> None:
    metrics = {"restore/Invocations": counted(170), "restore/Errors": counted(None)}
    made = a_stack(RestoreSchedule=schedule)
    check(checks.calls("restore", in_aws(made, {"metrics": metrics})), verdict)


@pytest.mark.parametrize(
    ("minutes", "age", "verdict"),
    [(4, 600, FINE), (16, 600, BROKEN), (None, 600, BROKEN), (None, 5, UNKNOWN)],
)
def test_a_probe_has_to_be_answered(minutes: float | None, age: float, verdict: Verdict) -> None:
    metrics = {PROBE: counted(minutes)}
    check(checks.probe(in_aws(a_stack(age_minutes=age), {"metrics": metrics})), verdict)


ROLE = "arn:aws:iam::123456789012:role/interruption"


@pytest.mark.parametrize(
    ("by_entry", "there", "verdict", "said"),
    [
        ("true", ["evenkeel-interruption"], FINE, "names"),
        ("true", ["other"], BROKEN, "does not name"),
        ("true", None, BROKEN, "no access entry"),
        ("false", {ROLE: ["evenkeel-interruption"]}, FINE, "maps its role"),
        ("false", {ROLE: []}, BROKEN, "aws-auth does not map"),
        ("false", {}, BROKEN, "configmap aws-auth"),
    ],
)
def test_a_role_has_to_get_into_the_cluster(
    by_entry: str, there: Any, verdict: Verdict, said: str
) -> None:
    stack = replace(a_stack(AccessEntries=by_entry), outputs={"InterruptionRoleArn": ROLE})
    where: Any = ("entry", ROLE) if by_entry == "true" else "aws_auth"
    known = in_aws(stack, {"described": AwsError("403"), where: there})
    check(checks.access("interruption", known), verdict, said)
