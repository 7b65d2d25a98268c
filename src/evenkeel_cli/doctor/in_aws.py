"""The half of the chain that is in AWS, link by link."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from evenkeel.ports import Clock, Cluster
from evenkeel_cli.aws import eks
from evenkeel_cli.aws import stack as stacks
from evenkeel_cli.aws.asking import Aws, AwsError
from evenkeel_cli.aws.eks import Described
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.doctor.aws import access, functions, network, queues, rules
from evenkeel_cli.doctor.aws import stack as up
from evenkeel_cli.doctor.findings import Finding, not_looked, of_error

CLUSTER: Final = "EKS cluster"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the person named: a stack, and the EKS cluster that it should be for.

    ``is_guessed``: the stack's name was made of the cluster's.
    """

    stack: str | None = None
    cluster: str | None = None
    is_guessed: bool = False


@dataclass(frozen=True, slots=True)
class Half:
    """The stack, and AWS to ask about it; both None where this half is not looked at.

    ``findings`` are those of opening it; ``described`` is None if EKS does not tell.
    """

    aws: Aws | None = None
    stack: Stack | None = None
    findings: tuple[Finding, ...] = ()
    described: Described | None = None


def opened(aws: Aws | str, wanted: Wanted) -> Half:
    """Read the stack. ``aws`` is a text where AWS cannot be asked: why."""
    if wanted.stack is None:
        named = "name it: --stack-name NAME, or the cluster: --cluster-name NAME"
        return Half(findings=(not_looked("AWS", "no stack was named", named),))
    if isinstance(aws, str):
        finding = not_looked("AWS", aws, "ask again with credentials for the stack")
        return Half(findings=(finding,))
    try:
        stack = stacks.gather(aws, wanted.stack)
    except AwsError as error:
        return Half(findings=(of_error(up.LINK, error),))
    if stack is None:
        said = f"there is no stack {wanted.stack} in {aws.region}"
        if wanted.is_guessed:
            finding = not_looked("AWS", said, "if it has another name: --stack-name NAME")
        else:
            finding = up.missing(wanted.stack, aws.region)
        return Half(aws, None, (finding,))
    found = (up.judge(stack, wanted.cluster),)
    try:
        return Half(aws, stack, found, eks.gather(aws, stack.cluster))
    except AwsError as error:
        return Half(aws, stack, (*found, of_error(CLUSTER, error)))


def look(half: Half, cluster: Cluster, clock: Clock) -> Iterator[Finding]:
    """Every link of this half; ``cluster`` is read where aws-auth maps the roles."""
    yield from half.findings
    if half.aws is None or half.stack is None:
        return
    aws, stack = half.aws, half.stack
    arns = _queues(aws, stack)
    rule_arns: list[str] = []
    yield from rules.look(aws, stack, arns.get("NoticeQueue", ""), rule_arns)
    yield from queues.look(aws, stack, rule_arns)
    yield from functions.look(aws, stack, arns, clock.now())
    yield from access.look(aws, stack, cluster, half.described)
    if half.described is not None:
        yield from network.look(aws, stack, half.described)


def _queues(aws: Aws, stack: Stack) -> dict[str, str]:
    """The ARNs of the queues that can be read."""
    found = {}
    for queue in functions.SOURCES.values():
        try:
            found[queue] = queues.gather(aws, stack, queue).queue_arn
        except AwsError:
            continue  # its own link tells
    return found
