"""What happens when machines go and come back.

What controllers make of a silent node ``tests/contract`` shows.
"""

import pytest

from evenkeel_sandbox.simulator.api.objects import (
    node_of,
)
from tests.unit.sandbox.simulator.scene import SECOND, Scene, node, template, workload

CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}


@pytest.fixture
def scene() -> Scene:
    """Two nodes, and a StatefulSet of one with a volume that one node can use at a time."""
    scene = Scene(2)
    scene.cluster.apply(workload("StatefulSet", "db", volumeClaimTemplates=[CLAIM]))
    scene.wait(5)
    assert scene.ready() == 1
    return scene


def lose(scene: Scene) -> str:
    """Kill the node of the only pod; answers its name."""
    name = node_of(scene.pods()[0])
    scene.cluster.kill_node(name)
    return name


def test_a_node_goes_when_its_machine_is_terminated(scene: Scene) -> None:
    name = node_of(scene.pods()[0])
    scene.cluster.kill_node(name, remove_after=30 * SECOND)
    scene.wait(29)
    assert len(scene.cluster.objects("Node")) == 2
    scene.wait(2)
    assert [n["metadata"]["name"] for n in scene.cluster.objects("Node")] != [name]


def test_a_volume_waits_for_minutes_when_the_node_is_not_said_to_be_off(scene: Scene) -> None:
    lose(scene)
    scene.wait(60)
    scene.cluster.delete("Pod", "db-0", "shop", grace=0)
    scene.wait(60)
    assert scene.ready() == 0
    (event,) = [e for e in scene.cluster.objects("Event") if e["reason"] == "FailedAttachVolume"]
    assert "Multi-Attach" in event["message"]
    scene.wait(360)
    assert scene.ready() == 1


def test_pods_start_again_when_their_node_comes_back(scene: Scene) -> None:
    name = lose(scene)
    scene.wait(60)
    assert scene.ready() == 0
    scene.cluster.start_node(name)
    scene.wait(5)
    assert scene.ready() == 1
    assert "taints" not in scene.one("Node", name)["spec"]


def test_a_pod_takes_the_place_of_one_that_kept_it_off_once_that_is_gone_with_its_node() -> None:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    scene = Scene(0)
    scene.cluster.apply(node("old", labels={"zone": "a"}))
    scene.cluster.apply(workload("Deployment", "web", template("web", affinity=apart), replicas=1))
    scene.wait(5)
    scene.cluster.apply(node("new", labels={"zone": "a"}))
    scene.cluster.scale("Deployment", "web", "shop", 2)
    scene.wait(20)
    assert scene.ready() == 1
    scene.cluster.kill_node("old", remove_after=SECOND)
    scene.wait(120)
    assert "new" in {node_of(pod) for pod in scene.pods()}
