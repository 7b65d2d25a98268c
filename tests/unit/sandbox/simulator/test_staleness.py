"""Watches that are late are watches still: in order, and nothing is lost but at a new list."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.request import Change, Get, Relisted, Selection
from evenkeel.ports import Arrival, Reply
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.simulator.session import SimulatedSession
from evenkeel_sandbox.simulator.staleness import Staleness
from tests.unit.sandbox.simulator.scene import SECOND, Scene

SELECTION = Selection(ConfigMap, "shop", labels="marked")
OTHER = Selection(ConfigMap, "shop")

LAGGING = Staleness(seed=1, lag=3.0)
JUMPY = Staleness(seed=1, lag=3.0, varying=True)
STALLING = Staleness(seed=1, stall=6.0)
BREAKING = Staleness(seed=1, lag=3.0, varying=True, stall=2.0, breaks=True)


def scene_of(staleness: Staleness) -> Scene:
    return Scene(options=SimulatorOptions(staleness=staleness))


def write(scene: Scene, number: int, name: str = "x") -> None:
    metadata = {"name": name, "namespace": "shop", "labels": {"marked": "yes"}}
    data = {"number": str(number)}
    scene.cluster.apply(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    )


def seen_until(
    scene: Scene, session: SimulatedSession, end: datetime
) -> list[tuple[timedelta, Arrival]]:
    """What arrives until a time, and when it does."""
    began, seen = scene.clock.now(), list[tuple[timedelta, Arrival]]()
    while (now := scene.clock.now()) < end:
        seen += [(scene.clock.now() - began, a) for a in session.next(end - now)]
    return seen


def numbers(arrivals: Sequence[Arrival]) -> list[int]:
    """What they show of the one ConfigMap that is written."""
    shown = []
    for arrival in arrivals:
        objects = arrival.listing.items if isinstance(arrival, Relisted) else ()
        objects = (arrival.object,) if isinstance(arrival, Change) else objects
        shown += [int(o.data["number"]) for o in objects if isinstance(o, ConfigMap)]
    return shown


def told(staleness: Staleness, writes: int = 60) -> list[tuple[timedelta, Arrival]]:
    """What a watch shows of an object that is written once a second."""
    scene = scene_of(staleness)
    with scene.cluster.session() as session:
        session.watch(SELECTION)
        for number in range(writes):
            scene.clock.call_in((number + 1) * SECOND, lambda number=number: write(scene, number))  # type: ignore[misc]
        return seen_until(scene, session, scene.clock.now() + (writes + 20) * SECOND)


@pytest.mark.parametrize("staleness", [LAGGING, JUMPY, STALLING], ids=["lag", "jumpy", "stall"])
def test_every_change_arrives_once_and_in_order_when_a_watch_is_late(staleness: Staleness) -> None:
    arrivals = told(staleness)

    shown = [a for _, a in arrivals if isinstance(a, Change)]
    assert numbers(shown) == list(range(60))
    lates = [at - number * SECOND for number, (at, _) in enumerate(arrivals)][1:]
    assert max(lates) > timedelta(seconds=0.5)
    assert max(lates) <= staleness.longest + timedelta(seconds=0.01)


def test_the_last_state_arrives_and_none_goes_back_when_connections_break() -> None:
    arrivals = told(BREAKING)

    shown = numbers([a for _, a in arrivals])
    assert shown == sorted(shown)
    assert shown[-1] == 59
    assert sum(isinstance(a, Relisted) for _, a in arrivals) > 1


def test_a_watch_that_only_reconnects_misses_nothing_when_its_connection_breaks() -> None:
    found = []
    for seed in range(20):
        arrivals = [a for _, a in told(replace(BREAKING, seed=seed), writes=25)]
        if sum(isinstance(a, Relisted) for a in arrivals) == 1:
            found.append(numbers(arrivals))

    assert found
    assert all(shown == list(range(25)) for shown in found)


def test_watches_lag_each_by_its_own_time() -> None:
    scene = scene_of(LAGGING)
    with scene.cluster.session() as session:
        session.watch(SELECTION)
        session.watch(OTHER)
        scene.wait(10)
        session.next(SECOND)
        write(scene, 1)
        seen = seen_until(scene, session, scene.clock.now() + 5 * SECOND)

    (first, _), (second, _) = seen
    assert abs(first - second) > timedelta(seconds=0.1)


def test_a_reply_comes_after_what_a_watch_shows_of_its_write_when_replies_are_late() -> None:
    scene = scene_of(Staleness(seed=1, reply=0.5))
    request = Get(ConfigMap, "x", "shop")
    write(scene, 1)
    with scene.cluster.session() as session:
        session.watch(SELECTION)
        session.next(SECOND)
        for _ in range(5):
            session.submit(request)
        assert session.in_flight == 5
        seen = seen_until(scene, session, scene.clock.now() + SECOND)

    assert [type(a) for _, a in seen] == [Reply] * 5
    assert len({at for at, _ in seen}) == 5
    assert seen[-1][0] <= timedelta(seconds=0.51)


def test_a_blocking_request_has_its_reply_at_once_when_others_are_late() -> None:
    scene = scene_of(Staleness(seed=1, reply=0.5))
    before = scene.clock.now()
    scene.cluster.perform([Get(ConfigMap, "x", "shop")])

    assert scene.clock.now() - before == scene.cluster.options.latency
