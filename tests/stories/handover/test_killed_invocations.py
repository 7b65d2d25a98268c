"""A killed invocation: whatever it left half done, another goes on from the objects alone."""

import pytest

from evenkeel.model.request import Evict, Patch
from tests.kit.manifests import bare_pod, budget, deployment
from tests.kit.scene import BEGUN, Scene


@pytest.fixture
def pod(scene: Scene) -> str:
    """The only pod of a Deployment on s1; o1 has room for another."""
    scene.given(deployment("one"), budget("one", minAvailable=1), spare="o1")
    return scene.pod("one")


def test_its_message_comes_back_after_twenty_seconds_and_the_handover_goes_on(
    scene: Scene, pod: str
) -> None:
    scene.interrupt("s1").run(until=2)
    scene.crash()
    scene.run(until=60)

    assert scene.story(pod).order() == [*BEGUN, "evict ReplacementAvailable"]
    assert scene.gone_at(pod) == 21.0
    assert len(scene.told("ReplacementPending")) == 1  # not told from half a view
    assert [type(sent.write) for sent in scene.written(pod)] == [Patch, Evict]
    assert scene.lowest("one") == 1


def test_the_schedule_takes_over_from_the_dead_a_minute_after_a_held_lease(scene: Scene) -> None:
    (pod,) = scene.given(deployment("stuck"))
    scene.later(27, lambda: scene.interrupt("s1"))
    scene.run(until=29)
    scene.crash()
    scene.wake_ups._messages.clear()
    scene.run(until=91)

    assert scene.outcomes() == ["LeaseHeld"]
    assert len(scene.schedule.running) == 1
    scene.run(until=120)
    assert scene.gone_at(pod) == 115.9


def test_one_killed_again_and_again_still_meets_the_last_moment(scene: Scene) -> None:
    scene.given(bare_pod("alone"), deployment("stuck"))
    stuck = scene.pod("stuck")
    for second in (5, 25, 45, 65):
        scene.later(second, scene.crash)

    scene.interrupt("s1").run(until=110)

    assert scene.gone_at("alone") == 88.9
    assert scene.gone_at(stuck) == 88.9


@pytest.mark.parametrize(
    "killed",
    [1.025, 1.03],
    ids=["between making the namespace and making its Lease", "before it writes to a pod"],
)
def test_one_killed_early_has_lost_nothing(scene: Scene, pod: str, killed: float) -> None:
    scene.interrupt("s1").run(until=killed)
    assert scene.written(pod) == []
    scene.crash()
    scene.run(until=60)
    assert scene.gone_at(pod) < 25
    assert scene.lowest("one") == 1
