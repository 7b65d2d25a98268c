"""What the writer sends, when, and what it makes of each reply."""

from collections.abc import Iterable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain import writes
from evenkeel.errors import (
    ClusterError,
    ConflictError,
    DisruptionRefusedError,
    ForbiddenError,
    NotFoundError,
    ThrottledError,
    UnavailableError,
)
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.backoff import Backoff
from evenkeel.flows.drain.dispatch.forced_evictions import Answers
from evenkeel.flows.drain.dispatch.writing import Writer
from evenkeel.flows.drain.low_counts import LowCounts
from evenkeel.flows.drain.recording import OnceRecorder
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.metrics import Metric
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Get, Request
from evenkeel.ports import OnReply, Reply, TimeLeft
from evenkeel_hosting.memory import InMemoryRecorder
from tests.kit import builders
from tests.kit.api_server import HandClock
from tests.kit.builders import seconds

WEB = builders.replica_set()
CAPACITY = 8


class Hand:
    """A session whose requests a test answers by hand."""

    capacity = CAPACITY

    def __init__(self) -> None:
        self.sent: list[tuple[Request, OnReply, TimeLeft | None]] = []

    @property
    def in_flight(self) -> int:
        return len(self.sent)

    def submit(self, request: Request, then: OnReply, left: TimeLeft | None = None) -> None:
        self.sent.append((request, then, left))

    def answer(self, *, result: Pod | None = None, error: ClusterError | None = None) -> None:
        """The oldest request is answered."""
        request, then, _ = self.sent.pop(0)
        then(Reply(request=request, result=result, error=error))


class Written:
    """A writer whose pods and session a test has in its hands; the pause was asked for just now."""

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self.session = Hand()
        self.clock = HandClock()
        self.recorder = InMemoryRecorder()
        self.view = View()
        for pod in pods:
            self.view.update(pod)
        self.left = timedelta(seconds=10)
        cluster: Any = SimpleNamespace()
        low = LowCounts(cluster, self.clock, self.recorder)
        session: Any = self.session
        self.writer = Writer(
            session,
            self.view,
            self.clock,
            OnceRecorder(self.recorder, low),
            Answers(),
            Backoff(),
            lambda: self.left,
        )
        self.ask_for_pause()

    def ask_for_pause(self) -> None:
        before = len(self.session.sent)
        self.writer.keep_asking()
        if self.session.sent[before:]:
            self.session.sent.insert(0, self.session.sent.pop())
            self.session.answer(error=NotFoundError("not paused"))

    def pass_time(self, by: float) -> None:
        self.clock.advance(seconds(by))
        self.ask_for_pause()

    def requests(self) -> list[Request]:
        return [request for request, _, _ in self.session.sent]


def eviction(pod: Pod, *, forced: bool = False) -> Decision:
    made = Decision.about(pod, Verb.EVICT, Reason.LAST_MOMENT, "it goes", write=writes.evict(pod))
    return msgspec.structs.replace(made, forced=forced)


def pods(number: int) -> list[Pod]:
    return [builders.pod(f"p{each}", of=WEB) for each in range(number)]


def test_half_of_the_session_is_kept_for_forced_evictions() -> None:
    written = Written(made := pods(12))
    written.writer.submit_all(map(eviction, made))
    assert len(written.session.sent) == CAPACITY // 2
    assert (written.writer.room(), written.writer.room(forced=True)) == (0, CAPACITY // 2)
    written.writer.submit_all(eviction(pod, forced=True) for pod in made)
    assert len(written.session.sent) == CAPACITY
    assert written.writer.room(forced=True) == 0


def test_a_pod_to_which_a_write_is_under_way_does_not_keep_the_next_from_going() -> None:
    written = Written(made := pods(3))
    assert written.writer.submit(eviction(made[0]))
    written.writer.submit_all(map(eviction, made))
    assert [request.name for request in written.requests()] == ["p0", "p1", "p2"]  # type: ignore[union-attr]


def test_only_a_forced_eviction_goes_without_the_lease() -> None:
    written = Written(made := pods(2))
    written.left = timedelta()
    assert not written.writer.submit(eviction(made[0]))
    assert written.writer.submit(eviction(made[0], forced=True))
    written.left = timedelta(seconds=1)
    assert written.writer.submit(eviction(made[1]))
    assert [left and left() for _, _, left in written.session.sent] == [None, seconds(1)]


def test_nothing_is_sent_on_an_old_answer_about_the_pause() -> None:
    written = Written(made := pods(1))
    written.clock.advance(seconds(1))
    assert written.writer.room() == 0
    assert not written.writer.submit(eviction(made[0]))
    assert written.writer.room(forced=True) == CAPACITY


def test_a_namespace_crowds_with_half_of_the_places_that_are_not_for_forced_evictions() -> None:
    written = Written(made := pods(2))
    assert not written.writer.crowds("default")
    written.writer.submit(eviction(made[0]))
    assert not written.writer.crowds("default")
    written.writer.submit(eviction(made[1]))
    assert written.writer.crowds("default")
    assert not written.writer.crowds("other")
    written.session.answer()
    assert not written.writer.crowds("default")


def test_an_accepted_eviction_is_counted_and_its_pod_is_not_evicted_again() -> None:
    written = Written(made := pods(1))
    written.writer.submit(eviction(made[0]))
    written.session.answer(result=None)
    assert written.writer.accepted(Verb.EVICT) == 1
    assert not written.writer.under_way
    assert written.recorder.total(Metric.PODS_UNREPLACED) == 1
    assert not written.writer.submit(eviction(made[0]))


def test_a_pod_that_is_gone_is_forgotten_and_no_error_is_counted() -> None:
    written = Written(made := pods(1))
    written.writer.submit(eviction(made[0]))
    written.session.answer(error=NotFoundError("gone"))
    assert written.view.pods.get(made[0].uid) is None
    assert not written.recorder.values


def test_an_eviction_that_a_budget_refuses_rests_longer_each_time_and_is_told_once() -> None:
    written = Written(made := pods(1))
    for rest in (0.2, 0.4, 0.8):
        assert written.writer.submit(eviction(made[0]))
        written.session.answer(error=DisruptionRefusedError("its budget"))
        assert written.writer.next_retry == written.clock.now() + seconds(rest)
        assert not written.writer.submit(eviction(made[0]))
        written.pass_time(rest)
    assert written.recorder.total(Metric.EVICTIONS_REFUSED) == 3
    assert [note for note, _ in written.recorder.notes] == [
        f"the eviction of {made[0].reference} is refused: its budget"
    ]


@pytest.mark.parametrize(("forced", "rest"), [(False, 7.0), (True, 1.0)])
def test_a_throttled_write_waits_as_asked_at_a_last_moment_for_a_second_at_most(
    *, forced: bool, rest: float
) -> None:
    written = Written(made := pods(1))
    written.writer.submit(eviction(made[0], forced=forced))
    written.session.answer(error=ThrottledError("slow down", retry_after=7))
    assert written.writer.next_retry == written.clock.now() + seconds(rest)


@pytest.mark.parametrize(("error", "tries"), [(ForbiddenError("no"), 2), (None, 4)])
def test_a_write_that_is_refused_again_and_again_though_nobody_wrote_is_told_as_not_taken(
    error: ClusterError | None, tries: int
) -> None:
    written = Written(made := pods(1))
    for number in range(tries + 2):
        told = written.recorder.total(Metric.WRITES_REFUSED)
        assert told == (number >= tries)
        assert written.writer.submit(eviction(made[0]))
        written.session.answer(error=error or UnavailableError("no answer"))
        if error is None:
            assert written.requests() == [Get(Pod, "p0", "default")]
            assert written.view.pods.is_assumed_evicted(made[0].uid)
            written.session.answer(result=made[0])
        written.pass_time(20)
    decisions = [each for each in written.recorder.decisions if each.verb is Verb.LEAVE]
    assert [each.reason for each in decisions] == [Reason.WRITE_REFUSED]


def test_after_a_conflict_the_pod_is_read_and_one_of_its_name_is_another() -> None:
    written = Written(made := pods(1))
    written.writer.submit(eviction(made[0]))
    written.session.answer(error=ConflictError("changed"))
    assert written.recorder.total(Metric.WRITES_CONFLICTED) == 1
    assert made[0].uid in written.writer.under_way
    other = builders.pod("p0", of=WEB, uid="another")
    written.session.answer(result=other)
    assert written.view.pods.get(made[0].uid) is None
    assert written.view.pods.get("another") == other
    assert not written.writer.under_way


def test_after_a_conflict_a_pod_that_has_changed_is_tried_again_and_not_given_up() -> None:
    written = Written(made := pods(1))
    pod = made[0]
    for number in range(4):
        assert written.writer.submit(eviction(pod))
        written.session.answer(error=ConflictError("changed"))
        pod = builders.pod("p0", of=WEB, revision=number + 2)
        written.session.answer(result=pod)
        written.pass_time(20)
    assert not written.recorder.total(Metric.WRITES_REFUSED)
