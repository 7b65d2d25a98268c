"""Clients of AWS that answer what a test has written down, and what botocore raises."""

from dataclasses import dataclass, field
from typing import Any, cast

from botocore.exceptions import ClientError


def refusal(code: str, message: str = "it is so") -> ClientError:
    """What botocore raises for an answer of AWS's that is an error."""
    return ClientError(cast("Any", {"Error": {"Code": code, "Message": message}}), "X")


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
