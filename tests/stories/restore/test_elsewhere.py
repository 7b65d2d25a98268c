"""Nodes that no EC2 instance runs, and schedulers of which nothing is known, over an hour each."""

from collections import Counter
from collections.abc import Mapping

import pytest

from evenkeel.model import names
from tests.kit.manifests import Manifest, deployment, resource
from tests.kit.restoring import RestoreScene
from tests.stories.restore.pools import MINUTE

HYBRID = {names.EKS_COMPUTE: "hybrid"}
KINDS = {
    "hybrid": (HYBRID, "eks-hybrid:///eu-central-1/prod/mi-0"),
    "another cloud": ({}, "gce://project/europe-west1-b/node"),
    "virtual": ({names.NODE_TYPE: names.VIRTUAL}, ""),
}


def web(floor: int, scheduler: str = "") -> Manifest:
    """A Deployment of three with a floor."""
    made = deployment("web", 3, notes={names.ON_DEMAND: str(floor)})
    if scheduler:
        made["spec"]["template"]["spec"]["schedulerName"] = scheduler
    return made


def add_elsewhere(scene: RestoreScene, name: str, labels: Mapping[str, str], runs: str) -> None:
    """Add a Ready node that no EC2 instance runs."""
    made = resource(
        "Node", name, labels={"kubernetes.io/hostname": name, **labels}, spec={"providerID": runs}
    )
    scene.cluster.apply(made)


def on_nodes(scene: RestoreScene) -> Mapping[str, int]:
    return Counter(pod.spec.node_name for pod in scene.pods("web") if pod.active)


def reasons(scene: RestoreScene) -> set[str]:
    """Why restore left the workload."""
    told = (each for _, each in scene.told() if each.workload is not None and not each.write)
    return {each.reason for each in told if each.workload is not None}


@pytest.mark.parametrize(("labels", "runs"), KINDS.values(), ids=KINDS)
def test_pods_stay_on_such_a_node(scene: RestoreScene, labels: dict[str, str], runs: str) -> None:
    add_elsewhere(scene, "e1", labels, runs)
    scene.place(web(1), on="")
    for name, spot in (("s1", True), ("o1", False)):
        scene.add_node(name, spot=spot)
    scene.begin()
    scene.run(until=60 * MINUTE)

    assert on_nodes(scene) == {"e1": 3}
    assert "NotOnEc2" in reasons(scene)


@pytest.mark.parametrize(("labels", "runs"), KINDS.values(), ids=KINDS)
def test_what_is_above_a_floor_does_not_go_to_such_a_node(
    scene: RestoreScene, labels: dict[str, str], runs: str
) -> None:
    scene.add_node("o1", spot=False)
    scene.place(web(3), on="")
    add_elsewhere(scene, "e1", labels, runs)
    scene.apply(web(1))
    scene.begin()
    scene.run(until=60 * MINUTE)

    assert on_nodes(scene)["o1"] == 3
    assert not on_nodes(scene)["e1"]


def test_pods_of_fargate_are_not_moved(scene: RestoreScene) -> None:
    scene.add_node("s1")
    scene.place(web(0, "fargate-scheduler"), on="")
    scene.add_node("o1", spot=False)
    scene.apply(web(1, "fargate-scheduler"))
    scene.begin()
    scene.run(until=60 * MINUTE)

    assert on_nodes(scene) == {"s1": 3}
    assert "OtherScheduler" in reasons(scene)
