"""What becomes of nodes whose kubelet is silent, and of the pods on them."""

import pytest

from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from tests.contract.ground import Ground
from tests.contract.manifests import Manifest, pod

UNREACHABLE = "node.kubernetes.io/unreachable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
NOTICED = 120.0
"""Seconds within which a silent node counts as unreachable."""
COLLECTED = 120.0
"""Seconds within which the garbage collector has looked: 40 of quarantine, and its period."""


@pytest.fixture
def silent(ground: Ground) -> str:
    """A silent node beside one that reports: were all silent, no pod would be told to go."""
    ground.add_node("healthy")
    return ground.add_silent_node("silent")


def on(node: str, name: str, seconds: int | None = None) -> Manifest:
    """A pod on a node, which tolerates for so long that it is unreachable; None: for ever."""
    bound = {} if seconds is None else {"tolerationSeconds": seconds}
    tolerations = [
        {"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute", **bound},
        {"key": OUT_OF_SERVICE, "operator": "Exists"},
    ]
    return pod(name, nodeName=node, tolerations=tolerations)


def unreachable(ground: Ground, name: str) -> None:
    """Wait until a node is tainted for being silent."""
    ground.eventually(
        lambda: (
            {t.effect for t in ground.get(Node, name).spec.taints if t.key == UNREACHABLE}
            == {"NoSchedule", "NoExecute"}
        ),
        f"{name} unreachable",
        NOTICED,
    )


def leaves(ground: Ground, name: str) -> None:
    """Wait until a pod is told to go."""
    ground.eventually(lambda: not ground.get(Pod, name).active, f"{name} told to go")


def test_a_silent_node_is_tainted_and_its_pods_go_when_they_tolerate_it_no_longer(
    ground: Ground, silent: str
) -> None:
    ground.apply(on(silent, "patient"), on(silent, "impatient", 3))
    unreachable(ground, silent)
    ground.never(lambda: not ground.get(Pod, "impatient").active, seconds=1)
    leaves(ground, "impatient")
    (why,) = [
        c for c in ground.get(Pod, "impatient").status.conditions if c.type == "DisruptionTarget"
    ]
    assert why.status == "True"
    assert ground.get(Pod, "patient").active


def test_a_pod_that_leaves_a_silent_node_stays_until_the_node_is_out_of_service(
    ground: Ground, silent: str
) -> None:
    ground.apply(on(silent, "stays"), on(silent, "leaves", 0))
    unreachable(ground, silent)
    leaves(ground, "leaves")
    ground.never(lambda: len(ground.pods()) != 2, seconds=1)
    taints = [{"key": t.key, "effect": t.effect} for t in ground.get(Node, silent).spec.taints]
    mark = {"key": OUT_OF_SERVICE, "effect": "NoExecute"}
    ground.patch(Node, silent, {"spec": {"taints": [*taints, mark]}})
    ground.eventually(lambda: [p.name for p in ground.pods()] == ["stays"], "collected", COLLECTED)


def test_the_pods_of_a_node_that_was_deleted_are_collected(ground: Ground, silent: str) -> None:
    ground.apply(on(silent, "lost"))
    ground.delete(ground.get(Node, silent))
    ground.never(lambda: not ground.pods(), seconds=10)
    ground.eventually(lambda: not ground.pods(), "collected", COLLECTED)
