"""Attacks on the eviction gate by numbers: of evictions, of names, of namespaces."""

from datetime import timedelta

import pytest

from evenkeel.decisions.gate.eviction import Eviction
from evenkeel.flows.gate.concurrency import MOST, MOST_OF_FREE, SHORTEST, Concurrency
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.effort import measured
from tests.stories.gate.crowding import Crowding, in_a_hurry, until_decided


@pytest.mark.parametrize("dry_run", [True, False])
def test_two_hundred_evictions_of_a_tenant_put_no_other_off(
    monkeypatch: pytest.MonkeyPatch, *, dry_run: bool
) -> None:
    """Whatever they are told, they are asked for again at once. Decisions take a second."""
    crowding = Crowding(monkeypatch, tenant=50, shop=20)
    for name in crowding.pods("tenant") * 4:
        crowding.ask(name, "tenant", in_a_hurry, dry_run=dry_run)
    crowding.scene.settle(5)
    came = crowding.scene.seconds
    for name in crowding.pods("shop"):
        crowding.ask(name, "shop", until_decided)
    crowding.scene.settle(5)
    waited = [at - came for at in crowding.decided["shop"]]
    assert len(waited) == 20
    assert max(waited) < 3
    crowding.scene.close()


def test_names_that_a_tenant_makes_up_take_a_bounded_memory_and_leave_some_to_others() -> None:
    clock = SimulatedClock()
    concurrency = Concurrency(clock)
    with measured() as effort:
        for number in range(MOST + 1_000):
            concurrency.defer(Eviction(name=f"{number:0253}", namespace="tenant"))
    assert len(concurrency) == MOST * MOST_OF_FREE // (MOST_OF_FREE + 1)
    assert effort.memory < 12_000_000
    of_another = [Eviction(name=f"pod-{number}", namespace="shop") for number in range(1_000)]
    for each in of_another:
        concurrency.defer(each)
    clock.advance(timedelta(seconds=10))
    assert {concurrency.waited(each) for each in of_another} == {timedelta(seconds=10)}


def test_namespaces_that_are_made_up_take_a_bounded_memory() -> None:
    concurrency = Concurrency(SimulatedClock())
    with measured() as effort:
        told = [
            concurrency.defer(Eviction(name="one", namespace=f"{number:063}"))
            for number in range(MOST + 1_000)
        ]
    assert len(concurrency) == MOST
    assert effort.memory < 16_000_000
    assert set(told) == {SHORTEST}
