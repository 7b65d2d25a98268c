"""Whether the account has the concurrency that a new stack reserves for its functions."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from cli.aws.asking import Aws, AwsError

RESERVED: Final = {
    "InterruptionConcurrency": 10,
    "HandoverConcurrency": 5,
    "PlacementConcurrency": 50,
}
"""What template.yaml reserves unless it is told otherwise; what notices need is first."""

LEFT: Final = 100
"""So much Lambda leaves to all functions for which none is reserved, and refuses to reserve more.

https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
"""


class Limit(msgspec.Struct, frozen=True, rename="pascal"):
    """The account's limits in a region."""

    unreserved_concurrent_executions: int


class AccountSettings(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of GetAccountSettings."""

    account_limit: Limit


def parameters(aws: Aws) -> Mapping[str, str]:
    """Parameters of a new stack that reserve nothing where too little is left to reserve.

    None where there is enough, or AWS does not say: then Lambda's refusal is the answer.
    """
    try:
        found = aws.ask("lambda", "get_account_settings", AccountSettings)
    except AwsError:
        return {}
    left = found.account_limit.unreserved_concurrent_executions - LEFT
    lacking = {}
    for name, number in RESERVED.items():
        if number > left:
            lacking[name] = ""
        else:
            left -= number
    return lacking


def told(parameters: Mapping[str, str]) -> Sequence[str]:
    """What to say of a new stack for whose notices nothing is reserved."""
    if parameters.get("InterruptionConcurrency") != "":
        return []
    said = (
        "  no concurrency is reserved for notices, so other functions can hold them up: ask AWS for"
        " a higher limit (Service Quotas, Lambda, Concurrent executions), then add"
        " --parameter InterruptionConcurrency=10 --parameter HandoverConcurrency=5"
    )
    return [said]
