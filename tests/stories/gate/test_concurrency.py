"""Evictions that are put off: when each comes back, and what is remembered of it."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.gate.eviction import Eviction
from evenkeel.decisions.gate.gate import LONGEST_RETRY
from evenkeel.errors import ClusterError, ForbiddenError, ThrottledError, UnavailableError
from evenkeel.flows.gate.concurrency import (
    FORGOTTEN,
    LONGEST,
    SHARE,
    SHORTEST,
    UNMEASURED,
    Concurrency,
    Slots,
)
from evenkeel.flows.gate.window import Window
from evenkeel.settings import Mode
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.asking import asks, noting
from tests.kit.manifests import deployment
from tests.kit.reviews import of_eviction
from tests.stories.gate.gated import Gated


def eviction(name: str = "one", namespace: str = "shop", *, dry_run: bool = False) -> Eviction:
    return Eviction(name=name, namespace=namespace, dry_run=dry_run)


ONE, DRY = eviction(), eviction(dry_run=True)


class Asked:
    """What was asked of the slots."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[str, Any, bool]] = []
        slot = Slots.slot

        def noted(slots: Slots, namespace: str, since: Any, *, comes_last: bool) -> Any:
            self.asked.append((namespace, since, comes_last))
            return slot(slots, namespace, since, comes_last=comes_last)

        monkeypatch.setattr(Slots, "slot", noted)


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock()


@pytest.fixture
def concurrency(clock: SimulatedClock) -> Concurrency:
    return Concurrency(clock)


def crowded(concurrency: Concurrency, number: int, namespace: str = "shop") -> list[timedelta]:
    """Put off as many evictions of a namespace; when each is to come back."""
    return [concurrency.defer(eviction(f"pod-{each}", namespace)) for each in range(number)]


def test_evictions_of_a_namespace_come_back_one_after_the_other(concurrency: Concurrency) -> None:
    told = crowded(concurrency, 500)
    assert told == sorted(told)
    assert told[0] == SHORTEST
    assert told[-1].total_seconds() == pytest.approx(500 * SHARE * UNMEASURED.total_seconds())
    assert {each.microseconds for each in told} == {0}


def test_they_do_not_stand_behind_those_of_another(concurrency: Concurrency) -> None:
    crowded(concurrency, 5_000, "tenant")
    assert concurrency.defer(ONE) == SHORTEST


def test_nobody_is_kept_away_longer_and_very_many_are_dealt_out(concurrency: Concurrency) -> None:
    told = crowded(concurrency, 10_000)
    assert max(told) <= LONGEST
    assert min(told[5_000:]) >= LONGEST / 2
    soon = [each for each in told[5_000:] if each < LONGEST * 3 / 4]
    assert len(soon) == pytest.approx(2_500, rel=0.3)


def test_one_that_comes_back_early_keeps_its_time_and_comes_last(
    concurrency: Concurrency, clock: SimulatedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = crowded(concurrency, 500)[-1]
    last = eviction("pod-499")
    places = Asked(monkeypatch)
    began = clock.now()
    clock.advance(timedelta(seconds=1))
    with concurrency.slot(last):
        assert concurrency.defer(last) == told - timedelta(seconds=1)
    clock.advance(told - timedelta(seconds=1))
    with concurrency.slot(last):
        assert concurrency.defer(last) == SHORTEST
    assert places.asked == [("shop", began, True), ("shop", began, False)]


def test_a_clock_that_is_set_back_keeps_nobody_away(
    concurrency: Concurrency, clock: SimulatedClock
) -> None:
    concurrency.defer(ONE)
    clock._now -= timedelta(hours=1)
    assert concurrency.defer(ONE) <= LONGEST


def test_one_waits_since_it_was_asked_for_first_whatever_is_decided_about_others(
    concurrency: Concurrency, clock: SimulatedClock
) -> None:
    assert concurrency.waited(ONE) == timedelta()
    for waited in (0, 100, 200):
        concurrency.defer(ONE)
        concurrency.defer(eviction("another"), SHORTEST, in_turn=False)
        concurrency.passed(eviction("one", "another"))
        assert concurrency.waited(ONE) == timedelta(seconds=waited)
        clock.advance(timedelta(seconds=100))
    concurrency.passed(ONE)
    assert concurrency.waited(ONE) == timedelta()


def test_one_is_unread_since_its_last_read(concurrency: Concurrency, clock: SimulatedClock) -> None:
    concurrency.defer(ONE)
    clock.advance(timedelta(seconds=100))
    assert concurrency.unread(ONE) == timedelta()
    clock.advance(timedelta(seconds=100))
    concurrency.defer(eviction("another"), SHORTEST, in_turn=False)
    assert concurrency.unread(ONE) == timedelta(seconds=100)
    concurrency.defer(ONE, SHORTEST, in_turn=True)
    assert concurrency.unread(ONE) == timedelta()


def test_one_whose_pod_is_released_is_back_before_those_that_are_not(
    concurrency: Concurrency, clock: SimulatedClock
) -> None:
    assert concurrency.defer(ONE, SHORTEST, in_turn=False) == SHORTEST
    assert crowded(concurrency, 1_000)[-1] > timedelta(seconds=10)
    clock.advance(SHORTEST)
    assert concurrency.defer(ONE) == SHORTEST
    assert not concurrency.is_in_turn(ONE)


def test_one_that_waits_for_its_turn_comes_after_those_before(concurrency: Concurrency) -> None:
    least = timedelta(seconds=5)
    assert concurrency.defer(ONE, least, in_turn=True) == least
    assert concurrency.is_in_turn(ONE)
    crowded(concurrency, 1_000)
    told = concurrency.defer(eviction("another"), least, in_turn=True)
    assert told > timedelta(seconds=10)


def test_one_that_stays_away_is_forgotten(concurrency: Concurrency, clock: SimulatedClock) -> None:
    told = concurrency.defer(ONE)
    clock.advance(told + FORGOTTEN)
    concurrency.defer(eviction("another"))
    assert len(concurrency) == 1
    assert concurrency.waited(ONE) == timedelta()


def test_a_dry_run_comes_last_and_leaves_nothing_behind(
    concurrency: Concurrency, clock: SimulatedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Asked(monkeypatch)
    for _ in range(1_000):
        with concurrency.slot(DRY):
            concurrency.defer(DRY)
    assert {comes_last for *_, comes_last in places.asked} == {True}
    assert concurrency.defer(DRY, SHORTEST, in_turn=True) == SHORTEST
    assert (len(concurrency), concurrency.is_in_turn(DRY), concurrency.unread(DRY)) == (
        0,
        False,
        timedelta(),
    )
    assert concurrency.defer(ONE) == SHORTEST
    clock.advance(timedelta(seconds=100))
    concurrency.defer(DRY, timedelta(seconds=10), in_turn=True)
    concurrency.unread(DRY)
    concurrency.passed(DRY)
    assert concurrency.waited(ONE) == timedelta(seconds=100)
    assert concurrency.unread(ONE) == timedelta()
    assert not concurrency.is_in_turn(ONE)


@pytest.fixture
def one(request: pytest.FixtureRequest) -> Iterator[Gated]:
    """A workload of one pod that the gate would hand over."""
    gated = Gated(getattr(request, "param", Mode.ACT))
    gated.given(deployment("one"), spare="o1")
    yield gated
    gated.close()


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
    monkeypatch.setattr(
        Concurrency, "slot", lambda _concurrency, _asked: nullcontext(enter_result=False)
    )
    (old,) = one.pods("one")
    drainer = one.drainer()
    drainer.evict(old.name, "default", again=False)
    one.settle(1)
    assert len(drainer.pods[old.name].refusals) == refusals
    assert one.written(old.name) == []


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
    (old,) = one.pods("one")
    one.fail(error, asks())
    drainer = one.drainer()
    drainer.evict(old.name, "default", again=False)
    one.settle(1)
    assert (drainer.pods[old.name].accepted_at is not None) is passes


def test_it_passes_when_its_patience_is_over(one: Gated) -> None:
    (old,) = one.pods("one")
    one.fail(UnavailableError("no answer"), asks())
    drainer = one.drainer()
    drainer.drain("s1")
    took = one.finish(drainer, within=400)
    assert one.settings.patience.total_seconds() <= took <= 305
    assert old.name not in {pod.name for pod in one.pods("one") if pod.active}


def test_nothing_is_read_again_of_one_that_waits_for_its_turn() -> None:
    gated = Gated(window=1)
    gated.given(deployment("web", 3), spare="o1")
    first, second, _ = gated.pods("web")
    drainer = gated.drainer()
    for name in (first.name, second.name):
        drainer.evict(name, "default", again=False)
        gated.settle(0.1)
    seen = noting(gated.cluster)
    drainer.evict(second.name, "default", again=False)
    gated.settle(0.1)
    _, (_, message) = drainer.pods[second.name].refusals
    assert "this one is released in its turn" in message
    assert not [each for each in seen if getattr(each, "name", "") == second.name]
    gated.close()


def test_one_that_has_waited_for_its_turn_as_long_as_for_a_replacement_is_released(
    gated: Gated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is decided about others. It does not pass: all that wait as long would, too."""
    monkeypatch.setattr(Window, "has_room", lambda *_: False)
    gated.given(deployment("web", 3), deployment("one"), spare="o1")
    waits, *_ = gated.pods("web")
    (other,) = gated.pods("one")
    review = json.dumps(of_eviction("default", other.name, dryRun=True)).encode()
    patience = int(gated.settings.patience.total_seconds())
    for seconds in range(1, patience, 10):
        gated.later(seconds, lambda: gated.gate(review))
    drainer = gated.drainer()
    drainer.evict(waits.name, "default")
    gated.settle(patience - 1)
    assert not next(pod for pod in gated.pods("web") if pod.name == waits.name).released
    gated.finish(drainer, within=LONGEST_RETRY.total_seconds() + 5)
    gated.settle(5)
    assert gated.lowest("web") == 3
