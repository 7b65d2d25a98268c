"""A command that is killed once after each of its calls that write, and run again each time."""

from collections.abc import Callable, Sequence
from typing import Any

from evenkeel_cli.aws.asking import Aws, MakeClient
from evenkeel_cli.install.steps import Step
from tests.unit.cli.install.keeping import BreakError

WRITES = ("create_", "put_", "execute_", "delete_", "continue_")
MOST = 40


class Killing:
    """Clients that kill the command after each write that it has not been killed after before."""

    def __init__(self, make_client: MakeClient) -> None:
        self._make_client = make_client
        self.killed: list[str] = []

    def client(self, service: str) -> Any:
        """A client of a service."""
        return _Client(self._make_client(service), self.killed)


class _Client:
    def __init__(self, client: Any, killed: list[str]) -> None:
        self._client = client
        self._killed = killed

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        if not name.startswith(WRITES):
            return method

        def call(**parameters: Any) -> Any:
            answer = method(**parameters)
            write = f"{name} {parameters['Key']}" if "Key" in parameters else name
            if write not in self._killed:
                self._killed.append(write)
                raise BreakError
            return answer

        return call


def gone_through(
    region: str, make_client: MakeClient, steps: Callable[[Aws], Sequence[Step]]
) -> list[str]:
    """Go through the steps until none of them has anything to do; after what they were killed."""
    killing = Killing(make_client)
    for _ in range(MOST):
        try:
            for step in steps(Aws(region, killing.client)):
                if step.look():
                    step.do()
                assert step.look() == []
        except BreakError:
            continue
        return killing.killed
    raise AssertionError("they do not come to an end")
