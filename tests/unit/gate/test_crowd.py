"""Many evictions at once: a few are decided about, and the others come back."""

from contextlib import ExitStack
from datetime import timedelta

import pytest

from evenkeel.flows.gate import crowd
from evenkeel.flows.gate.crowd import AT_ONCE, FORGOTTEN, LONGEST, PER_SECOND, SHORTEST, Crowd
from evenkeel.settings import Mode
from sandbox.simulator.clock import SimulatedClock
from tests.unit.drain.manifests import deployment
from tests.unit.gate.gated import Gated


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
        assert all(stack.enter_context(found.place()) for _ in range(AT_ONCE))
        with found.place() as has_place:
            assert not has_place
    with found.place() as has_place:
        assert has_place


@pytest.mark.parametrize(
    ("others", "told"),
    [
        pytest.param(0, SHORTEST, id="nobody else"),
        pytest.param(9 * PER_SECOND, timedelta(seconds=9), id="some"),
        pytest.param(100 * PER_SECOND, LONGEST, id="very many"),
    ],
)
def test_the_more_wait_the_later_each_comes_back(
    others: int, told: timedelta, clock: SimulatedClock
) -> None:
    found = Crowd(clock)
    for number in range(others):
        found.comes_back_in("shop", f"pod-{number}")
    assert found.comes_back_in("shop", "one") == told


def test_one_that_comes_back_counts_once_and_one_that_does_not_is_forgotten(
    clock: SimulatedClock,
) -> None:
    found = Crowd(clock)
    for _ in range(5):
        for number in range(2 * PER_SECOND):
            last = found.comes_back_in("shop", f"pod-{number}")
    assert last == timedelta(seconds=2)
    clock.advance(FORGOTTEN)
    assert found.comes_back_in("shop", "one") == SHORTEST


@pytest.mark.parametrize(
    ("mode", "refusals"),
    [
        pytest.param(Mode.ACT, 1, id="it comes back"),
        pytest.param(Mode.OBSERVE, 0, id="it passes where Evenkeel only observes"),
    ],
)
def test_an_eviction_without_a_place_is_not_looked_into(
    mode: Mode, refusals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crowd, "AT_ONCE", 0)
    gated = Gated(mode)
    gated.scene.add_node("s1")
    gated.scene.apply(deployment("one"))
    gated.begin("o1")
    (old,) = gated.scene.pods("one")
    drainer = gated.drainer()
    drainer.evict(old.name, "default", again=False)
    gated.scene.settle(1)
    assert len(drainer.pods[old.name].refusals) == refusals
    assert gated.scene.written(old.name) == []
    gated.scene.close()
