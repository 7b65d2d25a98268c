"""One ordinal of a StatefulSet moves, or there is a reason why none does."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.restore.step import RestoreStep, StepOrDecision
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease, PersistentVolume
from evenkeel.model.controllers.stateful_set import Ordinals, StatefulSetStatus, StatefulSetStrategy
from evenkeel.model.decision import Verb
from evenkeel.model.move import Restored, move_of
from evenkeel.model.request import Create, Evict
from tests.kit import builders
from tests.kit.builders import NOW, patched
from tests.unit.decisions.restore.candidates import (
    ON_DEMAND,
    SPOT,
    ZONE,
    candidate,
    fleet,
    node,
    outcome,
    pods_of,
    reason,
    restored,
    stateful_set,
    step,
    with_rules,
)

MAJORITY = "majority"


def test_an_ordinal_above_the_floor_is_evicted_to_come_back_on_spot() -> None:
    made = step(candidate(stateful_set(3, MAJORITY), "o1", "o2", "o1"))
    assert (made.decision.verb, made.decision.subject.name) == (Verb.EVICT, "db-2")
    assert made.decision.write == Evict(name="db-2", namespace="default", uid="db-2-uid")
    assert (made.moves, made.shortage) == (1, "")
    note, told = made.before  # without it a failure would not show afterwards
    noted = Restored.of(patched(stateful_set(3, MAJORITY), note))
    assert noted == Restored(at=NOW, target=SPOT, pod="db-2", spot=1, most=2)
    assert isinstance(told, Create)
    assert isinstance(told.object, Lease)
    move = move_of(told.object)
    assert move is not None
    assert (move.pod_name, move.target, move.taken_by) == ("db-2", SPOT, "")
    assert (move.until, move.without_room) == (NOW + builders.seconds(120), False)


def test_towards_on_demand_the_webhook_knows_by_itself() -> None:
    assert len(step(candidate(stateful_set(3, MAJORITY), "s1", "o2", "s1")).before) == 1


def test_the_highest_ordinal_of_the_floor_that_is_not_there_goes_first() -> None:
    assert (
        step(candidate(stateful_set(3, MAJORITY), "s1", "s2", "s1")).decision.subject.name == "db-1"
    )
    assert (
        step(candidate(stateful_set(3, MAJORITY), "s1", "o2", "s1")).decision.subject.name == "db-0"
    )


def test_ordinals_are_counted_from_where_they_start() -> None:
    db = stateful_set(3, MAJORITY)
    spec = msgspec.structs.replace(db.spec, ordinals=Ordinals(start=5))
    started = msgspec.structs.replace(db, spec=spec)
    pods = [
        builders.pod(f"db-{5 + number}", of=started, node=place)
        for number, place in enumerate(("s1", "o2", "s1"))
    ]
    assert step(candidate(started, pods=pods)).decision.subject.name == "db-5"


def test_one_that_is_not_known_belongs_to_the_floor_as_it_does_for_placement() -> None:
    db = stateful_set(1, "1")
    unknown = builders.pod("db-x", of=db, node="s1")
    assert step(candidate(db, pods=[unknown])).decision.reason == "FloorMissing"


def test_the_right_number_in_the_wrong_places_is_worth_no_restart() -> None:
    assert reason(candidate(stateful_set(3, MAJORITY), "s1", "o1", "o2")) == "AsWanted"


def test_two_of_one_ordinal_are_left() -> None:
    """A pod that its API server has forgotten may still be listed."""
    db = stateful_set(2, "1")
    pods = [builders.pod("db-0", of=db, node="o1"), builders.pod("db-0", of=db, node="o2")]
    assert reason(candidate(db, pods=pods)) == "NobodyToMove"


@pytest.mark.parametrize("places", [("s1",), ("s1", "s2", "s1"), ("o1", "o2", "o1")])
def test_none_is_restarted_for_a_floor_that_nobody_asked_for(places: tuple[str, ...]) -> None:
    assert reason(candidate(stateful_set(len(places)), *places)) == "DefaultFloor"


def test_a_default_floor_that_holds_is_as_wanted() -> None:
    assert reason(candidate(stateful_set(3), "o1", "o2", "s1")) == "AsWanted"


def test_a_single_one_moves_if_its_owner_says_what_its_floor_is() -> None:
    assert step(candidate(stateful_set(1, "all"), "s1")).moves
    assert step(candidate(stateful_set(1, "none"), "o1")).moves


def test_none_moves_where_nothing_would_place_its_next_pod() -> None:
    """It would come back on the type that it left, and so again after each rest."""
    nothing = "no webhook places new pods"
    unplaced = candidate(stateful_set(1, "all"), "s1", unplaced=nothing)
    found = outcome(unplaced)
    assert not isinstance(found, RestoreStep)
    assert (found.reason, found.message) == (
        "NothingPlaces",
        "no webhook places new pods: no pod is moved",
    )
    held = candidate(stateful_set(1, "all"), "o1", unplaced=nothing)
    assert reason(held) == "AsWanted"


def test_none_moves_where_the_policy_would_place_its_next_pod_otherwise() -> None:
    later = stateful_set(3, MAJORITY)
    spec = msgspec.structs.replace(later.spec, ordinals=Ordinals(start=3))
    later = msgspec.structs.replace(later, spec=spec)
    found = outcome(candidate(later, "s1", "s1", "s1", by_policy=True))
    assert not isinstance(found, RestoreStep)
    assert found.reason == "PolicyCannotTell"
    assert found.message == (
        "the policy would place the next pod, so none is moved: its floor of majority stands on the"
        " workload, which the policy does not see: write evenkeel.dev/on-demand into its pod"
        " template"
    )
    assert step(
        candidate(
            stateful_set(1, "all"), "s1", by_policy=True, of_namespace={names.ON_DEMAND: "all"}
        )
    ).moves


def test_all_have_to_be_available() -> None:
    db = stateful_set(3, MAJORITY)
    pods = [*pods_of(db, "o1", "o2"), builders.pod("db-2", of=db, node="o1", ready=False)]
    assert reason(candidate(db, pods=pods)) == "NotAllAvailable"
    young = stateful_set(3, MAJORITY, min_ready_seconds=60)
    assert reason(candidate(young, pods=pods_of(young, "o1", "o2", "o1", ready_since=NOW))) == (
        "NotAllAvailable"
    )


@pytest.mark.parametrize(
    "budget",
    [
        {"max_unavailable": 0},
        {"max_unavailable": 1, "healthy": 2, "demanded": 2},
    ],
    ids=["never", "not now"],
)
def test_its_budget_is_obeyed(budget: dict[str, Any]) -> None:
    around = NamespaceObjects(budgets=[builders.budget(selects={"app": "db"}, **budget)])
    assert (
        reason(candidate(stateful_set(3, MAJORITY), "o1", "o2", "o1", around=around))
        == "BudgetHolds"
    )


def test_a_budget_with_room_is_none() -> None:
    around = NamespaceObjects(budgets=[builders.budget(selects={"app": "db"}, max_unavailable=1)])
    assert step(candidate(stateful_set(3, MAJORITY), "o1", "o2", "o1", around=around)).moves


@pytest.mark.parametrize("kept", [{names.SAFE_TO_EVICT: "false"}, {names.DO_NOT_DISRUPT: "4h"}])
def test_what_its_owner_keeps_is_left(kept: dict[str, str]) -> None:
    assert reason(candidate(stateful_set(3, MAJORITY, notes=kept), "o1", "o2", "o1")) == "Protected"


def test_what_its_owner_keeps_for_a_while_moves_after_it() -> None:
    kept = stateful_set(3, MAJORITY, notes={names.DO_NOT_DISRUPT: "30m"})
    assert step(candidate(kept, "o1", "o2", "o1")).moves


def test_the_highest_above_the_floor_goes_first() -> None:
    db = stateful_set(4, "1")
    assert step(candidate(db, "o1", "o2", "o1", "s1")).decision.subject.name == "db-2"


def test_a_node_has_to_have_room_either_way() -> None:
    only_spot = fleet(node("s1", labels=ZONE), node("o1", {"pods": "0"}))
    db = candidate(stateful_set(3, MAJORITY), "s1", "o1", "s1", nodes=only_spot)
    assert reason(db, nodes=only_spot) == "NoRoomOnDemand"
    found = outcome(db, nodes=only_spot)
    assert not isinstance(found, RestoreStep)
    assert found.message == "no on-demand node has room for db-0"
    only_on_demand = fleet(node("o1"))
    db = candidate(stateful_set(3, MAJORITY), "o1", "o1", "o1", nodes=only_on_demand)
    assert reason(db, nodes=only_on_demand) == "NoRoomOnSpot"


def test_and_that_in_the_zone_of_its_volumes() -> None:
    nodes = fleet(node("o1", labels=ZONE), node("s1", labels={names.ZONE: "b"}))
    db = stateful_set(3, MAJORITY)
    pods = pods_of(db, "o1", "o1", "o1", claim="disk")
    around = NamespaceObjects(claims=[builders.claim("disk", bound_to="pv")])

    def where(volumes: dict[str, PersistentVolume] | None) -> StepOrDecision:
        there = msgspec.structs.replace(nodes, volumes=volumes)
        return outcome(candidate(db, pods=pods, nodes=there, around=around), nodes=there)

    unknown = "a volume of which nothing is known"
    candidates = [({"pv": builders.in_zone("a")}, "a volume that it mounts"), ({}, unknown)]
    for volumes, why in [*candidates, (None, unknown)]:
        found = where(volumes)
        assert not isinstance(found, RestoreStep)
        assert found.reason == "NoNodeTakesIt"
        assert found.message == f"no spot node takes db-2: {why} (1 node)"
    assert isinstance(where({"pv": builders.in_zone("b")}), RestoreStep)


def test_its_own_rules_and_its_rest_count_as_for_others() -> None:
    rules = with_rules(
        stateful_set(3, MAJORITY), nodeSelector={names.CAPACITY_LABELS[-1]: "on-demand"}
    )
    assert reason(candidate(rules, "o1", "o2", "o1")) == "OwnRules"
    resting = stateful_set(3, MAJORITY, notes=builders.cooldown(1, NOW + builders.seconds(60)))
    assert reason(candidate(resting, "o1", "o2", "o1")) == "CoolingDown"
    moved = stateful_set(3, MAJORITY, notes=restored(ON_DEMAND, pod="db-1"))
    assert step(candidate(moved, "o1", "o2", "o1")).moves


@pytest.mark.parametrize(
    ("strategy", "revision", "moves"),
    [
        ("OnDelete", "db-1", False),
        ("OnDelete", "db-2", True),
        ("RollingUpdate", "db-1", True),
    ],
)
def test_no_ordinal_is_updated_by_the_way(strategy: str, revision: str, *, moves: bool) -> None:
    db = stateful_set(3, MAJORITY)
    db = msgspec.structs.replace(
        db,
        spec=msgspec.structs.replace(db.spec, update_strategy=StatefulSetStrategy(type=strategy)),
        status=StatefulSetStatus(update_revision="db-2"),
    )
    pods = pods_of(db, "o1", "o2", "o1", labels={names.REVISION_HASH: revision})
    found = outcome(candidate(db, pods=pods))
    assert isinstance(found, RestoreStep) is moves
    if not moves:
        assert reason(candidate(db, pods=pods)) == "UpdateOnDelete"
