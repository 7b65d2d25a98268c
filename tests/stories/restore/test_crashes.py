"""Restore is killed after each of its writes; the schedule goes on from the objects."""

import pytest

from evenkeel.model import names
from tests.kit.manifests import MAJORITY, deployment, stateful_set
from tests.kit.restoring import RestoreScene


@pytest.mark.parametrize("number", range(1, 6))
def test_all_is_restored_whichever_write_was_its_last(scene: RestoreScene, number: int) -> None:
    workloads = (
        deployment("web", 4, notes={names.ON_DEMAND: "2"}),
        stateful_set("db", 3, notes=MAJORITY),
    )
    scene.given(*workloads, on="o0 o1 o2", spare="s0 s1")
    written = scene.die_after(number)
    scene.run(until=2400)
    assert written() > number
    assert scene.split("web") == {"on-demand": 2, "spot": 2}
    assert scene.split("db") == {"on-demand": 2, "spot": 1}
    assert scene.lowest("web") == 4
    assert scene.lowest("db") == 2
    assert scene.is_quiet


@pytest.mark.parametrize("number", range(1, 5))
def test_a_floor_is_relaxed_whichever_write_was_its_last(scene: RestoreScene, number: int) -> None:
    scene.given(deployment("web", 4, notes={names.ON_DEMAND: "3"}), on="s0 s1")
    written = scene.die_after(number)
    scene.run(until=700)
    assert written() >= number
    assert scene.split("web") == {"spot": 4}


def test_an_expired_recommendation_is_lifted_by_restores_wake_up(scene: RestoreScene) -> None:
    """And forgotten released pods go back: the reconciler has no schedule here."""
    scene.given(deployment("web", 1), on="s0")
    scene.schedule.stop()
    scene.recommend("s0").run(until=15)
    scene.crash()
    scene.wake_ups._messages.clear()
    assert scene.node("s0").has_taint(names.DOOMED)

    scene.run(until=15 * 60 + 120)

    assert not scene.node("s0").has_taint(names.DOOMED)
    (pod,) = scene.pods("web")
    assert not pod.released
