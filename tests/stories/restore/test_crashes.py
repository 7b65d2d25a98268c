"""Restore is killed after each of its writes; the schedule goes on from the objects."""

from collections.abc import Callable
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.request import Create, Delete, Evict, Patch, Request
from tests.kit.manifests import deployment, stateful_set
from tests.kit.restoring import RestoreScene


def kill_after(scene: RestoreScene, number: int) -> Callable[[], int]:
    """Kill restore when so many of its writes were accepted; answers how many there were."""
    written = 0

    def pass_on(request: Request, proceed: Callable[[], Any]) -> Any:
        nonlocal written
        answer = proceed()
        if isinstance(request, Patch | Create | Delete | Evict) and scene.restoring.running:
            written += 1
            if written == number:
                for process in scene.restoring.running:
                    process.kill()
        return answer

    scene.cluster.intercept(pass_on)
    return lambda: written


@pytest.mark.parametrize("number", range(1, 6))
def test_all_is_restored_whichever_write_was_its_last(scene: RestoreScene, number: int) -> None:
    scene.given(
        deployment("web", 4, notes={names.ON_DEMAND: "2"}),
        stateful_set("db", 3),
        on="o0 o1 o2",
        spare="s0 s1",
    )
    written = kill_after(scene, number)

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
    written = kill_after(scene, number)

    scene.run(until=700)

    assert written() >= number
    assert scene.split("web") == {"spot": 4}


def test_a_recommendation_that_has_expired_is_lifted_by_restores_wake_up(
    scene: RestoreScene,
) -> None:
    """And forgotten released pods go back: the reconciler has no schedule here."""
    scene.given(deployment("web", 1), on="s0")
    scene.schedule.stop()
    scene.recommend("s0").run(until=15)
    scene.crash()
    scene.wake_ups._messages.clear()
    assert scene.node("s0").spec.unschedulable

    scene.run(until=15 * 60 + 120)

    assert not scene.node("s0").spec.unschedulable
    (pod,) = scene.pods("web")
    assert not pod.released
