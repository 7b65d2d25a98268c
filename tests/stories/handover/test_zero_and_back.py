"""An autoscaler, such as KEDA, writes 0 to ``/scale`` while pods are handed over, and n again.

KEDA writes 0 after its cooldown, and minReplicaCount, or 1, when there is work again (read).
https://github.com/kedacore/keda/blob/main/pkg/scaling/executor/scale_scaledobjects.go
"""

from functools import partial

import pytest

from evenkeel.model.request import Delete, Evict
from tests.kit.manifests import Manifest, deployment
from tests.kit.scene import Scene

SLOW: Manifest = {"annotations": {"evenkeel.test/ready-after": "20s"}}
"""A replacement takes 22 s."""
SIZE = 3


def zero_and_back(scene: Scene, at: float, rest: float) -> None:
    """Scale to zero at a time, and back after a rest of so many seconds."""
    for seconds, replicas in ((at, 0), (at + rest, SIZE)):
        scene.later(seconds, partial(scene.cluster.scale, "Deployment", "web", "default", replicas))


def all_is_well(scene: Scene, old: list[str]) -> None:
    """Nothing is left of a handover, and the pods that came back were left alone."""
    pods = scene.pods("web")
    assert [pod.name for pod in pods if pod.released] == []
    assert [pod.ready for pod in pods] == [True] * SIZE
    touched = {s.name for s in scene.writes if isinstance(s.write, Evict | Delete)}
    assert touched.isdisjoint({pod.name for pod in pods} - set(old))
    assert scene.is_quiet


@pytest.mark.parametrize("rest", [0.05, 0.5, 2, 30])
@pytest.mark.parametrize("at", [0.05, 0.6, 1, 10, 22.5, 23.5])
def test_on_a_warning(scene: Scene, at: float, rest: float) -> None:
    old = scene.given(deployment("web", SIZE, pod=SLOW), spare="o1", settle=30)
    scene.interrupt("s1")
    zero_and_back(scene, at, rest)
    scene.run(until=118)
    assert [pod.spec.node_name for pod in scene.pods("web")] == ["o1"] * SIZE
    scene.run(until=400)
    all_is_well(scene, old)


@pytest.mark.parametrize("rest", [0.05, 2, 30])
@pytest.mark.parametrize("at", [0.6, 10, 23.5])
def test_on_a_hint(scene: Scene, at: float, rest: float) -> None:
    old = scene.given(deployment("web", SIZE, pod=SLOW), spare="o1", settle=30)
    scene.recommend("s1")
    zero_and_back(scene, at, rest)
    scene.run(until=1_200)
    all_is_well(scene, old)


def test_at_zero_when_the_warning_comes(scene: Scene) -> None:
    old = scene.given(deployment("web", 0, pod=SLOW), spare="o1", settle=30)
    scene.interrupt("s1")
    scene.later(5, lambda: scene.cluster.scale("Deployment", "web", "default", SIZE))
    scene.run(until=400)
    assert [pod.spec.node_name for pod in scene.pods("web")] == ["o1"] * SIZE
    all_is_well(scene, old)


def test_again_and_again(scene: Scene) -> None:
    old = scene.given(deployment("web", SIZE, pod=SLOW), spare="o1", settle=30)
    scene.interrupt("s1")
    for at in range(1, 80, 5):
        zero_and_back(scene, at, 2.5)
    scene.run(until=118)
    assert [pod.spec.node_name for pod in scene.pods("web")] == ["o1"] * SIZE
    scene.run(until=400)
    all_is_well(scene, old)
