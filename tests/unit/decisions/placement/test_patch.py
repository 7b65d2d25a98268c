"""What placement adds to a pod."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.placement.clauses import outside
from evenkeel.decisions.placement.patch import KeptOff, placement_patch
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels
from evenkeel.model.meta import label_holds
from evenkeel.model.placement import Placed
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

ON_DEMAND = placed_as(Capacity.ON_DEMAND, NOW, claim="c1", slot=3)
SPOT = placed_as(Capacity.SPOT, NOW)
BY_DEFAULT = placed_as(Capacity.ON_DEMAND, NOW, preferred=True)
IS_SPOT = [clause(key, "In", "spot", "SPOT", "Spot") for key in KEYS]
NOT_CALLED_ON_DEMAND = [clause(key, "NotIn", "on-demand", "ON_DEMAND") for key in KEYS]
NOT_SPOT = [clause(key, "NotIn", "spot", "SPOT", "Spot") for key in KEYS]
COST = "controller.kubernetes.io/pod-deletion-cost"
ZONE = clause("zone", "In", "a")
TYPE, TOPOLOGY_ZONE = names.INSTANCE_TYPE, names.ZONE
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def place(
    pod: Document,
    placed: Any,
    labels: CapacityLabels = WELL_KNOWN,
    *,
    scales_in: bool = True,
    is_only: bool = False,
    bears: bool = True,
    **pools: Any,
) -> Document:
    kept_off = KeptOff(**pools)
    options: Any = {"scales_in": scales_in, "is_only": is_only, "bears": bears}
    patch = placement_patch(read(pod), placed, labels, pools=kept_off, **options)
    return patched(pod, patch)


def terms(pod: Document) -> list[Document]:
    found: list[Document] = pod["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    return found


def liked(pod: Document) -> list[Document]:
    found: list[Document] = pod["spec"]["affinity"]["nodeAffinity"][PREFERRED]
    return found


@pytest.mark.parametrize("affinity", [None, {}, {"nodeAffinity": {}}, {"podAffinity": {"x": 1}}])
def test_on_demand_is_required_where_nothing_was(affinity: Document | None) -> None:
    pod = document() if affinity is None else document(affinity=affinity)
    placed = place(pod, ON_DEMAND)
    assert terms(placed) == [term(*NOT_SPOT)]
    assert (placed["spec"]["affinity"] | {"nodeAffinity": 0}) == (affinity or {}) | {
        "nodeAffinity": 0
    }


def test_on_demand_is_added_to_every_term_but_one_that_matches_nothing() -> None:
    fields = {"matchFields": [clause("metadata.name", "In", "n1")]}
    pod = document(affinity=required(term(ZONE), {}, fields, term(NOT_SPOT[0])))
    assert terms(place(pod, ON_DEMAND)) == [
        term(ZONE, *NOT_SPOT),
        {},
        {**fields, **term(*NOT_SPOT)},
        term(NOT_SPOT[0], *NOT_SPOT),
    ]


def test_spot_is_preferred_by_a_term_for_each_label() -> None:
    mine = {"weight": 5, "preference": term(ZONE)}
    pod = document(affinity={"nodeAffinity": {PREFERRED: [mine]}})
    wanted = [
        {"weight": 100, "preference": term(clause(key, "In", "spot", "SPOT", "Spot"))}
        for key in KEYS
    ]
    assert liked(place(document(), SPOT)) == wanted
    assert liked(place(pod, SPOT)) == [mine, *wanted]
    same = document(affinity={"nodeAffinity": {PREFERRED: wanted[1:]}})
    assert liked(place(same, SPOT)) == [*wanted[1:], wanted[0]]


@pytest.mark.parametrize(
    ("own", "placed"), [(NOT_SPOT[0], SPOT), (IS_SPOT[0], BY_DEFAULT)], ids=["on-demand", "spot"]
)
def test_what_its_owner_prefers_the_other_type_to_is_not_preferred(
    own: Document, placed: Placed
) -> None:
    mine = {"weight": 1, "preference": term(own)}
    pod = document(affinity={"nodeAffinity": {PREFERRED: [mine]}})
    pool = [Pool("m5.large", "a")]
    cases: list[dict[str, Any]] = [{}, {"full": pool}, {"lost": pool}]
    for pools in cases:
        made = place(pod, placed, **pools)
        assert liked(made) == [mine]
        assert place(made, placed, **pools) == made
        assert len(made["spec"]["tolerations"]) == 9


def test_a_spot_taint_is_borne_in_both_spellings() -> None:
    placed = place(document(), SPOT)
    assert placed["spec"]["tolerations"] == [
        {"key": key, "value": value} for key in KEYS for value in ("spot", "SPOT", "Spot")
    ]
    assert "tolerations" not in place(document(), ON_DEMAND)["spec"]


@pytest.mark.parametrize(
    ("there", "added"),
    [
        ({"operator": "Exists"}, 0),
        ({"key": KEYS[0], "operator": "Exists"}, 6),
        ({"key": KEYS[0], "value": "spot"}, 9),
        ({"key": KEYS[0], "operator": "Equal", "value": "spot"}, 9),
        ({"key": KEYS[0], "operator": "Exists", "effect": "NoSchedule"}, 9),
        ({"key": "other", "operator": "Exists"}, 9),
    ],
)
def test_what_more_than_that_is_borne_already_is_not_added(there: Document, added: int) -> None:
    borne = place(document(tolerations=[there]), SPOT)["spec"]["tolerations"]
    assert borne[0] == there
    assert len(borne) == 1 + added


def test_on_demand_by_default_is_preferred_and_spot_is_borne() -> None:
    placed = place(document(), BY_DEFAULT, is_only=True)
    assert placed["spec"]["affinity"] == {
        "nodeAffinity": {PREFERRED: [{"weight": 100, "preference": term(*NOT_SPOT)}]}
    }
    keys = [each["key"] for each in placed["spec"]["tolerations"]]
    assert keys == [*(key for key in KEYS for _ in range(3)), names.HEADROOM]
    metadata = placed["metadata"]
    assert metadata["labels"][names.CAPACITY] == "on-demand"
    assert Placed.read(metadata["annotations"][names.PLACED]) == BY_DEFAULT


@pytest.mark.parametrize("kept_off", ["full", "lost"])
def test_and_of_spot_other_pools_than_full_and_lost_ones_for_less(kept_off: str) -> None:
    pools: dict[str, Any] = {kept_off: [Pool("m5.large", "a")]}
    first, *others = liked(place(document(), BY_DEFAULT, **pools))
    assert (first["weight"], first["preference"]) == (100, term(*NOT_SPOT))
    assert [(each["weight"], each["preference"]) for each in others] == [
        (50, term(*NOT_CALLED_ON_DEMAND, clause(TOPOLOGY_ZONE, "NotIn", "a"))),
        (
            50,
            term(
                *NOT_CALLED_ON_DEMAND,
                clause(TOPOLOGY_ZONE, "In", "a"),
                clause(TYPE, "NotIn", "m5.large"),
            ),
        ),
    ]


def test_a_second_review_that_knows_of_no_interruptible_nodes_adds_no_second_term() -> None:
    lent = CapacityLabels(names_interruptible=True)
    once = place(document(), BY_DEFAULT, lent)
    assert placement_patch(read(once), BY_DEFAULT, WELL_KNOWN, scales_in=False) == []


@pytest.mark.parametrize(
    ("there", "is_said"),
    [
        ({"weight": 5, "preference": term(*NOT_SPOT)}, False),
        ({"weight": 100, "preference": term(ZONE)}, False),
        ({"weight": 100, "preference": term(*NOT_SPOT[::-1])}, True),
    ],
    ids=["lighter", "another", "in another order"],
)
def test_a_second_review_adds_a_preference_that_was_lost(there: Document, *, is_said: bool) -> None:
    own = document(
        affinity={"nodeAffinity": {PREFERRED: [there]}},
        annotations={names.PLACED: BY_DEFAULT.encode()},
    )
    lost = [] if is_said else [{"weight": 100, "preference": term(*NOT_SPOT)}]
    assert liked(place(own, BY_DEFAULT)) == [there, *lost]


def test_what_was_decided_is_noted_on_the_pod() -> None:
    placed = place(document(labels={"app": "web"}, annotations={"a": "b"}), ON_DEMAND)
    metadata = placed["metadata"]
    assert metadata["labels"] == {"app": "web", "evenkeel.dev/capacity": "on-demand"}
    assert Placed.read(metadata["annotations"][names.PLACED]) == ON_DEMAND
    assert metadata["annotations"]["a"] == "b"


def test_a_pod_of_the_floor_costs_more_to_delete_unless_its_owner_says_otherwise() -> None:
    assert place(document(), ON_DEMAND)["metadata"]["annotations"][COST] == "100"
    owners = document(annotations={COST: "-5"})
    assert place(owners, ON_DEMAND)["metadata"]["annotations"][COST] == "-5"
    assert COST not in place(document(), SPOT)["metadata"]["annotations"]
    assert COST not in place(document(), ON_DEMAND, scales_in=False)["metadata"]["annotations"]


@pytest.mark.parametrize("placed", [ON_DEMAND, SPOT, BY_DEFAULT])
@pytest.mark.parametrize("spec", [{}, {"affinity": required(term(ZONE), term(ZONE, ZONE))}])
def test_what_is_there_is_not_added_again(placed: Any, spec: Document) -> None:
    once = place(document(**spec), placed)
    assert placement_patch(read(once), placed, WELL_KNOWN, scales_in=True) == []


def test_an_annotation_that_makes_no_sense_notes_nothing() -> None:
    for text in ("", "{}", "[", '{"v":1,"as":"moon","at":"2026-11-21T06:00:00Z"}'):
        assert Placed.read(text) is None
    assert Placed.read(None) is None


MOVED = placed_as(Capacity.SPOT, NOW, move="uid-of-the-moved")


def test_what_is_made_for_a_move_to_spot_may_go_nowhere_else() -> None:
    placed = place(document(), MOVED)
    assert terms(placed) == [term(each) for each in IS_SPOT]
    assert PREFERRED not in placed["spec"]["affinity"]["nodeAffinity"]
    assert len(placed["spec"]["tolerations"]) == 9
    assert place(placed, MOVED) == placed


def test_what_is_made_for_a_move_to_spot_may_be_in_no_domain_that_the_move_bars() -> None:
    placed = place(document(), MOVED, barred={TOPOLOGY_ZONE: ("b", "c")})
    off = clause(TOPOLOGY_ZONE, "NotIn", "b", "c")
    assert terms(placed) == [term(each, off) for each in IS_SPOT]


def test_of_its_owners_terms_each_is_kept_for_each_label() -> None:
    fields = {"matchFields": [clause("metadata.name", "In", "n1")]}
    placed = place(document(affinity=required(term(ZONE), {}, fields)), MOVED)
    assert terms(placed) == [
        *(term(ZONE, each) for each in IS_SPOT),
        *({**fields, **term(each)} for each in IS_SPOT),
    ]
    assert place(placed, MOVED) == placed


def test_what_is_made_for_a_move_to_another_pool_may_be_in_none_of_the_full_ones() -> None:
    full = [Pool("m5", "a"), Pool("c5", "b"), Pool("c5", "a")]
    zones = clause(TOPOLOGY_ZONE, "NotIn", "a", "b")
    in_a = [clause(TOPOLOGY_ZONE, "In", "a"), clause(TYPE, "NotIn", "c5", "m5")]
    in_b = [clause(TOPOLOGY_ZONE, "In", "b"), clause(TYPE, "NotIn", "c5")]
    own = document(affinity=required(term(ZONE)))
    placed = place(own, MOVED, avoid=full)
    others = [[zones], in_a, in_b]
    assert terms(placed) == [term(ZONE, spot, *each) for spot in IS_SPOT for each in others]
    assert place(placed, MOVED) == placed


def test_nodes_without_the_labels_are_a_pool_like_any_other() -> None:
    def named(*pools: Pool) -> list[list[Document]]:
        placed = place(document(), MOVED, CapacityLabels(KEYS[:1]), avoid=pools)
        return [each["matchExpressions"][1:] for each in terms(placed)]

    has_zone, has_type = ({"key": key, "operator": "Exists"} for key in (TOPOLOGY_ZONE, TYPE))
    no_zone = {"key": TOPOLOGY_ZONE, "operator": "DoesNotExist"}
    assert named(Pool()) == [[has_zone], [no_zone, has_type]]
    assert named(Pool("m5")) == [[has_zone], [no_zone, clause(TYPE, "NotIn", "m5")]]
    not_a = clause(TOPOLOGY_ZONE, "NotIn", "a")
    in_a = clause(TOPOLOGY_ZONE, "In", "a")
    assert named(Pool("", "a"), Pool("m5", "a")) == [
        [not_a],
        [in_a, clause(TYPE, "NotIn", "m5"), has_type],
    ]


some_pools = st.lists(
    st.builds(Pool, st.sampled_from(["", "m", "c"]), st.sampled_from(["", *"ab"]))
)


@given(some_pools, st.builds(Pool, st.sampled_from(["", *"mcr"]), st.sampled_from(["", *"abz"])))
def test_a_node_matches_one_of_the_terms_if_it_is_in_none_of_the_pools_and_else_none(
    pools: list[Pool], of_node: Pool
) -> None:
    labels = {TYPE: of_node.type, TOPOLOGY_ZONE: of_node.zone}
    there = {key: value for key, value in labels.items() if value}
    matching = [
        all(label_holds(each.operator, there.get(each.key), each.values or ()) for each in clauses)
        for clauses in outside(pools)
    ]
    assert sum(matching) == (of_node not in pools)


def test_spot_outside_full_pools_is_preferred_to_spot_in_one() -> None:
    full = [Pool("m5", "a")]
    other_zone = [clause(TOPOLOGY_ZONE, "NotIn", "a")]
    other_type = [clause(TOPOLOGY_ZONE, "In", "a"), clause(TYPE, "NotIn", "m5")]
    rather = [
        {"weight": 50, "preference": term(*NOT_CALLED_ON_DEMAND, *outside)}
        for outside in (other_zone, other_type)
    ]
    placed = place(document(), SPOT, full=full)
    assert liked(placed) == [*liked(place(document(), SPOT)), *rather]
    assert place(placed, SPOT, full=full) == placed
    assert place(placed, SPOT) == placed
    assert liked(place(document(), MOVED, full=full)) == rather
    assert (
        PREFERRED not in place(document(), ON_DEMAND, full=full)["spec"]["affinity"]["nodeAffinity"]
    )


def test_pools_that_lost_a_node_are_worst_and_those_of_their_type_or_zone_in_between() -> None:
    lost = [Pool("m5", "a"), Pool("c5", "a")]
    other_type = clause(TYPE, "NotIn", "c5", "m5")
    other_zone = clause(TOPOLOGY_ZONE, "NotIn", "a")
    safe = [{"weight": 100, "preference": term(spot, other_type)} for spot in IS_SPOT]
    safer = [{"weight": 25, "preference": term(spot, other_zone)} for spot in IS_SPOT]
    placed = place(document(), SPOT, lost=lost)
    assert liked(placed) == [*safe, *liked(place(document(), SPOT)), *safer]
    assert place(document(), SPOT, lost=lost, full=[Pool("m5", "b")]) == placed
    assert place(placed, SPOT) == place(placed, SPOT, lost=lost) == placed
    assert liked(place(document(), MOVED, lost=lost)) == [*safe, *safer]


def test_a_second_review_of_a_move_adds_nothing_to_terms_for_interruptible_nodes() -> None:
    once = place(document(), MOVED, CapacityLabels(names_interruptible=True))
    assert len(terms(once)) == len(KEYS) + 1
    assert place(once, MOVED) == once


def test_a_move_adds_its_terms_beside_an_equal_one_of_its_owners() -> None:
    """So that what was added can be told from what its owner says."""
    pod = document(affinity=required(term(IS_SPOT[0])))
    moved = place(pod, MOVED)
    assert terms(moved) == [term(IS_SPOT[0], each) for each in IS_SPOT]
    assert place(moved, MOVED) == moved


@pytest.mark.parametrize("names_interruptible", [False, True])
def test_spot_of_another_type_comes_first_of_few_terms(*, names_interruptible: bool) -> None:
    """Karpenter takes the heaviest, and of up to twelve the first of equal ones."""
    labels = CapacityLabels(names_interruptible=names_interruptible)
    pools = [Pool(kind, zone) for kind in ("m5", "c5") for zone in "abcdefgh"]
    found = liked(place(document(), SPOT, labels, lost=pools[:1]))
    assert found[0]["preference"] == term(IS_SPOT[0], clause(TYPE, "NotIn", "m5"))
    assert len(liked(place(document(), SPOT, labels, full=pools))) == 12
    for pods in (SPOT, MOVED):
        for full, lost in itertools.product(([], pools), ([], pools)):
            if not (full or lost):
                continue
            found = liked(place(document(), pods, labels, full=full, lost=lost))
            weights = [each["weight"] for each in found]
            assert len(found) <= 12
            assert weights == sorted(weights, reverse=True)


@given(some_pools, st.builds(Pool, st.sampled_from(["", *"mcr"]), st.sampled_from(["", *"abz"])))
def test_a_spot_node_in_a_full_pool_is_behind_the_others_and_before_on_demand(
    full: list[Pool], of_node: Pool
) -> None:
    found = liked(place(document(), SPOT, full=full))

    def weight(capacity: str | None) -> int:
        there = {KEYS[1]: capacity, TYPE: of_node.type, TOPOLOGY_ZONE: of_node.zone}
        said = {key: value for key, value in there.items() if value}
        return sum(
            each["weight"]
            for each in found
            if all(
                label_holds(c["operator"], said.get(c["key"]), c.get("values", ()))
                for c in each["preference"]["matchExpressions"]
            )
        )

    is_outside = bool(full) and of_node not in full
    found_weights = [weight(capacity) for capacity in ("spot", "on-demand", "ON_DEMAND", None)]
    assert found_weights == [100 + 50 * is_outside, 0, 0, 50 * is_outside]


def test_a_pod_that_matches_no_node_is_left_so() -> None:
    pod = document(affinity=required({}))
    assert terms(place(pod, MOVED)) == [{}]


def test_what_is_made_for_a_move_to_on_demand_is_of_the_floor() -> None:
    placed = place(document(), placed_as(Capacity.ON_DEMAND, NOW, move="uid-of-the-moved"))
    assert terms(placed) == [term(*NOT_SPOT)]
    assert placed["metadata"]["annotations"][COST] == "100"


def test_the_only_replica_tolerates_reserved_headroom_where_it_may_go_to_spot() -> None:
    bears = {"key": "evenkeel.dev/headroom", "operator": "Exists"}
    only = place(document(), SPOT, is_only=True)
    assert only["spec"]["tolerations"][-1] == bears
    assert place(only, SPOT, is_only=True) == only
    assert bears not in place(document(), SPOT)["spec"]["tolerations"]
    assert "tolerations" not in place(document(), ON_DEMAND, is_only=True)["spec"]


def test_where_its_namespace_allows_no_more_a_pod_gets_no_toleration() -> None:
    pod = document()
    once = place(pod, SPOT, WELL_KNOWN, bears=False)
    assert "tolerations" not in once["spec"]
    assert "tolerations" not in place(once, SPOT, WELL_KNOWN)["spec"]
