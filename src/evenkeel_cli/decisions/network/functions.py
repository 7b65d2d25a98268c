"""The network that a stack's parameters give to its functions, and what they call from there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

SUBNETS: Final = "SubnetIds"
GROUPS: Final = "SecurityGroupIds"
"""The parameters in template.yaml. Their values have a comma between members."""

SERVICES: Final[Mapping[str, str]] = {
    "autoscaling": "LifecycleHook",
    "ec2": "",
    "events": "Notify",
    "secretsmanager": "Webhook",
    "sqs": "",
}
"""The services of which functions make clients, and with which parameter: empty for always.

A token for EKS is signed and not fetched, and logs, traces and events that call a function are
Lambda's own affair: they take no way through its network.
"""


@dataclass(frozen=True, slots=True)
class FunctionNetwork:
    """The subnets and security groups of the functions; both empty: they are in no network."""

    subnets: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """As the stack has it."""
        return cls(_listed(parameters.get(SUBNETS, "")), _listed(parameters.get(GROUPS, "")))

    @property
    def is_whole(self) -> bool:
        """Whether the functions have subnets and groups: Lambda takes both or neither."""
        return bool(self.subnets and self.groups)

    @property
    def is_half(self) -> bool:
        """Whether one of both is missing."""
        return bool(self.subnets) != bool(self.groups)

    def __str__(self) -> str:
        """As options of the command."""
        given = {SUBNETS: self.subnets or ("SUBNET",), GROUPS: self.groups or ("GROUP",)}
        return " ".join(f"--parameter {key}={','.join(value)}" for key, value in given.items())


def called(parameters: Mapping[str, str]) -> Sequence[str]:
    """The services that functions call with these parameters, in the order of their names."""
    return [
        service
        for service, parameter in SERVICES.items()
        if (not parameter or parameters.get(parameter, "") not in ("", "false", "never"))
    ]


def _listed(value: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, value.split(","))))
