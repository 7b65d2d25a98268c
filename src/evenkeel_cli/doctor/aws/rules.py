"""The EventBridge rules: whether they are on, and send to the queue of the notices."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from evenkeel_cli.aws.asking import Aws, AwsError
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.doctor.findings import Finding, broken, fine, of_error, unknown

RULES: Final = ("NoticeRule", "StateChangeRule", "ScheduledChangeRule")
HOOKS_RULE: Final = "LifecycleActionRule"
DEPLOY: Final = "deploy the stack again"


def of_stack(parameters: Mapping[str, str]) -> tuple[str, ...]:
    """The logical ids of the rules of a stack with these parameters."""
    return (*RULES, HOOKS_RULE) if parameters.get("LifecycleHook") else RULES


class Rule(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of DescribeRule."""

    arn: str
    state: str = ""


class Target(msgspec.Struct, frozen=True, rename="pascal"):
    """Where a rule sends to."""

    arn: str


class Targets(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of ListTargetsByRule."""

    targets: tuple[Target, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of one rule; None: there is none."""

    link: str
    rule: Rule | None
    targets: tuple[str, ...] = ()


def look(aws: Aws, stack: Stack, queue: str, arns: list[str]) -> Iterator[Finding]:
    """Every rule; ``queue`` is the ARN that they should send to. ``arns`` gets the rules' own."""
    for logical in of_stack(stack.parameters):
        try:
            found = gather(aws, stack, logical)
        except AwsError as error:
            yield of_error(f"rule {logical}", error)
            continue
        if found.rule is not None:
            arns.append(found.rule.arn)
        yield judge(found, queue)


def gather(aws: Aws, stack: Stack, logical: str) -> Found:
    """Read one rule of the stack. Raises AwsError."""
    link, name = f"rule {logical}", stack.id_of(logical)
    if not name:
        return Found(link, None)
    try:
        rule = aws.ask("events", "describe_rule", Rule, Name=name)
        targets = aws.ask("events", "list_targets_by_rule", Targets, Rule=name)
    except AwsError as error:
        if error.aws_code == "ResourceNotFoundException":
            return Found(link, None)
        raise
    return Found(link, rule, tuple(each.arn for each in targets.targets))


def judge(found: Found, queue: str) -> Finding:
    """Whether a rule is on and sends to the queue of the notices.

    ``queue`` is empty where the queue cannot be read.
    """
    if found.rule is None:
        return broken(found.link, "there is no such rule: no notice arrives by it", DEPLOY)
    name = found.rule.arn.rpartition("/")[2]
    if found.rule.state != "ENABLED":
        return broken(
            found.link,
            f"it is {found.rule.state.lower() or 'in no state'}: no notice arrives by it",
            f"aws events enable-rule --name {name}",
        )
    if not queue:
        return unknown(
            found.link,
            "it is on; whether it sends to the queue of the notices is not known",
            "see the link policy NoticeQueue",
        )
    if queue not in found.targets:
        return broken(found.link, "it does not send to the queue of the notices", DEPLOY)
    return fine(found.link, "it is on, and sends to the queue of the notices")
