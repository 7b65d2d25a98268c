"""Many evictions at once: a few are decided about, and the others come back."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest

from evenkeel.errors import ClusterError, ForbiddenError, ThrottledError, UnavailableError
from evenkeel.flows.gate import crowd
from evenkeel.flows.gate.crowd import (
    AT_ONCE,
    FORGOTTEN,
    LONGEST,
    SHARE,
    SHORTEST,
    Crowd,
)
from evenkeel.model.request import Request
from evenkeel.settings import Mode
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.unit.drain.manifests import deployment
from tests.unit.gate.gated import Gated

ONE = ("shop", "one")


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "LONGEST_WAIT", timedelta())


def test_so_many_have_a_place_and_one_more_when_one_of_them_is_done(
    clock: SimulatedClock,
) -> None:
    found = Crowd(clock)
    with ExitStack() as stack:
        assert all(stack.enter_context(found.place(ONE)) for _ in range(AT_ONCE))
        with found.place(ONE) as has_place:
            assert not has_place
    with found.place(ONE) as has_place:
        assert has_place


@pytest.mark.parametrize(
    ("waiting", "goes_first", "has_place"),
    [
        pytest.param(AT_ONCE - 1, False, True, id="it waits for a place"),
        pytest.param(AT_ONCE, False, False, id="too many wait"),
        pytest.param(AT_ONCE, True, True, id="it goes before them"),
    ],
)
def test_only_so_many_wait_for_a_place(
    waiting: int,
    clock: SimulatedClock,
    monkeypatch: pytest.MonkeyPatch,
    *,
    goes_first: bool,
    has_place: bool,
) -> None:
    monkeypatch.setattr(crowd, "LONGEST_WAIT", timedelta(seconds=5))
    found = Crowd(clock)
    found.decided(ONE, goes_first=goes_first)
    found._queued = waiting
    answers = []
    with ExitStack() as stack:
        for number in range(AT_ONCE):
            stack.enter_context(found.place(("shop", f"{number}")))

        def ask() -> None:
            with found.place(ONE) as found_one:
                answers.append(found_one)

        asking = Thread(target=ask)
        asking.start()
        asking.join(0.2)
        assert asking.is_alive() is has_place
    asking.join(5)
    assert answers == [has_place]


@pytest.mark.parametrize(
    ("at_once", "lasting", "a_second"),
    [
        pytest.param(AT_ONCE, 1.0, AT_ONCE, id="all places are taken"),
        pytest.param(1, 0.1, 10, id="one after the other"),
    ],
)
def test_others_come_back_as_fast_as_decisions_are_made(
    at_once: int, lasting: float, a_second: float, clock: SimulatedClock
) -> None:
    found = Crowd(clock)
    with ExitStack() as stack:
        for number in range(at_once - 1):
            stack.enter_context(found.place(("shop", f"{number}")))
        for _ in range(300):
            with found.place(ONE):
                clock.advance(timedelta(seconds=lasting))
        number = round(20 * a_second / SHARE)
        told = [found.turn_in().total_seconds() for _ in range(number)]
    assert told[0] == SHORTEST.total_seconds()
    assert told[-1] == pytest.approx(20, rel=0.2)
    assert told == sorted(told)


def test_nobody_is_told_to_stay_away_for_longer_and_very_many_are_dealt_out(
    clock: SimulatedClock,
) -> None:
    found = Crowd(clock)
    told = [found.turn_in() for _ in range(10_000)]
    assert max(told) <= LONGEST
    assert min(told[5_000:]) >= LONGEST / 2
    soon = [each for each in told[5_000:] if each < LONGEST * 3 / 4]
    assert len(soon) == pytest.approx(2_500, rel=0.3)


def test_one_waits_since_it_was_refused_first_or_another_was_decided_about(
    clock: SimulatedClock,
) -> None:
    found = Crowd(clock)
    assert found.refuse(ONE).waited == timedelta()
    clock.advance(timedelta(seconds=100))
    assert found.refuse(ONE).waited == timedelta(seconds=100)
    found.decided(("shop", "another"))
    assert found.refuse(ONE).waited == timedelta()
    clock.advance(timedelta(seconds=50))
    assert found.refuse(ONE).waited == timedelta(seconds=50)


def test_one_that_cannot_be_read_waits_whatever_is_decided_about_others(
    clock: SimulatedClock,
) -> None:
    found = Crowd(clock)
    found.refuse(ONE)
    clock.advance(timedelta(seconds=100))
    assert found.refuse(ONE, unread=True).waited == timedelta()
    clock.advance(timedelta(seconds=100))
    found.decided(("shop", "another"))
    assert found.refuse(ONE, unread=True).waited == timedelta(seconds=100)
    found.decided(ONE, in_turn=True)
    assert found.refuse(ONE, unread=True).waited == timedelta()


def test_one_that_does_not_come_back_is_forgotten(clock: SimulatedClock) -> None:
    found = Crowd(clock)
    found.refuse(ONE)
    clock.advance(FORGOTTEN)
    assert found.refuse(ONE).waited == timedelta()


def test_one_whose_pod_is_released_is_back_before_those_that_are_not(
    clock: SimulatedClock,
) -> None:
    found = Crowd(clock)
    found.decided(ONE, goes_first=True)
    for number in range(1000):
        last = found.refuse(("shop", f"pod-{number}")).retry_after
    assert last > timedelta(seconds=10)
    assert found.refuse(ONE).retry_after == SHORTEST


@pytest.fixture
def one(request: pytest.FixtureRequest) -> Iterator[Gated]:
    """A workload of one pod that the gate would hand over."""
    gated = Gated(getattr(request, "param", Mode.ACT))
    gated.scene.add_node("s1")
    gated.scene.apply(deployment("one"))
    gated.begin("o1")
    yield gated
    gated.scene.close()


@pytest.mark.parametrize(
    ("one", "refusals"),
    [
        pytest.param(Mode.ACT, 1, id="it comes back"),
        pytest.param(Mode.OBSERVE, 0, id="it passes where Evenkeel only observes"),
    ],
    indirect=["one"],
)
def test_an_eviction_without_a_place_is_not_looked_into(
    one: Gated, refusals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Crowd, "place", lambda _crowd, _key: nullcontext(enter_result=False))
    (old,) = one.scene.pods("one")
    drainer = one.drainer()
    drainer.evict(old.name, "default", again=False)
    one.scene.settle(1)
    assert len(drainer.pods[old.name].refusals) == refusals
    assert one.scene.written(old.name) == []


def failing(error: ClusterError) -> Callable[[Request, Callable[[], Any]], Any]:
    """An API server that answers nothing else."""

    def fail(_request: Request, _proceed: Callable[[], Any]) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        pytest.param(UnavailableError("no answer"), False, id="it does not answer"),
        pytest.param(ThrottledError("too much to do"), False, id="it has too much to do"),
        pytest.param(ForbiddenError("not you"), True, id="it forbids to look"),
    ],
)
def test_an_eviction_whose_pod_cannot_be_read_waits_unless_that_is_forbidden(
    one: Gated, error: ClusterError, *, passes: bool
) -> None:
    (old,) = one.scene.pods("one")
    one.scene.cluster.intercept(failing(error))
    drainer = one.drainer()
    drainer.evict(old.name, "default", again=False)
    one.scene.settle(1)
    assert (drainer.pods[old.name].accepted_at is not None) is passes


def test_it_passes_when_its_patience_is_over(one: Gated) -> None:
    (old,) = one.scene.pods("one")
    one.scene.cluster.intercept(failing(UnavailableError("no answer")))
    drainer = one.drainer()
    drainer.drain("s1")
    took = one.finish(drainer, within=400)
    assert one.settings.patience.total_seconds() <= took <= 305
    assert old.name not in {pod.name for pod in one.scene.pods("one") if pod.active}


def test_nothing_is_read_again_of_one_that_waits_for_its_turn() -> None:
    gated = Gated(window=1)
    scene = gated.scene
    scene.add_node("s1")
    scene.apply(deployment("web", 3))
    gated.begin("o1")
    first, second, _ = scene.pods("web")
    drainer = gated.drainer()
    for name in (first.name, second.name):
        drainer.evict(name, "default", again=False)
        scene.settle(0.1)
    seen: list[Request] = []

    def watch(request: Request, proceed: Callable[[], Any]) -> Any:
        seen.append(request)
        return proceed()

    end = scene.cluster.intercept(watch)
    drainer.evict(second.name, "default", again=False)
    scene.settle(0.1)
    end()
    _, (_, message) = drainer.pods[second.name].refusals
    assert "this one is released in its turn" in message
    assert not [each for each in seen if getattr(each, "name", "") == second.name]
    gated.scene.close()
