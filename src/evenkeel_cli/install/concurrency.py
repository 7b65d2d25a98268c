"""Which functions of a stack have reserved concurrency: as many as the account's quota allows."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from evenkeel_cli.aws.asking import Aws, AwsError
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.install.steps import Say

PARAMETER: Final = "ReservedConcurrency"
ALL, NOTICES, NONE = "all", "notices", "none"
"""The values of the parameter in template.yaml."""

RESERVED: Final = {ALL: 72, NOTICES: 22, NONE: 0}
"""How many invocations at once template.yaml reserves by each of them, the most first."""

UNRESERVED: Final = 100
"""Lambda refuses a reservation that leaves fewer to the functions without one.

https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
"""


RIGHT: Final = "lambda:GetAccountSettings"
"""What it takes in AWS to ask for the limit."""


class Limit(msgspec.Struct, frozen=True, rename="pascal"):
    """The account's limits in a region."""

    unreserved_concurrent_executions: int


class AccountSettings(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of GetAccountSettings."""

    account_limit: Limit


def parameters(aws: Aws, stack: Stack | None, say: Say) -> Mapping[str, str]:
    """The parameter for a stack that does not have it yet; empty for one that does.

    A new stack (None) reserves as much as the account has room for. A stack that has a parameter
    for each function, as before this one, reserves for no function for which it did not before.
    Where AWS does not say what room there is, which ``say`` then tells, no more is reserved than
    the stack has already: Lambda's refusal would undo all of a stack.
    """
    have = stack.parameters if stack is not None else {}
    if have.get(PARAMETER) in RESERVED:
        return {}
    most, held = (ALL, 0) if stack is None else _before(have)
    free = _free(aws, say)
    room = held if free is None else max(0, free + held - UNRESERVED)
    fitting = (name for name, number in RESERVED.items() if number <= min(room, RESERVED[most]))
    return {PARAMETER: next(fitting)}


def _free(aws: Aws, say: Say) -> int | None:
    """How many invocations at once nothing has reserved; None where AWS does not say."""
    try:
        found = aws.ask("lambda", "get_account_settings", AccountSettings).account_limit
    except AwsError as error:
        why = f"{error}; allow {RIGHT}" if error.is_refusal else str(error)
        say(f"how much concurrency Lambda has left is not known: {why}")
        return None
    return found.unreserved_concurrent_executions


def _before(have: Mapping[str, str]) -> tuple[str, int]:
    """The value closest to the parameters of before, and how many invocations these reserve."""
    names = ("InterruptionConcurrency", "HandoverConcurrency", "PlacementConcurrency")
    interruption, handover, placement = (int(have.get(each) or 0) for each in names)
    notices = interruption + handover
    if not notices:
        return NONE, placement
    return ALL if placement else NOTICES, notices + placement


def told(parameters: Mapping[str, str]) -> Sequence[str]:
    """What to say where nothing is reserved for notices."""
    if parameters.get(PARAMETER) != NONE:
        return []
    said = (
        "  no concurrency is reserved for notices, so other functions can hold them up: where"
        f" Lambda has {RESERVED[ALL] + UNRESERVED} unreserved (Service Quotas, Lambda, Concurrent"
        f" executions), add --parameter {PARAMETER}={ALL}"
    )
    return [said]
