"""Pods with a mesh's sidecar: they get Ready late, and stop with their whole grace period."""

from tests.kit.manifests import Manifest, budget, deployment, stateful_set
from tests.kit.scene import Scene

PROXY = {"name": "istio-proxy", "restartPolicy": "Always", "resources": {}}
MESHED: Manifest = {
    "annotations": {"evenkeel.test/start-after": "8s", "evenkeel.test/stop-after": "30s"},
    "initContainers": [PROXY],
}


def test_none_is_missing_and_all_stop_before_the_node_is_lost(scene: Scene) -> None:
    old = scene.given(
        deployment("web", 3, pod=MESHED), budget("web", minAvailable="100%"), spare="o1", settle=30
    )

    scene.interrupt("s1").run(until=118)

    assert scene.lowest("web") == 3
    assert len(scene.pods("web", "o1")) == 3
    assert max(scene.gone_at(pod) for pod in old) < 15


def test_a_hint_takes_none_before_its_replacement_serves(scene: Scene) -> None:
    scene.given(deployment("web", 3, pod=MESHED), spare="o1", settle=30)

    scene.recommend("s1").run(until=120)

    assert scene.lowest("web") == 3
    assert not scene.pods("web", "s1")


def test_ordinals_that_stop_slowly_are_told_to_go_in_time(scene: Scene) -> None:
    """A turn takes 38 s, so there are two of them, and the third pod goes at its last moment."""
    old = scene.given(stateful_set("db", 3, pod=MESHED), spare="o1", settle=60)

    scene.interrupt("s1").run(until=118)

    assert max(scene.gone_at(pod) for pod in old) < 90
    assert scene.lowest("db") == 2
