"""The checks in AWS: the stack's rules, queues, functions, the access of their roles, networks."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from evenkeel_cli import words
from evenkeel_cli.aws import stack as stacks
from evenkeel_cli.aws.asking import Aws, AwsError
from evenkeel_cli.aws.stack import NOT_MADE, Stack
from evenkeel_cli.decisions.network import egress, reaching
from evenkeel_cli.decisions.network.functions import FunctionNetwork, called
from evenkeel_cli.doctor.aws.facts import (
    BACK,
    DEAD_LETTERS,
    FUNCTIONS,
    HOOKS_RULE,
    LATE,
    PROBE,
    RULES,
    SOURCES,
    AwsFacts,
    Counted,
    listed,
    rules_of,
)
from evenkeel_cli.doctor.check import (
    Check,
    Finding,
    broken,
    fine,
    if_told,
    not_looked,
    of_error,
    reads,
    unknown,
)
from evenkeel_cli.program import NAME

STACK: Final = "stack"
DEPLOY: Final = "deploy the stack again"
IN_15_MIN: Final = "ask again in 15 min"
SERVICE: Final = "events.amazonaws.com"
SENDS: Final = ("sqs:sendmessage", "sqs:send*", "sqs:*", "*")
RATE: Final = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the person named: a stack, and the EKS cluster that it should be for.

    ``is_guessed``: the stack's name was made of the cluster's.
    """

    stack: str | None = None
    cluster: str | None = None
    is_guessed: bool = False


def find_stack(aws: Aws | str, wanted: Wanted) -> Stack | Finding:
    """The stack, or why there is nothing to look at. ``aws``: why it cannot be asked."""
    if wanted.stack is None:
        named = "name it: --stack-name NAME, or the cluster: --cluster-name NAME"
        return not_looked("no stack was named", named, link="AWS")
    if isinstance(aws, str):
        return not_looked(aws, "ask again with credentials for the stack", link="AWS")
    try:
        stack = stacks.gather(aws, wanted.stack)
    except AwsError as error:
        return of_error(error, link=STACK)
    if stack is not None:
        return stack
    said = f"there is no stack {wanted.stack} in {aws.region}"
    if wanted.is_guessed:
        return not_looked(said, "if it has another name: --stack-name NAME", link="AWS")
    return broken(said, "check the name, the region and the account, or deploy it", link=STACK)


def stack_is_up(stack: Stack, cluster: str | None) -> Finding:
    """Whether it is up, and for the cluster that was named (None: none was).

    A roll-back of an update leaves a stack that works, as it was before.
    """
    said = f"{stack.name} is {stack.status}"
    if stack.status == NOT_MADE:
        return broken(f"{said}: it was never made", f"deploy it: {NAME} install", link=STACK)
    if cluster is not None and stack.cluster != cluster:
        its = stack.cluster or "of no name"
        said = f"{stack.name} is for the cluster {its}, not {cluster}"
        return broken(said, "name its own stack: --stack-name NAME", link=STACK)
    if stack.is_under_way:
        return unknown(said, "ask again when it is done", link=STACK)
    if stack.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"):
        mode = stack.parameters.get("Mode", "of no mode")
        lacks = stack.parameters.get("ReservedConcurrency") == "none"
        also = ", and no concurrency is reserved for notices" if lacks else ""
        return fine(f"{said}, Mode={mode}{also}", link=STACK)
    mend = "look at its events, mend the cause, and deploy it again"
    return broken(said, mend, link=STACK)


def rule(logical: str, facts: AwsFacts) -> Finding | Iterable[Finding]:
    """Whether a rule is on and sends to the queue of the notices."""
    if logical not in rules_of(facts.stack.parameters):
        return ()
    found = facts.rule(logical)
    if found is None:
        return broken("there is no such rule: no notice arrives by it")
    if found.state != "ENABLED":
        said = f"it is {found.state.lower() or 'in no state'}: no notice arrives by it"
        return broken(said, f"aws events enable-rule --name {_name(found.arn)}")
    queue = if_told(facts.queue, "NoticeQueue")
    if queue is None:
        said = "it is on; whether it sends to the queue of the notices is not known"
        return unknown(said, "see the link policy NoticeQueue")
    if all(target.arn != queue.queue_arn for target in found.targets):
        return broken("it does not send to the queue of the notices")
    return fine("it is on, and sends to the queue of the notices")


def policy(queue: str, facts: AwsFacts) -> Finding:
    """Whether EventBridge may send to a queue for each of the rules that can be read."""
    found = facts.queue(queue)
    if not found.policy:
        return broken("it has no policy: EventBridge cannot send to it")
    rules = [if_told(facts.rule, each) for each in rules_of(facts.stack.parameters)]
    arns = [each.arn for each in rules if each is not None]
    for arn in arns:
        if any(_allows(each, "Deny", found.queue_arn, arn) for each in found.statements):
            return broken(f"it denies what the rule {_name(arn)} sends")
        if not any(_allows(each, "Allow", found.queue_arn, arn) for each in found.statements):
            return broken(f"it does not let the rule {_name(arn)} send")
    return fine(f"it lets {words.counted(len(arns), 'rule')} send")


def dead_letters(queue: str, facts: AwsFacts) -> Finding:
    """Whether nothing got lost within the last 14 days."""
    messages = facts.queue(queue).messages
    if not messages:
        return fine("it is empty")
    return broken(f"{words.counted(messages, 'message')}: {DEAD_LETTERS[queue]}")


def source(function: str, facts: AwsFacts) -> Finding:
    """Whether Lambda reads the function's queue; any queue where its ARN is not known."""
    queue = if_told(facts.queue, SOURCES[function])
    found = facts.mappings(function)
    ours = next(
        (each for each in found if not queue or each.event_source_arn == queue.queue_arn), None
    )
    if ours is None:
        return broken(f"Lambda reads no queue for {function}")
    said = f"it is {ours.state.lower() or 'in no state'}"
    if ours.state in ("Enabled", "Updating"):
        return fine(said)
    if ours.state in ("Creating", "Enabling"):
        return unknown(said, "ask again in a minute")
    why = f" ({ours.state_transition_reason})" if ours.state_transition_reason else ""
    enable = f"aws lambda update-event-source-mapping --enabled --uuid {ours.uuid}"
    return broken(f"{said}{why}: messages stay in the queue", enable)


def calls(function: str, facts: AwsFacts) -> Finding | Iterable[Finding]:
    """Whether a function is called as often as it should be, and does not fail.

    ``placement`` is called when pods are made, so no call of it is no fault.
    """
    stack, now = facts.stack, facts.now
    if f"{function}/Errors" not in facts.metrics():
        return ()
    last = facts.metrics()[f"{function}/Invocations"].last
    errors = round(facts.metrics()[f"{function}/Errors"].of_late)
    if errors:
        log = f"sam logs --stack-name {stack.name}: the message says what mends it"
        return broken(f"{words.counted(errors, 'error')} in the last 15 min", log)
    every = LATE if function != "restore" else _patience(stack.parameters.get("RestoreSchedule"))
    if function == "placement" and last is None:
        return fine("no review within a day, and no error")
    said = f"the last was {_ago(last, now)}"
    if function == "placement" or (last is not None and now - last <= every):
        return fine(f"{said}, without an error")
    if now - stack.created <= every:
        return unknown("the stack is younger than that", IN_15_MIN)
    return broken(said)


def probe(facts: AwsFacts) -> Finding:
    """Whether a notice would get to the cluster: a probe goes its whole way every 5 min."""
    last, now = facts.metrics().get(PROBE, Counted()).last, facts.now
    said = f"the last was answered {_ago(last, now)}"
    if last is not None and now - last <= LATE:
        return fine(said)
    if now - facts.stack.created <= LATE:
        return unknown("the stack is younger than three probes", IN_15_MIN)
    return broken(f"{said}: a notice would not get to the cluster")


def access(function: str, facts: AwsFacts) -> Finding | Iterable[Finding]:
    """How a function's role gets into the cluster: an EKS access entry, or the ConfigMap aws-auth.

    Whether the cluster's authentication mode knows what the stack goes by, and has the role there.
    """
    role = facts.stack.outputs.get(f"{function.capitalize()}RoleArn")
    if not role:
        return ()
    group = f"evenkeel-{function}"
    by_entry = facts.stack.parameters.get("AccessEntries", "true") == "true"
    cluster = if_told(facts.described)
    if cluster and not (cluster.takes_access_entries if by_entry else cluster.reads_aws_auth):
        said = (
            "the stack lets it in by access entries, and the cluster takes none (CONFIG_MAP)"
            if by_entry
            else "the stack leaves it to aws-auth, and the cluster does not read that (API)"
        )
        return broken(said, f"{NAME} upgrade, which reads the cluster's mode")
    if not by_entry:
        if group in facts.aws_auth().get(role, ()):
            return fine(f"aws-auth maps its role to {group}")
        edit = "kubectl edit configmap aws-auth -n kube-system (docs/install.md has its lines)"
        return broken(f"aws-auth does not map {role} to {group}", edit)
    groups = facts.entry(role)
    if groups is None:
        return broken(f"{role} has no access entry")
    if group not in groups:
        return broken(f"its access entry does not name {group}")
    return fine(f"its access entry names {group}")


def network(facts: AwsFacts) -> Finding:
    """Whether the functions reach the API server and what they call of AWS.

    Of another address than EKS's nothing is known; without a network of their own EC2 is not asked.
    """
    parameters, described = facts.stack.parameters, facts.described()
    functions = FunctionNetwork.of(parameters)
    by_eks = parameters.get("ClusterEndpoint") == described.endpoint
    control_plane = described.control_plane if by_eks else None
    known = facts.vpc(described.control_plane, functions) if functions.is_whole else None
    obstacle = reaching.obstacle(control_plane, functions) if control_plane else ""
    if control_plane and obstacle:
        proposed = reaching.proposal(control_plane, functions, known)
        return broken(obstacle, f"{NAME} install {proposed}")
    if known is None:
        if control_plane is None:
            said = "the functions have another address of the API server than the one of EKS"
            return not_looked(said)
        return fine("the API server's endpoint is open to all addresses")
    services = called(parameters)
    if lacking := reaching.lacking(control_plane, functions, known, services):
        return broken("; ".join(lacking))
    unseen = reaching.unseen(control_plane, functions, known) if control_plane else ""
    if unseen:
        return unknown(unseen, "see that it is so; the probe says whether it works")
    reached = ", ".join(("the API server", *services) if control_plane else services)
    return fine(f"{reached} can be reached from {', '.join(functions.subnets)}")


def way_to_webhook(facts: AwsFacts) -> Finding | Iterable[Finding]:
    """Whether the API server reaches the webhook on Lambda, where the stack has it."""
    if "PlacementUrl" not in facts.stack.outputs:
        return ()
    control_plane = facts.described().control_plane
    is_asked = not control_plane.calls_out_by_aws and not control_plane.is_isolated
    known = facts.vpc(control_plane, FunctionNetwork()) if is_asked else None
    if obstacles := egress.obstacles(control_plane, known):
        return broken("; ".join(obstacles))
    if control_plane.calls_out_by_aws:
        return fine("AWS manages how the control plane calls out")
    return fine(f"{egress.mode(control_plane)}, and there is a way out")


CHECKS: Final = (
    Check("EKS cluster", reads(AwsFacts.described)),
    *(Check(f"rule {each}", partial(rule, each), DEPLOY) for each in (*RULES, HOOKS_RULE)),
    Check("policy NoticeQueue", partial(policy, "NoticeQueue"), DEPLOY),
    Check("policy NoticeDeadLetters", partial(policy, "NoticeDeadLetters"), DEPLOY),
    *(
        Check(each, partial(dead_letters, each), "read them, mend the cause, and purge the queue")
        for each in DEAD_LETTERS
    ),
    *(Check(f"queue of {each}", partial(source, each), DEPLOY) for each in SOURCES),
    Check("calls of functions", reads(AwsFacts.metrics)),
    *(
        Check(
            f"calls of {each}",
            partial(calls, each),
            "see its schedule and its event source, the account's concurrency, and CloudWatch's"
            " metric Throttles",
            when=AwsFacts.metrics,
        )
        for each in FUNCTIONS
    ),
    Check(
        PROBE,
        probe,
        "mend the other links of this list, and look into interruption's log",
        when=AwsFacts.metrics,
    ),
    *(Check(f"access of {each}", partial(access, each), DEPLOY) for each in FUNCTIONS),
    Check(
        "network of functions",
        network,
        "see docs/install.md, A cluster whose endpoint is not open to all",
        when=AwsFacts.described,
    ),
    Check(
        "way to the webhook",
        way_to_webhook,
        f"{NAME} install --webhook in-cluster, or mend that (docs/install.md)",
        when=AwsFacts.described,
    ),
)
"""In the order in which a notice goes."""


def _allows(statement: Mapping[str, Any], effect: str, queue: str, rule: str) -> bool:
    """Whether a statement is about EventBridge's sending for this rule.

    Of its conditions those on the rule's ARN are understood, and those on TLS, by which EventBridge
    comes; another one is taken to hold where it denies, and not to where it allows.
    """
    principal = statement.get("Principal", {})
    principals = listed(principal if principal == "*" else principal.get("Service", []))
    actions = [str(each).lower() for each in listed(statement.get("Action", []))]
    return (
        statement.get("Effect") == effect
        and ("*" in principals or SERVICE in principals)
        and any(each in SENDS for each in actions)
        and any(each in ("*", queue) for each in listed(statement.get("Resource", [])))
        and _holds(statement.get("Condition", {}), rule, otherwise=effect == "Deny")
    )


def _holds(conditions: Mapping[str, Any], rule: str, *, otherwise: bool) -> bool:
    for operator, clauses in conditions.items():
        for key, values in clauses.items():
            match operator, key.lower():
                case "ArnEquals" | "ArnLike" | "StringEquals", "aws:sourcearn":
                    holds = rule in listed(values)
                case "Bool", "aws:securetransport":
                    holds = "true" in listed(values)
                case _:
                    return otherwise
            if not holds:
                return False
    return True


def _patience(schedule: str | None) -> timedelta:
    """How long restore may not be called: three times of its rate; a day where it is no rate."""
    found = RATE.fullmatch(schedule or "rate(1 minute)")
    if found is None:
        return BACK
    number, unit = found.groups()
    return min(BACK, max(LATE, 3 * int(number) * timedelta(**{f"{unit}s": 1})))


def _ago(last: datetime | None, now: datetime) -> str:
    if last is None:
        return "more than a day ago, or never"
    minutes = round((now - last) / timedelta(minutes=1))
    if minutes < 5:
        return "within the last 5 min"
    return f"{minutes} min ago" if minutes < 120 else f"{round(minutes / 60)} h ago"


def _name(arn: str) -> str:
    return arn.rpartition("/")[2]
