"""What a live pod asks of its node, less what placement added."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenkeel.decisions.placement.clauses import bears_headroom, bears_spot, is_spot, not_spot
from evenkeel.decisions.placement.own_rules import own_rules
from evenkeel.decisions.placement.patch import KeptOff, placement_patch
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels
from evenkeel.model.placement import Placed
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from tests.kit.builders import NOW, placed_as
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
BY_DEFAULT = placed_as(Capacity.ON_DEMAND, NOW, preferred=True)
MOVED_TO_SPOT = placed_as(Capacity.SPOT, NOW, move="uid")
MOVED_TO_ON_DEMAND = placed_as(Capacity.ON_DEMAND, NOW, move="uid")
EVERY = [ON_DEMAND, SPOT, BY_DEFAULT, MOVED_TO_SPOT, MOVED_TO_ON_DEMAND]
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


NAMED = CapacityLabels(("lifecycle", KEYS[2]), values={"lifecycle": ("Ec2Spot",)})
DOUBTFUL = CapacityLabels(("lifecycle", KEYS[2]), doubtful=(("lifecycle", "Ec2Spot"),))
OURS: list[Document] = [
    msgspec.to_builtins(each)
    for labels in (INTERRUPTIBLE, NAMED, DOUBTFUL)
    for each in (*not_spot(labels), *is_spot(labels))
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
configured = st.sampled_from([WELL_KNOWN, NAMED, CapacityLabels(("lifecycle", KEYS[2]))])
doubts = st.lists(
    st.tuples(st.sampled_from(["lifecycle", KEYS[2]]), st.sampled_from(["Ec2Spot", "x"])),
    unique=True,
).map(tuple)
seen = st.fixed_dictionaries({"doubtful": doubts, "names_interruptible": st.booleans()})
pools = st.lists(st.builds(Pool, st.sampled_from(["", "m5"]), st.sampled_from(["", "a"])))
barred = st.dictionaries(st.sampled_from([names.ZONE, names.HOSTNAME]), st.just(("a",)))


NO_POOL: Document = {"pools": KeptOff()}
OUTSIDE: Document = {"pools": KeptOff(avoid=[Pool()])}
ELSEWHERE: Document = {"pools": KeptOff(barred={names.ZONE: ("a", "b")})}
ALL_BORNE = [{"key": key, "operator": "Exists"} for key in KEYS]
SEVERAL = {"affinity": required(term(SSD, ZONE, clause("arch", "In", "arm64")))}
OURS_AND_ANOTHER = {"affinity": required(term(*OURS[:3]), term(SSD))}
NOTHING: Document = {}
LENT: Document = {"names_interruptible": True}
DOUBT: Document = {"doubtful": (("lifecycle", "Ec2Spot"),)}
ASKS_FOR_LABELLED_SPOT = {"affinity": required(term(clause("lifecycle", "In", "Ec2Spot")))}
ASKS_FOR_SPOT = {"affinity": required(term(msgspec.to_builtins(is_spot(WELL_KNOWN)[0])))}
BEARS_SPOT_AND_HEADROOM = {
    "tolerations": [*map(msgspec.to_builtins, (*bears_spot(WELL_KNOWN), bears_headroom()))]
}


@example({}, ON_DEMAND, WELL_KNOWN, LENT, LENT, NO_POOL)
@example({}, ON_DEMAND, CapacityLabels(("lifecycle",)), DOUBT, NOTHING, NO_POOL)
@example({}, MOVED_TO_ON_DEMAND, WELL_KNOWN, LENT, NOTHING, NO_POOL)
@example({}, MOVED_TO_SPOT, WELL_KNOWN, LENT, NOTHING, NO_POOL)
@example({}, BY_DEFAULT, WELL_KNOWN, NOTHING, NOTHING, NO_POOL)
@example(SEVERAL, ON_DEMAND, WELL_KNOWN, NOTHING, NOTHING, NO_POOL)
@example(OURS_AND_ANOTHER, ON_DEMAND, WELL_KNOWN, NOTHING, NOTHING, NO_POOL)
@example({"affinity": required(term(OURS[3]))}, ON_DEMAND, WELL_KNOWN, NOTHING, NOTHING, NO_POOL)
@example({"affinity": required(term(ZONE))}, MOVED_TO_SPOT, WELL_KNOWN, LENT, NOTHING, OUTSIDE)
@example({"affinity": required(term(ZONE))}, MOVED_TO_SPOT, WELL_KNOWN, LENT, LENT, ELSEWHERE)
@example({}, MOVED_TO_ON_DEMAND, WELL_KNOWN, LENT, NOTHING, ELSEWHERE)
@example(ASKS_FOR_SPOT, MOVED_TO_SPOT, WELL_KNOWN, NOTHING, NOTHING, NO_POOL)
@example(ASKS_FOR_LABELLED_SPOT, MOVED_TO_SPOT, NAMED, NOTHING, NOTHING, NO_POOL)
@example(BEARS_SPOT_AND_HEADROOM, SPOT, WELL_KNOWN, NOTHING, NOTHING, NO_POOL)
@example({"tolerations": ALL_BORNE}, SPOT, WELL_KNOWN, NOTHING, NOTHING, {"is_only": True})
@given(
    specs,
    st.sampled_from(EVERY),
    configured,
    seen,
    seen,
    st.fixed_dictionaries(
        {
            "is_only": st.booleans(),
            "pools": st.builds(KeptOff, avoid=pools, barred=barred, full=pools, lost=pools),
        }
    ),
)
def test_a_placed_pod_less_what_was_added_is_the_pod_as_it_came(
    spec: Document,
    placed: Placed,
    labels: CapacityLabels,
    then: Document,
    now: Document,
    options: Document,
) -> None:
    """Whatever nodes tell when it is placed, and later; the second review knows of none."""
    pod = document(**spec)
    kept_off = options.get("pools", KeptOff())
    bars = kept_off.barred if placed.move else {}
    placed = msgspec.structs.replace(placed, barred=tuple(sorted(bars)))
    options = options | {"pools": kept_off._replace(barred=bars)}
    once = place(pod, placed, msgspec.structs.replace(labels, **then), **options)
    again = place(once, placed, labels)
    came = as_it_came(pod)
    later = msgspec.structs.replace(labels, **now)
    for each in (once, again):
        found = own(each, later)
        if placed.move and placed.as_ is Capacity.SPOT and came.node_affinity.required is not None:
            said = [each for each in terms(came) if each]
            if said:
                assert [*dict.fromkeys(map(str, said))] == [*map(str, terms(found))]
            found = msgspec.structs.replace(found, affinity=came.affinity)
        assert found == came


@pytest.mark.parametrize("placed", [ON_DEMAND, SPOT, MOVED_TO_SPOT])
@pytest.mark.parametrize("spec", [{}, {"affinity": required(term(SSD))}])
@pytest.mark.parametrize("added", [clause("arch", "In", "arm64"), clause("arch", "NotIn", "arm64")])
def test_what_a_policy_adds_later_stays(placed: Placed, spec: Document, added: Document) -> None:
    pod = written(place(document(**spec), placed, WELL_KNOWN))
    pod["spec"]["nodeSelector"] = {"team": "a"}
    affinity = pod["spec"]["affinity"]["nodeAffinity"]
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    there = affinity.setdefault(key, {"nodeSelectorTerms": [{"matchExpressions": []}]})
    for each in there["nodeSelectorTerms"]:
        each["matchExpressions"].append(added)
    pod["spec"].setdefault("tolerations", []).append({"key": "team", "operator": "Exists"})
    found = own(pod)
    mine = [SSD] if spec else []
    assert terms(found) == [term(*mine, added)]
    assert found.node_selector == {"team": "a"}
    assert [each.key for each in found.tolerations or ()] == ["team"]


def test_a_pod_that_was_placed_while_other_labels_counted_has_its_own_rules_all_the_same() -> None:
    then = CapacityLabels(("lifecycle",))
    pod = document(affinity=required(term(SSD)))
    for placed in (ON_DEMAND, MOVED_TO_SPOT):
        assert own(place(pod, placed, then)).affinity == as_it_came(pod).affinity


def test_a_value_that_was_unknown_when_a_pod_was_placed_may_mean_spot_now() -> None:
    """The setting says so since: what kept the pod off it is no rule of its owner's."""
    keys = (KEYS[0], "lifecycle")
    then = CapacityLabels(keys, doubtful=(("lifecycle", "Ec2Spot"),))
    now = CapacityLabels(keys, values={"lifecycle": ("Ec2Spot",)})
    pod = document(affinity=required(term(SSD)))
    assert own(place(pod, ON_DEMAND, then), now) == as_it_came(pod)


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
