"""What a node says of who runs it."""

import pytest

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, Capacity
from evenkeel.model.node import Node, NodeMetadata, NodeSpec

VIRTUAL = {names.NODE_TYPE: names.VIRTUAL}
FARGATE = "aws:///eu-central-1a/5e5d8a9b01-c1ff/fargate-ip-10-0-1-2.eu-central-1.compute.internal"


def node(provider_id: str, **labels: str) -> Node:
    return Node(
        metadata=NodeMetadata(name="n", labels=labels), spec=NodeSpec(provider_id=provider_id)
    )


@pytest.mark.parametrize(
    ("found", "who"),
    [
        (node("aws:///eu-central-1a/i-0123456789abcdef0"), ""),
        (node("aws:///x/i-0123456789abcdef0", **{names.EKS_COMPUTE: "auto"}), ""),
        (node(""), ""),
        (node("", **{names.EKS_COMPUTE: "auto"}), ""),
        (node("", **{names.EKS_COMPUTE: "fargate"}), "fargate"),
        (node(FARGATE, **{names.EKS_COMPUTE: "fargate"}), "fargate"),
        (node("eks-hybrid:///eu-central-1/prod/mi-0", **{names.EKS_COMPUTE: "hybrid"}), "hybrid"),
        (node("gce://project/europe-west1-b/node"), "gce"),
        (node("azure:///subscriptions/0/vm/0"), "azure"),
        (node("k3s://server-0"), "k3s"),
        (node("", **VIRTUAL), "virtual-kubelet"),
    ],
)
def test_a_node_is_elsewhere_that_no_ec2_instance_runs(found: Node, who: str) -> None:
    assert found.elsewhere == who
    assert WELL_KNOWN.elsewhere(found) == who


@pytest.mark.parametrize("provider_id", ["gce://project/zone/node", "kind://docker/kind/worker"])
def test_a_label_says_what_such_a_node_counts_as(provider_id: str) -> None:
    spot, on_demand = (
        node(provider_id, **{names.CAPACITY_LABELS[-1]: value}) for value in ("spot", "on-demand")
    )
    assert WELL_KNOWN.of(spot) is Capacity.SPOT
    assert WELL_KNOWN.of(on_demand) is Capacity.ON_DEMAND
    assert not WELL_KNOWN.elsewhere(spot)


def test_without_one_a_node_of_another_cloud_is_not_counted_on() -> None:
    assert WELL_KNOWN.of(node("gce://project/zone/node")) is Capacity.SPOT
    assert WELL_KNOWN.of(node("", **{names.EKS_COMPUTE: "fargate"})) is Capacity.ON_DEMAND
    assert WELL_KNOWN.of(node("")) is Capacity.ON_DEMAND
