"""Which labels tell a node's capacity type, and what pods are given to ask for it."""

from collections.abc import Mapping

import pytest

from evenkeel.decisions.placement.clauses import (
    bears_spot,
    is_spot,
    not_spot,
    rather_on_demand,
    rather_spot,
)
from evenkeel.model import names
from evenkeel.model.affinity import NodeRequirement, NodeSelectorTerm, PreferredTerm, Toleration
from evenkeel.model.capacity import SPELLINGS, WELL_KNOWN, Capacity, CapacityLabels
from evenkeel.model.node import Node, NodeMetadata

OWN = CapacityLabels(("lifecycle", "example.com/life"))
GIVEN = CapacityLabels(("lifecycle",), values={"lifecycle": ("Ec2Spot",)})
SEVERAL = CapacityLabels(("lifecycle",), values={"lifecycle": ("true", "")})
KARPENTER, EKS = names.CAPACITY_LABELS[2], names.CAPACITY_LABELS[1]


def node(labels: Mapping[str, str]) -> Node:
    return Node(metadata=NodeMetadata(name="n", labels=dict(labels)))


@pytest.mark.parametrize(
    ("labels", "known", "capacity"),
    [
        ({KARPENTER: "spot"}, WELL_KNOWN, Capacity.SPOT),
        ({EKS: "SPOT"}, WELL_KNOWN, Capacity.SPOT),
        ({KARPENTER: "reserved"}, WELL_KNOWN, Capacity.ON_DEMAND),
        ({EKS: "ON_DEMAND", KARPENTER: "spot"}, WELL_KNOWN, Capacity.SPOT),
        ({"lifecycle": "spot"}, WELL_KNOWN, Capacity.ON_DEMAND),
        ({}, WELL_KNOWN, Capacity.ON_DEMAND),
        ({KARPENTER: "reserved", names.INTERRUPTIBLE: "true"}, WELL_KNOWN, Capacity.SPOT),
        ({KARPENTER: "reserved", names.INTERRUPTIBLE: "false"}, WELL_KNOWN, Capacity.ON_DEMAND),
        ({"lifecycle": "normal", names.INTERRUPTIBLE: "true"}, OWN, Capacity.SPOT),
        ({"lifecycle": "Spot"}, OWN, Capacity.SPOT),
        ({"lifecycle": "OnDemand", "example.com/life": "spot"}, OWN, Capacity.SPOT),
        ({"lifecycle": "OnDemand", "example.com/life": "what"}, OWN, Capacity.ON_DEMAND),
        ({"lifecycle": "Ec2Spot"}, GIVEN, Capacity.SPOT),
        ({"lifecycle": "spot"}, GIVEN, Capacity.SPOT),
        ({"lifecycle": "sPOT"}, GIVEN, Capacity.SPOT),
        ({"lifecycle": "true"}, SEVERAL, Capacity.SPOT),
        ({"lifecycle": ""}, SEVERAL, Capacity.SPOT),
        ({"lifecycle": "false"}, SEVERAL, Capacity.ON_DEMAND),
        ({"lifecycle": "normal"}, GIVEN, Capacity.ON_DEMAND),
        ({KARPENTER: "spot"}, OWN, Capacity.ON_DEMAND),
    ],
)
def test_any_label_that_calls_a_node_spot_makes_it_spot(
    labels: Mapping[str, str], known: CapacityLabels, capacity: Capacity
) -> None:
    assert known.of(node(labels)) is capacity
    assert known.call_spot(node(labels)) == (capacity is Capacity.SPOT)
    assert known.doubt_about(node(labels)) is None
    assert known.are_on(node(labels)) == any(key in known for key in labels)


@pytest.mark.parametrize("value", ["Ec2Spot", "true", "normal", "od", ""])
def test_a_value_that_says_neither_is_never_safe_and_not_called_spot(value: str) -> None:
    untold = node({"lifecycle": value})
    assert OWN.doubt_about(untold) == ("lifecycle", value)
    assert OWN.of(untold) is Capacity.SPOT
    assert not OWN.call_spot(untold)


def test_a_floor_keeps_off_nodes_whose_label_says_neither() -> None:
    labels = OWN.among([node({"lifecycle": "x"}), node({"lifecycle": "y"}), node({})])
    never = NodeRequirement(key="lifecycle", operator="NotIn", values=("x", "y"))
    assert not_spot(labels) == (*not_spot(OWN), never)
    assert is_spot(labels) == is_spot(OWN)
    assert bears_spot(labels) == bears_spot(OWN)


def test_the_setting_that_also_counts_a_value_as_spot_keeps_all_others() -> None:
    assert OWN.naming("lifecycle", "x") == "lifecycle=x,example.com/life"
    assert SEVERAL.naming("lifecycle", "x") == "lifecycle=true,lifecycle=,lifecycle=x"
    assert str(SEVERAL) == "lifecycle=true, lifecycle="


def test_a_spot_node_is_to_be_labelled_as_the_labels_say_spot() -> None:
    """KEY=spot counted as on-demand where KEY=true means spot."""
    assert (OWN.spot_label, SEVERAL.spot_label) == ("lifecycle=spot", "lifecycle=true")
    key, _, value = SEVERAL.spot_label.partition("=")
    assert SEVERAL.call_spot(node({key: value}))


def test_pods_ask_by_the_values_that_mean_spot() -> None:
    never, there = (
        NodeRequirement(key="lifecycle", operator=operator, values=("Ec2Spot", *SPELLINGS))
        for operator in ("NotIn", "In")
    )
    assert not_spot(GIVEN) == (never,)
    assert is_spot(GIVEN) == (there,)
    assert bears_spot(GIVEN) == tuple(
        Toleration(key="lifecycle", operator="Equal", value=value)
        for value in ("Ec2Spot", *SPELLINGS)
    )
    assert str(GIVEN) == "lifecycle=Ec2Spot"


def test_pods_ask_by_every_label_and_by_no_other() -> None:
    never = tuple(NodeRequirement(key=k, operator="NotIn", values=SPELLINGS) for k in OWN.keys)
    there = tuple(NodeRequirement(key=k, operator="In", values=SPELLINGS) for k in OWN.keys)
    assert not_spot(OWN) == never
    assert is_spot(OWN) == there
    assert rather_on_demand(OWN) == (_rather(*never),)
    assert rather_spot(OWN) == tuple(_rather(clause) for clause in there)
    assert bears_spot(OWN) == tuple(
        Toleration(key=key, operator="Equal", value=value)
        for key in OWN.keys
        for value in ("spot", "SPOT", "Spot")
    )
    assert str(OWN) == "lifecycle, example.com/life"


def test_pods_ask_for_or_against_interruptible_reservations_where_there_is_such_a_node() -> None:
    lent = node({KARPENTER: "reserved", names.INTERRUPTIBLE: "true"})
    labels = OWN.among([node({}), lent])
    never = NodeRequirement(key=names.INTERRUPTIBLE, operator="NotIn", values=("true",))
    there = NodeRequirement(key=names.INTERRUPTIBLE, operator="In", values=("true",))
    assert not_spot(labels) == (*not_spot(OWN), never)
    assert is_spot(labels) == (*is_spot(OWN), there)
    assert rather_on_demand(labels) == (_rather(*not_spot(OWN), never),)
    assert rather_spot(labels) == (*rather_spot(OWN), _rather(there))
    assert bears_spot(labels) == bears_spot(OWN)
    assert str(labels) == f"lifecycle, example.com/life, {names.INTERRUPTIBLE}"
    assert labels.among([node({KARPENTER: "spot"})]) == OWN


def _rather(*clauses: NodeRequirement) -> PreferredTerm:
    return PreferredTerm(weight=100, preference=NodeSelectorTerm(match_expressions=clauses))
