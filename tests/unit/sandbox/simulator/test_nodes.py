"""What happens when machines go, and to the volumes that were attached to them."""

import pytest

from evenkeel_sandbox.simulator.api.objects import (
    condition_of,
    is_leaving,
    is_ready,
    is_true,
    node_of,
)
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.kit.manifests import resource
from tests.unit.sandbox.simulator.scene import SECOND, Scene, pod, template, workload

OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
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


def taint(scene: Scene, name: str) -> None:
    taints = scene.one("Node", name)["spec"].get("taints", [])
    scene.cluster.apply(resource("Node", name, spec={"taints": [*taints, OUT_OF_SERVICE]}))


def test_a_silent_node_becomes_unreachable_and_its_pods_not_ready(scene: Scene) -> None:
    name = lose(scene)
    scene.wait(45)
    assert is_true(scene.one("Node", name), "Ready"), "nobody has missed it yet"
    assert scene.ready() == 1
    scene.wait(10)
    lost = scene.one("Node", name)
    assert (condition_of(lost, "Ready") or {})["status"] == "Unknown"
    assert {(t["key"], t["effect"]) for t in lost["spec"]["taints"]} == {
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
    }
    assert scene.ready() == 0


def test_a_pod_on_a_dead_node_is_deleted_after_its_toleration_and_stays_leaving(
    scene: Scene,
) -> None:
    lose(scene)
    scene.wait(340)
    assert not is_leaving(scene.pods()[0])
    scene.wait(60)
    (stuck,) = scene.pods()
    assert is_leaving(stuck)
    scene.wait(600)
    assert scene.pods()[0]["metadata"]["uid"] == stuck["metadata"]["uid"], "no kubelet ends it"


def test_an_ordinal_returns_when_its_dead_node_is_out_of_service(scene: Scene) -> None:
    name = lose(scene)
    scene.wait(60)
    taint(scene, name)
    scene.wait(40)
    (new,) = scene.pods()
    assert node_of(new) != name
    assert is_ready(new), "its volume was detached at once"


def test_an_ordinal_returns_when_its_node_object_is_deleted(scene: Scene) -> None:
    name = lose(scene)
    scene.cluster.delete("Node", name)
    scene.wait(30)
    assert node_of(scene.pods()[0]) == name, "pods of a missing node are quarantined"
    scene.wait(60)
    assert [node_of(p) == name for p in scene.pods()] == [False]
    assert scene.ready() == 1


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


def test_a_second_pod_waits_when_the_first_uses_the_volume_on_another_node() -> None:
    scene = Scene(2, SimulatorOptions(seed=3))
    scene.cluster.apply(
        resource("PersistentVolumeClaim", "data", "shop", spec={"accessModes": ["ReadWriteOnce"]})
    )
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    hostname = "kubernetes.io/hostname"
    for i in range(2):
        scene.cluster.apply(resource("Node", f"n{i}", labels={hostname: f"n{i}"}))
    scene.cluster.apply(pod("first", volumes=volumes, nodeSelector={hostname: "n0"}))
    scene.wait(5)
    scene.cluster.apply(pod("same-node", volumes=volumes, nodeSelector={hostname: "n0"}))
    scene.cluster.apply(pod("other-node", volumes=volumes, nodeSelector={hostname: "n1"}))
    scene.wait(30)

    def ready() -> set[str]:
        return {p["metadata"]["name"] for p in scene.pods() if is_ready(p)}

    assert ready() == {"first", "same-node"}
    scene.cluster.delete("Pod", "first", "shop")
    scene.wait(5)
    assert ready() == {"same-node"}, "the node still uses it"
    scene.cluster.delete("Pod", "same-node", "shop")
    scene.wait(5)
    assert ready() == {"other-node"}


def test_pods_start_again_when_their_node_comes_back(scene: Scene) -> None:
    name = lose(scene)
    scene.wait(60)
    assert scene.ready() == 0
    scene.cluster.start_node(name)
    scene.wait(5)
    assert scene.ready() == 1
    assert "taints" not in scene.one("Node", name)["spec"]


def test_a_replica_is_made_elsewhere_only_when_the_lost_one_is_deleted() -> None:
    scene = Scene(2)
    scene.cluster.apply(workload("Deployment", "web", template("web")))
    scene.wait(5)
    lost = node_of(scene.pods()[0])
    scene.cluster.kill_node(lost)
    scene.wait(300)
    assert [node_of(p) for p in scene.pods()] == [lost], "its ReplicaSet still counts it"
    scene.wait(100)
    assert scene.ready() == 1
    assert {node_of(p) for p in scene.pods() if is_ready(p)} != {lost}
