"""The scheduler places the minimum of a gang at once, or none of it."""

from typing import Any

import pytest

from evenkeel_sandbox.simulator.api.objects import node_of
from tests.unit.sandbox.simulator.scene import Scene, node, workload

GROUP = {"scheduling.x-k8s.io/pod-group": "train"}


def group(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "train", "namespace": "shop"}
    return {"apiVersion": "x/v1", "kind": "PodGroup", "metadata": metadata, "spec": spec}


def members(replicas: int) -> dict[str, Any]:
    """A Deployment of the group, whose pods need a node each."""
    made = workload("Deployment", "train", replicas=replicas)
    template = made["spec"]["template"]
    template["metadata"]["labels"] |= GROUP
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": template["metadata"]["labels"]},
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    template["spec"]["affinity"] = {"podAntiAffinity": required}
    return made


def placed(scene: Scene) -> int:
    return sum(bool(node_of(pod)) for pod in scene.pods())


@pytest.mark.parametrize(
    "spec", [{"minMember": 3}, {"schedulingPolicy": {"gang": {"minCount": 3}}}]
)
def test_it_waits_until_the_minimum_fits(spec: dict[str, Any]) -> None:
    scene = Scene(2)
    for number in range(2):
        labels = {"kubernetes.io/hostname": f"n{number}"}
        scene.cluster.apply(node(f"n{number}", labels=labels))
    scene.cluster.apply(group(**spec), members(4))
    scene.wait(30)
    assert placed(scene) == 0
    scene.cluster.apply(node("n2", labels={"kubernetes.io/hostname": "n2"}))
    scene.wait(30)
    assert placed(scene) == 3, "the fourth waits by itself"


def test_it_waits_for_enough_pods_and_for_the_group() -> None:
    scene = Scene(4)
    scene.cluster.apply(workload("Deployment", "train", replicas=2))
    made = members(2)
    del made["spec"]["template"]["spec"]["affinity"]
    made["metadata"]["name"] = "gang"
    scene.cluster.apply(made)
    scene.wait(30)
    assert placed(scene) == 2, "there is no group yet"
    scene.cluster.apply(group(minMember=3))
    scene.wait(30)
    assert placed(scene) == 2, "of three there are two"
    scene.cluster.server.patch("Deployment", ("shop", "gang"), {"spec": {"replicas": 3}})
    scene.wait(30)
    assert placed(scene) == 5
