"""Records out of CloudWatch Logs."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec

from evenkeel.adapters.telemetry.lambda_function import SERVICE
from evenkeel_cli.aws import asking
from evenkeel_cli.aws import stack as stacks
from evenkeel_cli.aws.asking import Aws, AwsError
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.history.reading import Found

GROUPS: Final = ("InterruptionLogs", "HandoverLogs")
"""The log groups of a stack that tell of interruptions, by their logical ids."""

OURS: Final = f'"{SERVICE}"'
"""Lines with this word, which all of Evenkeel's have: Lambda's own and metrics are left out."""

MOST_PAGES: Final = 2_000
"""A page has up to 1 MB, and may be empty: CloudWatch looks through so much at a time."""


class Event(msgspec.Struct, frozen=True):
    """A line of a log."""

    message: str = ""


class Page(msgspec.Struct, frozen=True, rename="camel"):
    """A page of FilterLogEvents."""

    events: tuple[Event, ...] = ()
    next_token: str = ""


def opened() -> Aws:
    """AWS as the environment says. Raises UnmetError."""
    aws = asking.of_environment()
    if isinstance(aws, str):
        raise UnmetError(f"{aws}: the logs cannot be read; --from FILE reads a saved log")
    return aws


def groups_of(aws: Aws, stack: str) -> Sequence[str]:
    """The log groups of a stack's functions. Raises CommandError."""
    found = stacks.gather(aws, stack)
    if found is None:
        raise BadInputError(
            f"there is no stack {stack} in {aws.region}: name log groups by --log-group, or another"
            " region by AWS_REGION"
        )
    groups = [found.id_of(each) for each in GROUPS if found.id_of(each)]
    if not groups:
        raise BadInputError(f"the stack {stack} has no log groups of Evenkeel: is it another one?")
    return groups


def read(aws: Aws, groups: Sequence[str], since: datetime) -> Found:
    """Read what was logged in these groups from a time on. Raises CommandError."""
    found = Found()
    for group in groups:
        for event in _events(aws, group, since):
            found.take_message(event.message)
    return found


def _events(aws: Aws, group: str, since: datetime) -> Iterator[Event]:
    token: dict[str, str] = {}
    for _ in range(MOST_PAGES):
        try:
            page = aws.ask(
                "logs",
                "filter_log_events",
                Page,
                logGroupName=group,
                startTime=int(since.timestamp() * 1000),
                filterPattern=OURS,
                **token,
            )
        except AwsError as error:
            raise _told(error, group, aws.region) from error
        yield from page.events
        if not page.next_token:
            return
        token = {"nextToken": page.next_token}
    raise UnmetError(f"the log group {group} has too much since then: name a shorter --since")


def _told(error: AwsError, group: str, region: str) -> UnmetError:
    """What AWS's refusal means, with its remedy."""
    if error.aws_code == "ResourceNotFoundException":
        return UnmetError(
            f"there is no log group {group} in {region}: aws logs describe-log-groups lists them,"
            " and AWS_REGION names another region"
        )
    if error.is_refusal:
        return UnmetError(f"the log group {group} may not be read: allow logs:FilterLogEvents")
    return error
