"""What becomes of the pods of nodes whose kubelet is silent."""

from evenkeel.model.node import Node
from tests.contract.ground import Ground
from tests.contract.manifests import pod

COLLECTED = 120.0
"""Seconds within which the garbage collector has looked: 40 of quarantine, and its period."""


def test_the_pods_of_a_node_that_was_deleted_are_collected(ground: Ground) -> None:
    ground.add_node("healthy")
    silent = ground.add_silent_node("silent")
    ground.apply(pod("lost", nodeName=silent))
    ground.delete(ground.get(Node, silent))
    ground.never(lambda: not ground.pods(), seconds=10)
    ground.eventually(lambda: not ground.pods(), "collected", COLLECTED)
