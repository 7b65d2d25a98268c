"""Restore moves a gang as one, or not at all."""

from evenkeel.errors import ForbiddenError
from evenkeel.model import names
from evenkeel.model.gang import PodGroup
from evenkeel.model.request import List
from tests.kit.asking import asks
from tests.kit.manifests import Manifest, deployment, resource
from tests.kit.restoring import RestoreScene


def gang(replicas: int) -> tuple[Manifest, Manifest]:
    """A gang that one Deployment makes, and its group."""
    made = deployment("train", replicas, notes={names.ON_DEMAND: "none"})
    made["spec"]["template"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "train"
    return resource("PodGroup", "train", "default", spec={"minMember": replicas}), made


def basic(replicas: int, floor: str) -> tuple[Manifest, Manifest]:
    """A Deployment whose pods are in a group, and are scheduled one by one."""
    made = deployment("train", replicas, notes={names.ON_DEMAND: floor})
    made["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "train"}
    group = resource("PodGroup", "train", "default", spec={"schedulingPolicy": {"basic": {}}})
    return group | {"apiVersion": "scheduling.k8s.io/v1beta1"}, made


def begin(scene: RestoreScene, *manifests: Manifest) -> None:
    """There are only on-demand nodes at first, as after a storm."""
    scene.place(*manifests, on="o0 o1")
    assert scene.split("train") == {"on-demand": 4}


def test_when_spot_has_room_for_all_it_goes_there_in_one_run(scene: RestoreScene) -> None:
    begin(scene, *gang(4))
    scene.given(on="s0 s1")
    scene.run(until=150)
    assert scene.split("train") == {"spot": 4}
    assert scene.lowest("train") == 4, "each replacement is there before its pod goes"
    begun = {round(seconds) for seconds, decision in scene.told("AboveFloor")}
    assert len(begun) == 1, "at once"


def test_a_group_with_the_basic_policy_moves_pod_by_pod_to_its_floor(scene: RestoreScene) -> None:
    begin(scene, *basic(4, "1"))
    scene.given(on="s0 s1")
    scene.run(until=600)
    assert scene.split("train") == {"on-demand": 1, "spot": 3}


def test_a_group_that_the_api_server_does_not_show_is_a_gang(scene: RestoreScene) -> None:
    begin(scene, *basic(4, "1"))
    scene.fail(ForbiddenError("podgroups is forbidden"), asks(List, of=PodGroup))
    scene.given(on="s0 s1")
    scene.run(until=600)
    assert scene.split("train") == {"on-demand": 4}, "all or none"
