"""Groups of the coscheduling plugin, which no control plane of the tests has.

Kubernetes' own groups ``tests/contract`` holds to a real scheduler; these differ in one field.
"""

from evenkeel_sandbox.simulator.api.objects import node_of
from tests.kit.manifests import resource
from tests.unit.sandbox.simulator.scene import Scene, template, workload


def test_the_least_number_of_a_coscheduling_group_is_placed_at_once() -> None:
    scene = Scene(2)
    scene.cluster.apply(resource("PodGroup", "train", "shop", spec={"minMember": 3}))
    pods = template("train")
    pods["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "train"
    scene.cluster.apply(workload("Deployment", "train", pods, replicas=2))
    scene.wait(30)
    assert not any(node_of(pod) for pod in scene.pods())
    scene.cluster.scale("Deployment", "train", "shop", 3)
    scene.wait(30)
    assert all(node_of(pod) for pod in scene.pods())
