"""When all is done nothing is written any more, nor told again, nor much asked."""

from datetime import timedelta

import pytest

from evenkeel.model.request import Evict, Patch
from tests.kit.manifests import (
    bare_pod,
    budget,
    daemon_set,
    deployment,
    job,
    stateful_set,
)
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene


def everything(scene: Scene) -> None:
    """One workload for each way on s1, and room elsewhere."""
    scene.given(
        deployment("web", 3),
        budget("web", maxUnavailable=1),
        deployment("old", 2, strategy={"type": "Recreate"}),
        stateful_set("db", 2),
        job("sums"),
        bare_pod("alone"),
        daemon_set("agent"),
        spare="o1",
    )


@pytest.mark.parametrize("action", ["terminate", "stop"])
def test_nothing_is_written_after_the_end(scene: Scene, action: str) -> None:
    everything(scene)

    scene.interrupt("s1", action=action).run(until=400)
    assert scene.is_quiet
    before = len(scene.recorder.decisions)
    at = scene.seconds
    scene.run(until=1000)

    assert scene.written(after=at) == []
    assert scene.recorder.decisions[before:] == []


def test_every_wait_is_told_once_in_an_environment(scene: Scene) -> None:
    everything(scene)

    scene.interrupt("s1").run(until=400)

    told = [(d.subject.uid, d.verb, d.reason) for _, d in scene.told()]
    assert len(told) - len(set(told)) <= 4  # a second environment tells some again


def test_a_node_that_is_marked_and_idle_is_looked_at_once_a_minute(scene: Scene) -> None:
    """A stopped node keeps its mark for as long as it is stopped."""
    everything(scene)

    scene.interrupt("s1", action="stop").run(until=600)
    before = len(scene.requests)
    scene.run(until=1200)

    assert len(scene.requests) - before <= 10 * 25


def test_waiting_for_a_place_asks_for_little(make_scene: MakeScene) -> None:
    """A released pod whose replacement finds no place is watched, not polled for."""
    scene = make_scene(rebalance_expiry=timedelta(minutes=5))
    scene.given(deployment("stuck"))

    scene.recommend("s1").run(until=20)
    before = len(scene.requests)
    scene.run(until=280)

    assert (len(scene.requests) - before) / 260 < 4


def test_a_last_moment_asks_and_writes_each_thing_once(scene: Scene) -> None:
    pods = scene.given(deployment("many", 50), room={"s1": "40"})

    scene.interrupt("s1").run(until=119)

    for pod in pods:
        assert [type(sent.write) for sent in scene.writes if sent.name == pod] == [Patch, Evict]
