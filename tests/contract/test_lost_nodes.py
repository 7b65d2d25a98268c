"""What becomes of nodes whose kubelet is silent, and of their pods."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from evenkeel.model.names import OUT_OF_SERVICE
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from tests.contract.ground import Ground
from tests.contract.manifests import pod
from tests.kit.control_plane import ControlPlane

COLLECTED = 120.0
"""Seconds within which the garbage collector has looked: 40 of quarantine, and its period."""
MISSED = 120.0
"""Seconds within which a silent node is tainted: 30 or 50 of grace, and one node each 10 s."""
UNREACHABLE = "node.kubernetes.io/unreachable"
BOTH = {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")}
FINALIZER = "example.org/kept"


@pytest.fixture
def control_plane(control_plane_with_gangs: ControlPlane) -> ControlPlane:
    """One that misses a silent node soon."""
    return control_plane_with_gangs


def lost_node(ground: Ground) -> str:
    """A silent node beside a healthy one: of a zone that is lost as a whole no pod is told."""
    ground.add_node("healthy")
    return ground.add_silent_node("silent")


def add(ground: Ground, name: str, node: str, **spec: Any) -> None:
    """A pod that was Ready on a node when it was last heard of."""
    ground.apply(pod(name, nodeName=node, **spec))
    ground.run_by_hand(name)


def taints(ground: Ground, node: str) -> set[tuple[str, str]]:
    return {(each.key, each.effect) for each in ground.get(Node, node).spec.taints}


@contextmanager
def kept(ground: Ground, node: str) -> Iterator[None]:
    """A pod whose object stays when it is deleted, so that its last state can be read."""
    manifest = pod("kept", nodeName=node)
    manifest["metadata"]["finalizers"] = [FINALIZER]
    ground.apply(manifest)
    ground.run_by_hand("kept")
    try:
        yield
    finally:
        ground.patch(Pod, "kept", {"metadata": {"finalizers": None}})


def reasons(ground: Ground) -> list[str]:
    conditions = ground.get(Pod, "kept").status.conditions
    return [each.reason for each in conditions if each.type == "DisruptionTarget"]


def test_a_silent_node_is_tainted_and_its_pods_go_when_they_do_not_tolerate_it_any_more(
    ground: Ground,
) -> None:
    silent = lost_node(ground)
    briefly = {
        "key": UNREACHABLE,
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 5,
    }
    add(ground, "briefly", silent, tolerations=[briefly])
    add(ground, "usual", silent)
    ground.never(lambda: taints(ground, silent), seconds=20)
    ground.eventually(lambda: taints(ground, silent) == BOTH, "tainted", MISSED)
    (ready,) = [c for c in ground.get(Node, silent).status.conditions if c.type == "Ready"]
    assert ready.status == "Unknown"
    ground.eventually(lambda: not any(each.ready for each in ground.pods()), seconds=10)
    ground.eventually(lambda: ground.get(Pod, "briefly").leaving, seconds=20)
    ground.never(lambda: len(ground.pods()) < 2, seconds=5)
    assert not ground.get(Pod, "usual").leaving


def test_a_node_that_is_heard_of_again_loses_its_taints(ground: Ground) -> None:
    silent = lost_node(ground)
    ground.report(silent, "Unknown")
    ground.eventually(lambda: taints(ground, silent) == BOTH, "tainted", MISSED)
    ground.report(silent, "True")
    ground.eventually(lambda: not taints(ground, silent), "free of taints", MISSED)


def test_a_pod_that_goes_is_collected_when_its_node_is_out_of_service(ground: Ground) -> None:
    silent = lost_node(ground)
    ground.report(silent, "Unknown")
    with kept(ground, silent):
        ground.delete(ground.get(Pod, "kept"))
        ground.never(lambda: ground.get(Pod, "kept").status.phase == "Failed", seconds=5)
        ground.taint(silent, {"key": OUT_OF_SERVICE, "effect": "NoExecute"})
        ground.eventually(
            lambda: ground.get(Pod, "kept").status.phase == "Failed", "failed", COLLECTED
        )
        ground.eventually(
            lambda: ground.get(Pod, "kept").metadata.deletion_grace_period_seconds == 0
        )
        assert reasons(ground) == ["DeletionByTaintManager"]
    ground.eventually(lambda: not ground.pods())


def test_the_pods_of_a_node_that_was_deleted_are_collected(ground: Ground) -> None:
    silent = lost_node(ground)
    ground.apply(pod("lost", nodeName=silent))
    with kept(ground, silent):
        ground.delete(ground.get(Node, silent))
        ground.never(lambda: len(ground.pods()) < 2, seconds=10)
        ground.eventually(lambda: len(ground.pods()) < 2, "collected", COLLECTED)
        ground.eventually(lambda: ground.get(Pod, "kept").status.phase == "Failed")
        assert reasons(ground) == ["DeletionByPodGC"]
