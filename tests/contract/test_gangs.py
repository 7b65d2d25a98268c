"""Kubernetes' own groups of pods: the scheduler places the minimum at once, or none of it."""

import pytest

from tests.contract.ground import Ground
from tests.contract.manifests import deployment, template
from tests.kit.control_plane import ControlPlane


@pytest.fixture
def control_plane(control_plane_with_gangs: ControlPlane) -> ControlPlane:
    """One whose scheduler knows groups."""
    if control_plane_with_gangs.pod_groups is None:
        pytest.skip("this Kubernetes has no groups of pods")
    return control_plane_with_gangs


def members(ground: Ground, replicas: int) -> None:
    """A Deployment of the group; each of its pods fills a node."""
    of_group = template("train", schedulingGroup={"podGroupName": "train"})
    ground.apply(deployment("train", of_group, replicas=replicas))
    ground.eventually(lambda: len(ground.pods()) == replicas)


def placed(ground: Ground) -> int:
    return sum(bool(each.spec.node_name) for each in ground.pods())


def test_a_gang_waits_until_its_minimum_fits_and_the_others_wait_by_themselves(
    ground: Ground,
) -> None:
    for name in "ab":
        ground.add_node(name, pods=1)
    ground.add_gang("train", 3)
    members(ground, 4)
    ground.never(lambda: placed(ground), seconds=10)
    ground.add_node("c", pods=1)
    ground.eventually(lambda: placed(ground) == 3)
    ground.never(lambda: placed(ground) > 3)
    ground.add_node("d", pods=1)
    ground.eventually(lambda: placed(ground) == 4)


def test_pods_wait_for_their_group(ground: Ground) -> None:
    ground.add_node("a")
    members(ground, 3)
    ground.never(lambda: placed(ground), seconds=5)
    ground.add_gang("train", 3)
    ground.eventually(lambda: placed(ground) == 3)


def test_a_gang_waits_until_there_are_enough_pods(ground: Ground) -> None:
    ground.add_node("a")
    ground.add_gang("train", 3)
    members(ground, 2)
    ground.never(lambda: placed(ground), seconds=5)
    members(ground, 3)
    ground.eventually(lambda: placed(ground) == 3)
