"""When each Eviction is looked at, on a clock and a session of the test's."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import timedelta
from typing import Any, cast

import pytest

from evenkeel.errors import ForbiddenError, NotFoundError
from evenkeel.model.request import Change, List, Listing, Relisted
from evenkeel.ports import Arrival, OnDone, Reply, Session, fulfil
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_responder.eviction import (
    EVICTIONS,
    NAME,
    Eviction,
    EvictionStatus,
    ResponderStatus,
    State,
    TargetResponder,
)
from evenkeel_responder.report import Task
from evenkeel_responder.responder import Responder
from evenkeel_responder.responding import AT_ONCE, TURN, Responding
from tests.kit import builders
from tests.kit.builders import NOW, seconds
from tests.kit.clocks import SetClock


class Said:
    """A responder that says when to look again, and keeps what it was asked to do."""

    def __init__(self) -> None:
        self.again_in: timedelta | None = None
        self.done: list[tuple[Task, str]] = []

    def carry_out(self, task: Task, eviction: Eviction) -> timedelta | None:
        self.done.append((task, eviction.name))
        return self.again_in


class Mailbox:
    """A session whose work is done when the test says so."""

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self.waited: list[timedelta] = []
        self.started: list[Callable[[], None]] = []

    def watch(self, selection: object) -> None:
        assert selection == EVICTIONS

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        self.waited.append(timeout)
        arrived, self.arrivals = self.arrivals, []
        return arrived

    def start[T](self, work: Callable[[], T], then: OnDone[T] | None = None) -> Future[T]:
        future = Future[T]()
        self.started.append(lambda: self.arrivals.append(fulfil(future, work, then)))
        return future


class Stage:
    """Its turns, without a thread."""

    def __init__(self) -> None:
        self.clock = SetClock()
        self.said = Said()
        self.recorder = InMemoryRecorder()
        responder = cast("Responder", self.said)
        self.responding = Responding(responder, self.clock, self.recorder)
        self.begin()

    def begin(self) -> None:
        """A session begins."""
        self.session = Mailbox()
        self.responding.begin(cast("Session", self.session))

    def turn(self, *arrivals: Arrival, after: float = 0) -> int:
        """A turn in which these arrive; how many were started so far in this session."""
        self.clock.at += seconds(after)
        self.session.arrivals += arrivals
        self.responding.turn(cast("Session", self.session))
        return len(self.session.started)

    def finish(self) -> None:
        """All that was started is done, and the next turn takes it."""
        for each in self.session.started:
            each()
        self.session.started.clear()
        self.turn()


def eviction(name: str = "web-1", state: str = State.ACTIVE, **said: Any) -> Eviction:
    own = ResponderStatus(name=NAME, start_time=NOW, **said)
    status = EvictionStatus(
        target_responders=(TargetResponder(name=NAME, state=state),), responders=(own,)
    )
    return Eviction(metadata=builders.metadata(name), status=status)


def listed(*found: Eviction) -> Relisted[Eviction]:
    return Relisted(EVICTIONS, Listing(found, "1"))


def changed(found: Eviction, *, deleted: bool = False) -> Change[Eviction]:
    return Change(EVICTIONS, found, deleted=deleted)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_one_is_looked_at_again_when_its_time_has_come(stage: Stage) -> None:
    stage.said.again_in = seconds(5)
    assert stage.turn(listed(eviction())) == 1
    stage.finish()
    assert stage.turn(after=4.9) == 0
    assert stage.turn(after=0.1) == 1


def test_what_it_was_told_itself_does_not_have_it_looked_at(stage: Stage) -> None:
    stage.said.again_in = seconds(5)
    stage.turn(listed(eviction()))
    stage.finish()
    assert stage.turn(changed(eviction(heartbeat_time=NOW, message="wait"))) == 0


def test_one_that_is_canceled_while_it_is_answered_is_taken_back_after_that(stage: Stage) -> None:
    stage.turn(listed(eviction()))
    assert stage.turn(changed(eviction(state=State.CANCELED))) == 1
    stage.finish()
    stage.finish()
    assert stage.said.done == [(Task.ANSWER, "web-1"), (Task.TAKE_BACK, "web-1")]


def test_so_is_one_that_is_deleted_and_then_it_is_forgotten(stage: Stage) -> None:
    stage.turn(listed(eviction()))
    stage.finish()
    stage.turn(changed(eviction(), deleted=True))
    stage.finish()
    assert stage.said.done == [(Task.ANSWER, "web-1"), (Task.TAKE_BACK, "web-1")]
    stage.begin()
    assert stage.turn() == 0


def test_one_that_is_not_there_any_more_when_the_watch_begins_anew_was_deleted(
    stage: Stage,
) -> None:
    stage.turn(listed(eviction()))
    stage.finish()
    stage.turn(listed())
    stage.finish()
    assert stage.said.done[-1] == (Task.TAKE_BACK, "web-1")


def test_no_more_than_so_many_are_answered_at_once_and_the_thread_waits_meanwhile(
    stage: Stage,
) -> None:
    many = [eviction(f"web-{number}") for number in range(AT_ONCE + 3)]
    assert stage.turn(listed(*many)) == AT_ONCE
    assert stage.turn() == AT_ONCE
    assert stage.session.waited[-1] == TURN
    stage.finish()
    assert len(stage.session.started) == 3


def test_what_was_under_way_in_an_earlier_session_is_done_once_more(stage: Stage) -> None:
    assert stage.turn(listed(eviction())) == 1
    stage.begin()
    assert stage.turn(listed(eviction())) == 1


def test_an_error_keeps_none_from_being_looked_at_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(stage.said, "carry_out", fail)
    stage.turn(listed(eviction()))
    stage.finish()
    assert stage.recorder.notes
    assert stage.turn(after=1) == 1


@pytest.mark.parametrize("error", [NotFoundError("not served"), ForbiddenError("no right")])
def test_a_watch_that_is_refused_begins_anew(error: Exception, stage: Stage) -> None:
    refused = Reply(List(EVICTIONS), error=cast("ForbiddenError", error))
    with pytest.raises(type(error)):
        stage.turn(refused)
