"""Restore moves a gang as one, or not at all."""

from typing import Any

from evenkeel.model import names
from tests.fixtures.restoring import RestoreScene
from tests.unit.drain.manifests import Manifest, deployment


def gang(replicas: int, **pod: Any) -> tuple[Manifest, Manifest]:
    """A gang that one Deployment makes, and its group."""
    made = deployment("train", replicas, pod=pod, notes={names.ON_DEMAND: "none"})
    made["spec"]["template"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "train"
    metadata = {"name": "train", "namespace": "default"}
    group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup"}
    return group | {"metadata": metadata, "spec": {"minMember": replicas}}, made


def begin(scene: RestoreScene, *manifests: Manifest) -> None:
    """There are only on-demand nodes at first, as after a storm."""
    scene.add_nodes("o", 2, spot=False)
    scene.apply(*manifests)
    scene.settle(15)
    assert scene.split("train") == {"on-demand": 4}


def test_when_spot_has_room_for_all_it_goes_there_in_one_run(scene: RestoreScene) -> None:
    begin(scene, *gang(4))
    scene.add_nodes("s", 2, spot=True)
    scene.begin()
    scene.run(until=150)
    assert scene.split("train") == {"spot": 4}
    assert scene.lowest("train") == 4, "each replacement is there before its pod goes"
    begun = {round(seconds) for seconds, decision in scene.told("AboveFloor")}
    assert len(begun) == 1, "at once"


def test_when_spot_has_room_for_some_none_moves(scene: RestoreScene) -> None:
    begin(scene, *gang(4, cpu="2"))
    scene.add_nodes("s", 1, spot=True)
    scene.begin()
    scene.run(until=300)
    assert scene.split("train") == {"on-demand": 4}
    assert scene.told("NoRoomForGang")
