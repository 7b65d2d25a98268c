"""Restore moves a gang as one, or not at all."""

from collections.abc import Callable
from typing import Any

from evenkeel.errors import ForbiddenError
from evenkeel.model import names
from evenkeel.model.gang import PodGroup
from evenkeel.model.request import List, Request
from tests.kit.manifests import Manifest, deployment
from tests.kit.restoring import RestoreScene


def gang(replicas: int, **pod: Any) -> tuple[Manifest, Manifest]:
    """A gang that one Deployment makes, and its group."""
    made = deployment("train", replicas, pod=pod, notes={names.ON_DEMAND: "none"})
    made["spec"]["template"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "train"
    metadata = {"name": "train", "namespace": "default"}
    group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup"}
    return group | {"metadata": metadata, "spec": {"minMember": replicas}}, made


def basic(replicas: int, floor: str) -> tuple[Manifest, Manifest]:
    """A Deployment whose pods are in a group, and are scheduled one by one."""
    made = deployment("train", replicas, notes={names.ON_DEMAND: floor})
    made["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "train"}
    metadata = {"name": "train", "namespace": "default"}
    group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup"}
    return group | {"metadata": metadata, "spec": {"schedulingPolicy": {"basic": {}}}}, made


def begin(scene: RestoreScene, *manifests: Manifest) -> None:
    """There are only on-demand nodes at first, as after a storm."""
    scene.place(*manifests, on="o0 o1")
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


def test_a_group_with_the_basic_policy_moves_pod_by_pod_to_its_floor(scene: RestoreScene) -> None:
    begin(scene, *basic(4, "1"))
    scene.add_nodes("s", 2, spot=True)
    scene.begin()
    scene.run(until=600)
    assert scene.split("train") == {"on-demand": 1, "spot": 3}


def test_a_group_that_the_api_server_does_not_show_is_a_gang(scene: RestoreScene) -> None:
    begin(scene, *basic(4, "1"))

    def refuse(request: Request, proceed: Callable[[], Any]) -> Any:
        if isinstance(request, List) and request.selection.kind is PodGroup:
            raise ForbiddenError("podgroups is forbidden")
        return proceed()

    scene.cluster.intercept(refuse)
    scene.add_nodes("s", 2, spot=True)
    scene.begin()
    scene.run(until=600)
    assert scene.split("train") == {"on-demand": 4}, "all or none"
