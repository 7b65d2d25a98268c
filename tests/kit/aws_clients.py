"""Clients of AWS that answer what a test has written down, and what botocore raises."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from botocore.exceptions import ClientError

from tests.kit.clocks import NOW

STACK = "evenkeel-prod"


def refusal(code: str, message: str = "it is so") -> ClientError:
    """What botocore raises for an answer of AWS's that is an error."""
    return ClientError(cast("Any", {"Error": {"Code": code, "Message": message}}), "X")


def a_stack(outputs: Mapping[str, str] | None = None, **parameters: str) -> dict[str, Any]:
    """The stack of the cluster prod, as DescribeStacks has it."""
    told = {"ClusterName": "prod", "Mode": "act"} | parameters
    return {
        "StackName": STACK,
        "StackStatus": "UPDATE_COMPLETE",
        "CreationTime": NOW,
        "Parameters": [{"ParameterKey": k, "ParameterValue": v} for k, v in told.items()],
        "Outputs": [{"OutputKey": k, "OutputValue": v} for k, v in (outputs or {}).items()],
    }


def resources(ids: Mapping[str, str]) -> list[dict[str, str]]:
    """A stack's resources by their logical ids, as ListStackResources has them."""
    return [{"LogicalResourceId": k, "PhysicalResourceId": v} for k, v in ids.items()]


@dataclass
class Scripted:
    """A client whose methods answer what is written here, or raise it."""

    answers: dict[str, Any] = field(default_factory=dict)

    def __getattr__(self, method: str) -> Any:
        def call(**parameters: Any) -> Any:
            answer = self.answers[method]
            answer = answer(**parameters) if callable(answer) else answer
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call
