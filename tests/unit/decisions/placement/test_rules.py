"""Which capacity types a pod's own rules allow."""

from typing import Any

import pytest

from evenkeel.decisions.placement.rules import allowed_by, preferred_by
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels
from tests.unit.decisions.placement.pods import KEYS, clause, new_pod, required, term

BOTH = {Capacity.SPOT, Capacity.ON_DEMAND}
SPOT, ON_DEMAND = {Capacity.SPOT}, {Capacity.ON_DEMAND}
KEY = KEYS[2]
ZONE = clause("topology.kubernetes.io/zone", "In", "a")
LENT = names.INTERRUPTIBLE


def lent(operator: str, *values: str) -> dict[str, Any]:
    """A clause about capacity that is reserved and lent by its owner."""
    return clause(LENT, operator, *values)


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ({}, BOTH),
        ({"nodeSelector": {"disk": "ssd"}}, BOTH),
        ({"nodeSelector": {KEYS[1]: "SPOT"}}, SPOT),
        ({"nodeSelector": {KEYS[1]: "ON_DEMAND"}}, ON_DEMAND),
        ({"nodeSelector": {KEY: "reserved"}}, ON_DEMAND),
        ({"nodeSelector": {KEYS[0]: "spot", KEY: "on-demand"}}, set()),
        ({"affinity": None}, BOTH),
        ({"affinity": {}}, BOTH),
        ({"affinity": required(term(ZONE))}, BOTH),
        ({"affinity": required(term(clause(KEY, "In", "spot")))}, SPOT),
        ({"affinity": required(term(clause(KEY, "In", "spot", "on-demand")))}, BOTH),
        ({"affinity": required(term(clause(KEY, "NotIn", "spot")))}, ON_DEMAND),
        ({"affinity": required(term(clause(KEY, "NotIn", "SPOT")))}, ON_DEMAND),
        ({"affinity": required(term(clause(KEY, "NotIn", "on-demand")))}, SPOT),
        ({"affinity": required(term(clause(KEYS[1], "NotIn", "ON_DEMAND")))}, SPOT),
        ({"affinity": required(term(clause(KEY, "NotIn", "reserved")))}, BOTH),
        ({"affinity": required(term({"key": KEY, "operator": "Exists"}))}, BOTH),
        ({"affinity": required(term({"key": KEY, "operator": "DoesNotExist"}))}, BOTH),
        ({"affinity": required(term(clause(KEY, "In", "spot")), term(ZONE))}, BOTH),
        ({"affinity": required(term(clause(KEY, "In", "spot")), {})}, SPOT),
        ({"affinity": required(term(clause(KEY, "In", "spot"), ZONE))}, SPOT),
        ({"affinity": required({})}, set()),
        ({"nodeSelector": {KEY: "reserved", LENT: "true"}}, SPOT),
        ({"nodeSelector": {KEY: "reserved", LENT: "false"}}, ON_DEMAND),
        ({"affinity": required(term(clause(KEY, "In", "reserved"), lent("In", "true")))}, SPOT),
        ({"affinity": required(term(lent("In", "false")))}, ON_DEMAND),
        ({"affinity": required(term(lent("In", "true", "false")))}, BOTH),
        ({"affinity": required(term(lent("NotIn", "true")))}, BOTH),
        ({"affinity": required(term(lent("NotIn", "true"), clause(KEY, "In", "spot")))}, SPOT),
        ({"affinity": required(term(lent("In", "true")), term(ZONE))}, BOTH),
        ({"affinity": required({"matchFields": [clause("metadata.name", "In", "n1")]})}, BOTH),
        (
            {
                "nodeSelector": {KEYS[1]: "SPOT"},
                "affinity": required(term(clause(KEY, "In", "on-demand"))),
            },
            set(),
        ),
    ],
)
def test_a_pods_own_rules_allow(spec: dict[str, Any], allowed: set[Capacity]) -> None:
    assert allowed_by(new_pod(**spec).spec, WELL_KNOWN) == allowed


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ({"nodeSelector": {"lifecycle": "Ec2Spot"}}, SPOT),
        ({"nodeSelector": {"lifecycle": "normal"}}, ON_DEMAND),
        ({"nodeSelector": {"kind": "normal"}}, set()),
        ({"affinity": required(term(clause("kind", "In", "normal", "spot")))}, SPOT),
        ({"affinity": required(term(clause("kind", "NotIn", "normal")))}, BOTH),
        ({"affinity": required(term(clause("lifecycle", "NotIn", "Ec2Spot")))}, ON_DEMAND),
        ({"affinity": required(term(clause("lifecycle", "NotIn", "normal")))}, BOTH),
    ],
)
def test_a_value_means_what_the_setting_says_of_it(
    spec: dict[str, Any], allowed: set[Capacity]
) -> None:
    labels = CapacityLabels(("kind", "lifecycle"), values={"lifecycle": ("Ec2Spot",)})
    assert allowed_by(new_pod(**spec).spec, labels) == allowed


def rather(*terms: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    """The spec of a pod with these preferred terms, by their weights."""
    found = [{"weight": weight, "preference": term(each)} for weight, each in terms]
    return {"affinity": {"nodeAffinity": {PREFERRED: found}}}


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TO_SPOT, TO_ON_DEMAND = clause(KEYS[1], "In", "SPOT"), clause(KEYS[1], "In", "ON_DEMAND")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, None, id="it says nothing"),
        pytest.param({"affinity": {"nodeAffinity": {}}}, None, id="it prefers nothing"),
        pytest.param(rather((100, ZONE)), None, id="a zone"),
        pytest.param(rather((1, TO_ON_DEMAND)), Capacity.ON_DEMAND, id="on-demand"),
        pytest.param(
            rather((100, clause(KEY, "NotIn", "spot"))), Capacity.ON_DEMAND, id="anything but spot"
        ),
        pytest.param(rather((1, TO_SPOT)), Capacity.SPOT, id="spot"),
        pytest.param(rather((50, TO_SPOT), (50, TO_ON_DEMAND)), None, id="both as much"),
        pytest.param(rather((49, TO_SPOT), (50, TO_ON_DEMAND)), Capacity.ON_DEMAND, id="one more"),
        pytest.param(
            rather((30, TO_SPOT), (30, clause(KEY, "In", "spot")), (50, TO_ON_DEMAND)),
            Capacity.SPOT,
            id="weights are added",
        ),
    ],
)
def test_which_type_a_pod_prefers_its_terms_say_together(
    spec: dict[str, Any], expected: Capacity | None
) -> None:
    assert preferred_by(new_pod(**spec).spec, WELL_KNOWN) is expected
