"""Log groups, read page by page and within bounds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pytest
from botocore.exceptions import EndpointConnectionError

from evenkeel.adapters.telemetry.lambda_function import SERVICE
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.history import cloudwatch
from tests.kit.aws_clients import STACK, Scripted, a_stack, refusal, resources
from tests.unit.cli.history.records import BEGIN, counted

REGION = "eu-central-1"
GROUP = f"{STACK}-HandoverLogs"


class Logs:
    """A client that answers each question with the next page, or raises the error."""

    def __init__(self, *answers: Any) -> None:
        self.answers: Iterator[Any] = iter(answers)
        self.asked: list[Mapping[str, Any]] = []

    def filter_log_events(self, **asked: Any) -> Any:
        self.asked.append(asked)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


def page(seconds: float, token: str = "") -> Mapping[str, Any]:
    line = json.dumps({"service": SERVICE, "count": msgspec.to_builtins(counted(seconds, 3))})
    return {"events": [{"message": line}], **({"nextToken": token} if token else {})}


def aws(client: Any) -> Aws:
    return Aws(REGION, lambda _service: client)


def test_pages_are_asked_for_until_there_is_none() -> None:
    client = Logs(page(1, "one"), {"events": [], "nextToken": "two"}, page(2))
    found = cloudwatch.read(aws(client), [GROUP], BEGIN)
    assert len(found.records) == 2
    assert [asked.get("nextToken") for asked in client.asked] == [None, "one", "two"]
    assert {asked["startTime"] for asked in client.asked} == {int(BEGIN.timestamp() * 1000)}


def test_it_does_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloudwatch, "MOST_PAGES", 3)
    client = Logs(*(page(number, "more") for number in range(9)))
    with pytest.raises(UnmetError, match="name a shorter --since"):
        cloudwatch.read(aws(client), [GROUP], BEGIN)
    assert len(client.asked) == 3


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (refusal("ResourceNotFoundException"), f"there is no log group {GROUP} in eu-central-1"),
        (refusal("AccessDeniedException"), "allow logs:FilterLogEvents"),
        (refusal("ThrottlingException"), "ThrottlingException"),
        (EndpointConnectionError(endpoint_url="https://logs"), "Could not connect"),
    ],
)
def test_a_refusal_is_told_with_its_remedy(error: Exception, says: str) -> None:
    with pytest.raises(UnmetError, match=says):
        cloudwatch.read(aws(Logs(error)), [GROUP], BEGIN)


def groups_of(**ids: str) -> Sequence[str]:
    """The log groups of a stack with these resources."""
    answers = {
        "describe_stacks": {"Stacks": [a_stack()]},
        "list_stack_resources": {"StackResourceSummaries": resources(ids)},
    }
    return cloudwatch.groups_of(aws(Scripted(answers)), STACK)


def test_a_stack_says_which_log_groups_tell_of_interruptions() -> None:
    groups = groups_of(HandoverLogs="h-123", InterruptionLogs="i-123", PlacementLogs="p-123")
    assert groups == ["i-123", "h-123"]


def test_another_stack_is_told() -> None:
    with pytest.raises(BadInputError, match="has no log groups of Evenkeel"):
        groups_of(Bucket="b-123")
