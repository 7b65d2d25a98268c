"""Slots in which evictions are decided about: who gets one, and who has to go without."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.flows.gate.concurrency import AT_ONCE, LONGEST_WAIT, MOST_OF_FREE, UNMEASURED, Slots
from evenkeel_sandbox.simulator.clock import Signal, SimulatedClock
from tests.kit.builders import NOW
from tests.stories.gate.crowding import wait_on

ALONE = AT_ONCE * MOST_OF_FREE // (MOST_OF_FREE + 1)
"""So many slots one namespace takes."""


class Asked:
    """Requests for slots, each a process of the clock; those that got one, in that order."""

    def __init__(self, clock: SimulatedClock) -> None:
        self.clock = clock
        self.slots = Slots(clock)
        self.admitted: list[str] = []
        self.refused: list[str] = []
        self._ends: dict[str, Signal] = {}

    def ask(self, name: str, since: float = 0, *, comes_last: bool = False) -> None:
        """Ask for an eviction; ``name`` begins with its namespace."""
        end = self._ends[name] = Signal()

        def body() -> None:
            namespace, at = name.partition("/")[0], NOW + timedelta(seconds=since)
            with self.slots.slot(namespace, at, comes_last=comes_last) as has_slot:
                (self.admitted if has_slot else self.refused).append(name)
                if has_slot:
                    self.clock.wait(end, timedelta(hours=1))

        self.clock.start(body)
        self.clock.advance(timedelta())

    def leave(self, *names: str) -> None:
        """These have been decided about."""
        for name in names:
            self._ends[name].set()
            self.clock.advance(timedelta())

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(timedelta(seconds=seconds))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    clock = SimulatedClock(NOW)
    wait_on(clock, monkeypatch)
    yield Asked(clock)
    clock.stop()


def filled(asked: Asked, *, by: str = "tenant") -> list[str]:
    """All slots that one namespace takes."""
    names = [f"{by}/{number}" for number in range(ALONE)]
    for name in names:
        asked.ask(name)
    assert asked.admitted == names
    asked.admitted.clear()
    return names


def test_a_namespace_leaves_places_for_the_next_and_goes_on_when_one_is_done(asked: Asked) -> None:
    first, *_ = filled(asked)
    asked.ask("tenant/one-more")
    assert asked.admitted == []
    asked.ask("shop/one")
    assert asked.admitted == ["shop/one"]
    asked.leave(first)
    assert asked.admitted == ["shop/one", "tenant/one-more"]


def test_one_without_a_place_goes_away_after_a_second(asked: Asked) -> None:
    filled(asked)
    asked.ask("tenant/one-more")
    asked.pass_time(LONGEST_WAIT.total_seconds() - 0.1)
    assert asked.refused == []
    asked.pass_time(0.1)
    assert asked.refused == ["tenant/one-more"]
    asked.leave("tenant/0")
    assert asked.admitted == []


def test_two_namespaces_have_as_many_places_each_however_many_of_one_wait(asked: Asked) -> None:
    first = filled(asked)
    for number in range(200):
        asked.ask(f"tenant/more-{number}")
    for number in range(20):
        asked.ask(f"shop/{number}", since=1)
    asked.leave(*first)
    of_shop = [name for name in asked.admitted if name.startswith("shop")]
    assert len(of_shop) == len(asked.admitted) - len(of_shop) == 15


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"since": 1}, {"since": 0}, id="the older one"),
        pytest.param({"comes_last": True}, {"since": 1}, id="one that does not come last"),
    ],
)
def test_who_is_next(asked: Asked, first: dict[str, Any], second: dict[str, Any]) -> None:
    filled(asked)
    asked.ask("tenant/first", **first)
    asked.ask("tenant/second", **second)
    asked.leave("tenant/0", "tenant/1")
    assert asked.admitted == ["tenant/second", "tenant/first"]


@pytest.mark.parametrize(
    ("name", "since", "refused"),
    [
        pytest.param("tenant/old", -1, f"tenant/{AT_ONCE - 1}", id="the youngest goes"),
        pytest.param("tenant/young", 99, "tenant/young", id="which it may be itself"),
        pytest.param("shop/young", 99, f"tenant/{AT_ONCE - 1}", id="of the namespace with most"),
    ],
)
def test_only_so_many_wait(asked: Asked, name: str, since: float, refused: str) -> None:
    filled(asked, by="shop")
    for number in range(AT_ONCE - ALONE):
        asked.ask(f"elsewhere/{number}")
    for number in range(AT_ONCE):
        asked.ask(f"tenant/{number}", since=number)
    assert asked.refused == []
    asked.ask(name, since)
    assert asked.refused == [refused]


def test_one_that_comes_last_leaves_before_others(asked: Asked) -> None:
    filled(asked)
    asked.ask("other/dry", comes_last=True)
    asked.leave("other/dry")
    asked.ask("tenant/dry", comes_last=True)
    for number in range(AT_ONCE):
        asked.ask(f"tenant/more-{number}", since=number)
    assert asked.refused == ["tenant/dry"]


@pytest.mark.parametrize(
    ("at_once", "lasting", "apart"),
    [
        pytest.param(16, 1.6, 0.1, id="many at the same time"),
        pytest.param(1, 0.1, 0.1, id="one after the other"),
    ],
)
def test_turns_are_as_far_apart_as_decisions_are_seen_to_be(
    asked: Asked, at_once: int, lasting: float, apart: float
) -> None:
    assert asked.slots.turns_apart() == UNMEASURED
    with ExitStack() as stack:
        for _ in range(at_once - 1):
            stack.enter_context(asked.slots.slot("shop", NOW))
        for _ in range(300):
            with asked.slots.slot("shop", NOW):
                asked.pass_time(lasting)
        assert asked.slots.turns_apart().total_seconds() == pytest.approx(apart, rel=0.01)


def test_turns_of_a_namespace_are_further_apart_the_more_namespaces_there_are(asked: Asked) -> None:
    for namespace in ("shop", "shop", "tenant"):
        asked.ask(f"{namespace}/0")
    asked.ask("elsewhere/dry", comes_last=True)
    assert asked.slots.turns_apart() == 2 * UNMEASURED
