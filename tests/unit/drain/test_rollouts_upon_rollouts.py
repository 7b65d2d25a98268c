"""A rollout overtakes a rollout while pods are released: the Deployment's floor still holds.

The Deployment controller does not see released pods. It takes their replacements for old pods
that ail, and cleans those up first: their ReplicaSet goes to zero while nothing else is ready.
"""

import pytest

from evenkeel.model.request import Evict
from tests.fixtures.scene import Scene
from tests.unit.drain.manifests import Manifest, deployment

BOUNDS: Manifest = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 2}}


def version(cpu: str, ready_after: str) -> Manifest:
    annotations = {"evenkeel.test/ready-after": ready_after}
    return deployment("web", 3, pod={"cpu": cpu, "annotations": annotations}, strategy=BOUNDS)


@pytest.fixture
def begun(scene: Scene) -> Scene:
    """Three pods, released a second after the warning; their replacements take 22 s."""
    scene.add_node("s1")
    scene.apply(version("100m", "20s"))
    scene.settle(30)
    scene.add_node("o1", spot=False)
    scene.begin()
    scene.interrupt("s1")
    return scene


def test_the_last_released_pod_stays_until_a_rollout_has_a_pod_of_its_own(begun: Scene) -> None:
    old = [pod.name for pod in begun.pods("web")]
    begun.later(5, lambda: begun.apply(version("110m", "20s")))
    begun.later(8, lambda: begun.apply(version("120m", "20s")))

    begun.run(until=100)

    assert begun.lowest("web") == 1
    last = max(old, key=begun.gone_at)
    assert begun.story(last)[-2:] == ["8.0 wait RolloutPending", "28.0 delete ScaledToZero"]
    assert not any(pod.released for pod in begun.pods("web"))


def test_it_goes_at_its_last_moment_when_no_rollout_gets_that_far(begun: Scene) -> None:
    old = [pod.name for pod in begun.pods("web")]
    begun.later(5, lambda: begun.apply(version("110m", "1000s")))
    begun.later(8, lambda: begun.apply(version("120m", "1000s")))

    begun.run(until=130)

    last = max(old, key=begun.gone_at)
    assert begun.gone_at(last) == pytest.approx(88.9, abs=0.3)
    assert isinstance(begun.written(last)[-1].write, Evict)
