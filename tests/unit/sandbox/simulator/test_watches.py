"""Watches whose connection is lost, and watches that have to list again."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.request import Change, List, Relisted, Selection
from evenkeel.ports import Arrival
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.simulator.session import SimulatedSession
from tests.kit.manifests import resource
from tests.unit.sandbox.simulator.scene import SECOND, Scene

SELECTION = Selection(ConfigMap, "shop", labels="marked")


@pytest.fixture
def scene() -> Scene:
    return Scene()


@pytest.fixture
def session(scene: Scene) -> Iterator[SimulatedSession]:
    with scene.cluster.session() as session:
        session.watch(SELECTION)
        write(scene, "first")
        assert kinds(session.next(SECOND)) == ["relisted first"]
        yield session


def write(scene: Scene, name: str, **data: str) -> None:
    labels = {"marked": "yes"}
    scene.cluster.apply(resource("ConfigMap", name, "shop", labels=labels, data=data))


def kinds(arrivals: list[Arrival] | tuple[Arrival, ...] | object) -> list[str]:
    seen: list[str] = []
    assert isinstance(arrivals, list)
    for arrival in arrivals:
        if isinstance(arrival, Relisted):
            seen.append(" ".join(["relisted", *(o.name for o in arrival.listing.items)]))
        if isinstance(arrival, Change):
            seen.append(f"{'deleted' if arrival.deleted else 'changed'} {arrival.object.name}")
    return seen


def test_a_change_arrives_after_the_watch_latency(scene: Scene, session: SimulatedSession) -> None:
    write(scene, "second")
    before = scene.clock.now()
    assert kinds(session.next(SECOND)) == ["changed second"]
    assert scene.clock.now() - before == scene.cluster.options.watch_latency


def test_what_was_missed_comes_later_when_the_connection_was_cut(
    scene: Scene, session: SimulatedSession
) -> None:
    scene.cluster.disconnect_watches()
    write(scene, "second")
    write(scene, "second", a="b")
    scene.cluster.delete("ConfigMap", "first", "shop")
    scene.wait(1)
    assert kinds(session.next(SECOND)) == ["changed second", "changed second", "deleted first"]


def test_what_was_on_its_way_comes_again_when_the_connection_was_cut(
    scene: Scene, session: SimulatedSession
) -> None:
    write(scene, "second")
    scene.cluster.disconnect_watches()
    scene.wait(1)
    assert kinds(session.next(SECOND)) == ["changed second"]


def test_the_watch_lists_again_when_the_history_is_gone(
    scene: Scene, session: SimulatedSession
) -> None:
    scene.cluster.expire_watches()
    write(scene, "second")
    scene.cluster.delete("ConfigMap", "first", "shop")
    scene.wait(1)
    assert kinds(session.next(SECOND)) == ["relisted second"]
    write(scene, "third")
    assert kinds(session.next(SECOND)) == ["changed third"]


def test_a_long_history_of_others_forces_a_relist_only_without_bookmarks() -> None:
    """A quiet watch knows a revision that is a minute old at most."""
    for quiet_for, expected in ((30, ["relisted first"]), (90, [])):
        scene = Scene(0, SimulatorOptions(history=10))
        with scene.cluster.session() as session:
            session.watch(SELECTION)
            write(scene, "first")
            session.next(SECOND)
            for _ in range(20):
                scene.cluster.apply(
                    resource("Namespace", "x"),
                )
                scene.cluster.delete("Namespace", "x")
            scene.wait(quiet_for)
            scene.cluster.disconnect_watches()
            scene.wait(1)
            assert kinds(list(session.next(SECOND))) == expected


def test_a_stopped_watch_does_not_come_back(scene: Scene, session: SimulatedSession) -> None:
    scene.cluster.disconnect_watches()
    session.unwatch(SELECTION)
    write(scene, "second")
    assert not session.next(timedelta(seconds=2))


def test_a_list_that_need_not_be_fresh_lags(scene: Scene, session: SimulatedSession) -> None:
    assert session.in_flight == 0
    scene.wait(1)
    write(scene, "second")
    scene.cluster.delete("ConfigMap", "first", "shop")

    def names(*, fresh: bool) -> list[str]:

        result = scene.cluster.perform([List(SELECTION, fresh=fresh)])[0].result
        return [o.name for o in getattr(result, "items", ())]

    assert names(fresh=True) == ["second"]
    assert names(fresh=False) == ["first"]
    scene.wait(1)
    assert names(fresh=False) == ["second"]
