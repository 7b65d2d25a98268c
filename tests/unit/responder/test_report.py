"""What has to be done about an Eviction, and what its status is told."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.decisions.gate.eviction import Allowed, Deferred
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Operation
from evenkeel_responder.eviction import (
    NAME,
    Eviction,
    EvictionStatus,
    ResponderStatus,
    State,
    TargetResponder,
)
from evenkeel_responder.report import LONGEST_MESSAGE, Task, report, task_of
from tests.kit import builders
from tests.kit.builders import NOW, seconds

OTHER = "acme.io/db"
WAITS = Deferred(
    reason=Reason.REPLACEMENT_PENDING,
    message="wait",
    retry_after=seconds(1),
    until=NOW + timedelta(minutes=5),
)
PASSES = Allowed(reason=Reason.REPLACEMENT_AVAILABLE, message="go")


def eviction(state: str = State.ACTIVE, **said: Any) -> Eviction:
    """One whose second responder is Evenkeel, which has said this of itself."""
    own = ResponderStatus(name=NAME, **{"start_time": NOW, **said})
    return Eviction(
        metadata=builders.metadata("web-1"),
        status=EvictionStatus(
            target_responders=(
                TargetResponder(name=OTHER, state="Completed"),
                TargetResponder(name=NAME, state=state),
            ),
            responders=(ResponderStatus(name=OTHER), own),
        ),
    )


def told(found: Eviction, verdict: Allowed | Deferred, at: datetime) -> dict[str, object] | None:
    """What Evenkeel's entry is told, by field; None if nothing."""
    patch = report(found, verdict, at)
    if patch is None:
        return None
    assert patch.subresource == "status"
    operations = [each for each in patch.body if isinstance(each, Operation)]
    assert [each.value for each in operations if each.op == "test"] == [found.uid, NAME]
    assert all(each.path.startswith("/status/responders/1/") for each in operations[1:])
    return {each.path.rpartition("/")[2]: each.value for each in operations if each.op == "add"}


@pytest.mark.parametrize(
    ("state", "task", "when_deleted"),
    [
        (State.INACTIVE, Task.NONE, Task.NONE),
        (State.ACTIVE, Task.ANSWER, Task.TAKE_BACK),
        (State.CANCELED, Task.TAKE_BACK, Task.TAKE_BACK),
        (State.INTERRUPTED, Task.NONE, Task.NONE),
        (State.COMPLETED, Task.NONE, Task.NONE),
    ],
)
def test_what_has_to_be_done_goes_by_the_state(
    state: State, task: Task, when_deleted: Task
) -> None:
    assert task_of(eviction(state)) is task
    assert task_of(eviction(state), is_deleted=True) is when_deleted


def test_nothing_where_it_said_that_it_is_done() -> None:
    assert task_of(eviction(completion_time=NOW)) is Task.NONE


def test_nothing_before_the_controller_has_come() -> None:
    empty = Eviction(metadata=builders.metadata("web-1"))
    assert task_of(empty) is Task.NONE
    assert report(empty, WAITS, NOW) is None


def test_that_it_waits_is_told_with_the_latest_end() -> None:
    assert told(eviction(), WAITS, NOW + seconds(3)) == {
        "heartbeatTime": "2026-11-21T06:00:03Z",
        "message": "wait",
        "expectedCompletionTime": "2026-11-21T06:05:00Z",
    }


def test_that_it_is_done_is_told_at_once() -> None:
    found = told(eviction(heartbeat_time=NOW, message="wait"), PASSES, NOW + seconds(1))
    assert found is not None
    assert found["completionTime"] == "2026-11-21T06:00:01Z"


@pytest.mark.parametrize(
    ("message", "after", "is_told"),
    [("wait", 179, False), ("wait", 180, True), ("other", 19, False), ("other", 20, True)],
)
def test_it_is_told_again_after_a_while_and_sooner_if_it_is_news(
    message: str, after: float, *, is_told: bool
) -> None:
    found = told(eviction(heartbeat_time=NOW, message=message), WAITS, NOW + seconds(after))
    assert (found is not None) is is_told


def test_no_time_is_before_the_start_which_is_by_another_clock() -> None:
    late = eviction(start_time=NOW + seconds(400))
    found = told(late, WAITS, NOW)
    assert found is not None
    assert found["heartbeatTime"] == found["expectedCompletionTime"] == "2026-11-21T06:06:40Z"


def test_a_message_is_cut_to_what_the_api_takes() -> None:
    long = Allowed(reason=Reason.UNREADABLE, message="x" * 5_000)
    found = told(eviction(), long, NOW)
    assert found is not None
    assert found["message"] == "x" * LONGEST_MESSAGE
