"""Nodes whose labels do not tell their capacity type, by what they say."""

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels
from evenkeel.model.node import Node, NodeMetadata
from evenkeel_cli.decisions.unknown_capacity import UnknownCapacity, of_unknown_capacity

LABELS = CapacityLabels(("lifecycle",))


def node(name: str, **labels: str) -> Node:
    return Node(metadata=NodeMetadata(name=name, labels=labels))


def test_nodes_are_named_by_the_label_that_says_neither_type() -> None:
    nodes = [
        node("d", lifecycle="Ec2Spot"),
        node("c", lifecycle="Ec2Spot"),
        node("e", lifecycle="normal"),
        node("b"),
        node("a", disk="ssd"),
        node("f", lifecycle="spot"),
        node("g", lifecycle="on-demand"),
    ]
    doubtful = {"lifecycle=Ec2Spot": ["c", "d"], "lifecycle=normal": ["e"]}
    assert of_unknown_capacity(nodes, LABELS) == UnknownCapacity(["a", "b"], doubtful)
    assert of_unknown_capacity([node("f", lifecycle="spot")], LABELS) == UnknownCapacity([], {})


def test_nodes_in_capacity_blocks_are_named_though_they_count_as_on_demand() -> None:
    by_eks = {names.EKS_CAPACITY: "CAPACITY_BLOCK"}
    by_karpenter = {names.KARPENTER_CAPACITY: "reserved", names.RESERVATION_TYPE: "capacity-block"}
    lasting = {names.KARPENTER_CAPACITY: "reserved", names.RESERVATION_TYPE: "default"}
    nodes = [node("b", **by_eks), node("a", **by_karpenter), node("c", **lasting)]
    assert of_unknown_capacity(nodes, WELL_KNOWN) == UnknownCapacity([], blocks=("a", "b"))
    assert {WELL_KNOWN.of(each) for each in nodes} == {Capacity.ON_DEMAND}


def test_nodes_that_no_ec2_instance_runs_are_named_by_what_runs_them() -> None:
    fargate = {names.EKS_COMPUTE: "fargate"}
    nodes = [node("b", **fargate), node("a", **fargate), node("c", lifecycle="spot", **fargate)]
    assert of_unknown_capacity(nodes, LABELS) == UnknownCapacity([], {}, {"fargate": ["a", "b"]})
