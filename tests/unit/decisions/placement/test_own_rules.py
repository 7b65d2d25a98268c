"""What a live pod asks of its node, less what placement added."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenkeel.decisions.placement.clauses import is_spot, not_spot
from evenkeel.decisions.placement.own_rules import own_rules
from evenkeel.decisions.placement.patch import KeptOff, placement_patch
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels
from evenkeel.model.placement import Placed, placed_as
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from tests.kit.builders import NOW
from tests.unit.decisions.placement.pods import (
    KEYS,
    Document,
    clause,
    document,
    patched,
    read,
    required,
    term,
)

ON_DEMAND = placed_as(Capacity.ON_DEMAND, NOW)
SPOT = placed_as(Capacity.SPOT, NOW)
MOVED_TO_SPOT = placed_as(Capacity.SPOT, NOW, move="uid")
INTERRUPTIBLE = CapacityLabels(names_interruptible=True)
SSD = clause("disk", "In", "ssd")
ZONE = clause(names.ZONE, "In", "a")


def place(pod: Document, placed: Placed, labels: CapacityLabels, **options: Any) -> Document:
    made = placement_patch(read(pod), placed, labels, scales_in=True, **options)
    return patched(pod, made)


def own(pod: Document, labels: CapacityLabels = WELL_KNOWN) -> NewPodSpec:
    metadata = {"name": "web-0", "uid": "uid", **pod["metadata"]}
    return own_rules(msgspec.convert({**pod, "metadata": metadata}, Pod), labels)


def as_it_came(pod: Document) -> NewPodSpec:
    return own({**pod, "metadata": {}})


def terms(rules: NewPodSpec) -> Sequence[Document]:
    selector = rules.node_affinity.required
    assert selector is not None
    found: Sequence[Document] = written(selector.node_selector_terms)
    return found


def written(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


OURS: list[Document] = [
    msgspec.to_builtins(each) for each in (*not_spot(INTERRUPTIBLE), *is_spot(INTERRUPTIBLE))
]
clauses = st.sampled_from([*OURS, SSD, ZONE, clause(names.INSTANCE_TYPE, "NotIn", "m5")])
some_terms = st.lists(
    st.fixed_dictionaries(
        {"matchExpressions": st.lists(clauses, min_size=1, max_size=5)},
        optional={"matchFields": st.just([clause("metadata.name", "In", "n1")])},
    ),
    max_size=4,
)
BORNE = [
    {},
    {"key": KEYS[0], "value": "spot"},
    {"key": KEYS[0], "operator": "Exists"},
    {"key": KEYS[1], "operator": "Equal", "value": "SPOT", "effect": "NoSchedule"},
    {"key": names.HEADROOM, "operator": "Exists"},
    {"operator": "Exists"},
    {"key": "team", "value": "a"},
]
specs: st.SearchStrategy[Document] = st.fixed_dictionaries(
    {},
    optional={
        "nodeSelector": st.sampled_from([{}, {"disk": "ssd"}]),
        "affinity": st.one_of(
            st.sampled_from([{}, {"nodeAffinity": {}}]),
            some_terms.map(lambda each: required(*each)),
        ),
        "tolerations": st.lists(st.sampled_from(BORNE), max_size=4),
    },
)
some_labels = st.sampled_from([WELL_KNOWN, INTERRUPTIBLE, CapacityLabels(("lifecycle", KEYS[2]))])
pools = st.lists(st.builds(Pool, st.sampled_from(["", "m5"]), st.sampled_from(["", "a"])))


NO_POOL: Document = {"pools": KeptOff()}
OUTSIDE: Document = {"pools": KeptOff(avoid=[Pool()])}
OURS_AND_ANOTHER = {"affinity": required(term(*OURS[:3]), term(SSD))}


@example({}, ON_DEMAND, INTERRUPTIBLE, NO_POOL)
@example(OURS_AND_ANOTHER, ON_DEMAND, WELL_KNOWN, NO_POOL)
@example({"affinity": required(term(OURS[3]))}, ON_DEMAND, WELL_KNOWN, NO_POOL)
@example({"affinity": required(term(ZONE))}, MOVED_TO_SPOT, WELL_KNOWN, OUTSIDE)
@given(
    specs,
    st.sampled_from([ON_DEMAND, SPOT, MOVED_TO_SPOT]),
    some_labels,
    st.fixed_dictionaries({"is_only": st.booleans(), "pools": pools.map(KeptOff)}),
)
def test_a_placed_pod_less_what_was_added_is_the_pod_as_it_came(
    spec: Document, placed: Placed, labels: CapacityLabels, options: Document
) -> None:
    pod = document(**spec)
    if len(allowed_by(read(pod).spec, labels)) < len(Capacity):
        return  # placement leaves it
    once = place(pod, placed, labels, **options)
    again = place(once, placed, labels, **options)
    came = as_it_came(pod)
    for each in (once, again):
        found = own(each, labels)
        if placed.move and came.node_affinity.required is not None:
            assert [*dict.fromkeys(map(str, terms(came)))] == [*map(str, terms(found))]
            found = msgspec.structs.replace(found, affinity=came.affinity)
        assert found == came


@pytest.mark.parametrize("placed", [ON_DEMAND, SPOT, MOVED_TO_SPOT])
@pytest.mark.parametrize("spec", [{}, {"affinity": required(term(SSD))}])
def test_what_a_policy_adds_later_stays(placed: Placed, spec: Document) -> None:
    pod = written(place(document(**spec), placed, WELL_KNOWN))
    pod["spec"]["nodeSelector"] = {"team": "a"}
    affinity = pod["spec"]["affinity"]["nodeAffinity"]
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    there = affinity.setdefault(key, {"nodeSelectorTerms": [{"matchExpressions": []}]})
    for each in there["nodeSelectorTerms"]:
        each["matchExpressions"].append(clause("arch", "In", "arm64"))
    pod["spec"].setdefault("tolerations", []).append({"key": "team", "operator": "Exists"})
    found = own(pod)
    mine = [SSD] if spec else []
    assert terms(found) == [term(*mine, clause("arch", "In", "arm64"))]
    assert found.node_selector == {"team": "a"}
    assert [each.key for each in found.tolerations or ()] == ["team"]


def test_a_pod_that_was_placed_while_other_labels_counted_has_its_own_rules_all_the_same() -> None:
    then = CapacityLabels(("lifecycle",))
    pod = document(affinity=required(term(SSD)))
    for placed in (ON_DEMAND, MOVED_TO_SPOT):
        assert own(place(pod, placed, then)).affinity == as_it_came(pod).affinity


def test_a_pod_that_was_not_placed_keeps_what_it_says_of_spot() -> None:
    pod = document(affinity=required(term(*OURS[:3])), tolerations=[{"key": KEYS[0]}])
    assert own(pod) == as_it_came(pod)
    assert terms(own(pod)) == written([term(*OURS[:3])])


def test_a_move_of_which_another_took_the_rules_away_has_none() -> None:
    pod = document(affinity=required(term(SSD)), annotations={names.PLACED: MOVED_TO_SPOT.encode()})
    assert own(pod) == as_it_came(pod)


def test_a_move_to_another_pool_leaves_what_its_owner_says_of_zones() -> None:
    pod = document(affinity=required(term(ZONE), term(SSD)))
    full = KeptOff(avoid=[Pool("m5", "a"), Pool("c5", "b")])
    placed = place(pod, MOVED_TO_SPOT, WELL_KNOWN, pools=full)
    assert own(placed) == as_it_came(pod)
    nothing = place(document(), MOVED_TO_SPOT, WELL_KNOWN, pools=full)
    assert own(nothing) == NewPodSpec()


def test_a_placed_pod_without_any_rules_left_has_none() -> None:
    assert own(document(annotations={names.PLACED: ON_DEMAND.encode()})) == NewPodSpec()
