"""One pool has more of a workload's pods than its goal: a pod goes to another, or it waits."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenkeel.decisions.restore.other_pool import MOST_TERMS
from evenkeel.decisions.restore.snapshot import Candidate, NotTaken
from evenkeel.decisions.restore.step import RestoreStep, StepOrDecision
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.decision import Verb
from evenkeel.model.move import Restored, move_of
from evenkeel.model.node import Node
from evenkeel.model.pool import Pool
from evenkeel.model.release import rest_after
from evenkeel.model.request import Create
from evenkeel.model.spot_rest import SpotRest
from tests.kit import builders
from tests.kit.builders import NOW, patched, release_on
from tests.unit.decisions.restore.candidates import (
    SPOT,
    candidate,
    deployment,
    fleet,
    node,
    planned,
    restored,
    stateful_set,
    with_rules,
)

A, B, C = Pool("m5", "a"), Pool("m5", "b"), Pool("c5", "a")
FULL = {"cpu": "0", "pods": "0"}


def at(name: str, pool: Pool, **options: Any) -> Node:
    labels = {names.INSTANCE_TYPE: pool.type, names.ZONE: pool.zone}
    return node(name, labels={key: value for key, value in labels.items() if value}, **options)


THREE = fleet(at("sa", A), at("sb", B), at("sc", C), node("o1"))


def web(goal: str, *places: str, nodes: Fleet = THREE, **options: Any) -> Any:
    """The candidate of a Deployment with this goal and pods on these nodes."""
    notes = {names.ONE_POOL_AT_MOST: goal} | options.pop("notes", {})
    name, paused = options.pop("name", "web"), options.pop("paused", False)
    workload = deployment(len(places), options.pop("floor", ""), notes=notes, name=name)
    spec = msgspec.structs.replace(workload.spec, paused=paused)
    workload = msgspec.structs.replace(workload, spec=spec)
    workload = with_rules(workload, **options.pop("rules", {}))
    return candidate(workload, *places, nodes=nodes, **options)


def outcome(candidate: Candidate, **options: Any) -> StepOrDecision:
    """What becomes of one workload, but for a note of its full pools."""
    made = planned(candidate, **options)
    both: list[StepOrDecision] = [*made.left, *made.steps]
    return both[0]


def step(candidate: Candidate, **options: Any) -> RestoreStep:
    found = outcome(candidate, **options)
    assert isinstance(found, RestoreStep), found.message
    return found


def reason(candidate: Candidate, **options: Any) -> str:
    found = outcome(candidate, **options)
    assert not isinstance(found, RestoreStep), found.decision.message
    return found.reason


def notes(candidate: Candidate, **options: Any) -> list[str | None]:
    """What is noted of full pools by the plan for one workload; None: the note is taken off."""
    steps = planned(candidate, nodes=THREE, **options).steps
    written = [step.decision.write for step in steps if not step.moves]
    made = [patched(candidate.workload, write) for write in written]
    return [each.metadata.annotations.get(names.FULL_POOLS) for each in made]


def avoided(made: RestoreStep) -> tuple[Pool, ...]:
    """The pools that the move's Lease names."""
    (told,) = made.before
    assert isinstance(told, Create)
    assert isinstance(told.object, Lease)
    move = move_of(told.object)
    assert move is not None
    assert move.target is SPOT
    return move.avoid


def test_a_pod_leaves_the_fullest_pool_for_one_that_is_not_full() -> None:
    crowded = web("1", "sa", "sa", "sa", "sb", "sb")
    made = step(crowded, nodes=THREE)
    assert (made.decision.verb, made.decision.reason) == (Verb.RELEASE, "PoolTooFull")
    assert made.decision.message.startswith("to another pool: m5 in a is to have 1 at most; 5 are")
    assert (made.decision.node, made.moves) == ("sa", 1)
    assert avoided(made) == (A, B)
    pod = next(each for each in crowded.pods if each.name == made.decision.subject.name)
    release = release_on(patched(pod, made.decision.write))
    assert (release.target, release.avoid, release.there) == (SPOT, (A, B), 0)
    (note,) = made.after
    assert Restored.of(patched(crowded.workload, note)) == Restored(
        at=NOW, target=SPOT, pod=pod.name, spot=5, most=3
    )


def test_those_outside_the_full_pools_are_counted_and_no_others() -> None:
    crowded = web("2", "sa", "sa", "sa", "sc", "o1", floor="1")
    made = step(crowded, nodes=THREE)
    pod = next(each for each in crowded.pods if each.name == made.decision.subject.name)
    assert release_on(patched(pod, made.decision.write)).there == 1


def test_a_pool_may_have_as_many_as_its_goal_and_nobody_may_ask_for_one() -> None:
    assert reason(web("2", "sa", "sa"), nodes=THREE) == "AsWanted"
    assert reason(candidate(deployment(2), "sa", "sa", nodes=THREE), nodes=THREE) == "AsWanted"


@pytest.mark.parametrize(
    "other",
    [at("sb", B, room=FULL), at("sb", A), node("o1"), at("sb", B, unschedulable=True)],
    ids=["without room", "of the same pool", "on-demand", "cordoned"],
)
def test_where_no_other_pool_has_room_it_stays(other: Node) -> None:
    here = fleet(at("sa", A), other)
    found = outcome(web("1", "sa", "sa", nodes=here), nodes=here)
    assert not isinstance(found, RestoreStep)
    assert (found.verb, found.reason) == (Verb.LEAVE, "PoolTooFull")


def test_a_full_pool_is_no_place_to_go() -> None:
    here = fleet(at("sa", A), at("sb", B))
    found = outcome(web("1", "sa", "sa", "sb", nodes=here), nodes=here)
    assert not isinstance(found, RestoreStep)
    assert found.reason == "PoolTooFull"
    assert found.message.startswith("m5 in a has too many of its pods, and no other pool")


def test_nodes_without_labels_are_a_pool_to_leave() -> None:
    here = fleet(node("s1"), at("sb", B))
    made = step(web("1", "s1", "s1", nodes=here), nodes=here)
    assert avoided(made) == (Pool(),)


def test_a_missing_floor_and_what_is_above_it_come_first() -> None:
    below = web("1", "sa", "sa", floor="1")
    assert step(below, nodes=THREE).decision.reason == "FloorMissing"
    above = web("1", "sa", "sa", "o1")
    assert step(above, nodes=THREE).decision.reason == "AboveFloor"


def test_a_stateful_set_stays() -> None:
    db = stateful_set(2, "none", notes={names.ONE_POOL_AT_MOST: "1"})
    assert reason(candidate(db, "sa", "sa", nodes=THREE), nodes=THREE) == "AsWanted"


def test_none_moves_in_a_rollout_nor_while_it_is_scaled() -> None:
    scaled = web("1", "sa", "sa", replica_sets=[])
    assert reason(scaled, nodes=THREE) == "InRollout"


def test_after_a_move_it_rests_for_ten_minutes() -> None:
    def told(minutes: float) -> Any:
        at = NOW - timedelta(minutes=minutes)
        return outcome(web("1", "sa", "sa", "sb", notes=restored(SPOT, at=at)), nodes=THREE)

    for minutes in (0, 9.9):
        found = told(minutes)
        assert (found.verb, found.reason) == (Verb.WAIT, "PoolTooFull")
        assert found.until == NOW + timedelta(minutes=10 - minutes)
        assert found.message.startswith("m5 in a has too many of its pods: none moves before ")
    assert isinstance(told(10), RestoreStep)
    assert isinstance(told(-1), RestoreStep)  # a time that has not come is not believed


def test_after_such_moves_failed_it_rests_longer_each_time_but_goes_to_spot_at_once() -> None:
    def told(failures: int, rolled_back: float, moved: float, *places: str) -> Any:
        until = NOW - timedelta(minutes=rolled_back) + rest_after(failures)
        last = restored(SPOT, at=NOW - timedelta(minutes=moved))
        rest = builders.cooldown(failures, until, names.POOL_COOLDOWN)
        return outcome(web("1", *(places or ("sa", "sa")), notes=rest | last), nodes=THREE)

    assert (told(3, 19, 24).verb, told(3, 19, 24).until) == (Verb.WAIT, NOW + timedelta(minutes=1))
    assert isinstance(told(3, 20, 25), RestoreStep)
    assert told(3, 60, 19).until == NOW + timedelta(minutes=1)
    assert isinstance(told(3, 60, 20), RestoreStep)
    assert told(3, 1, 6, "sa", "sa", "o1").decision.reason == "AboveFloor"


def test_an_affinity_that_would_get_too_many_terms_stays_as_it_is() -> None:
    """Each of its terms becomes six: three labels say spot, and two terms exclude a pool."""

    def with_terms(number: int) -> Any:
        clause = {"key": "size", "operator": "DoesNotExist"}
        required = {"nodeSelectorTerms": [{"matchExpressions": [clause]}] * number}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
        return outcome(web("1", "sa", "sa", rules={"affinity": affinity}), nodes=THREE)

    assert MOST_TERMS == 20
    assert isinstance(with_terms(3), RestoreStep)
    assert (with_terms(4).verb, with_terms(4).reason) == (Verb.LEAVE, "PoolTooFull")
    assert with_terms(4).message == (
        "excluding pools in one zone beside its own affinity takes 24 terms, and 20 are the most"
    )


def test_pools_in_many_zones_take_too_many_terms() -> None:
    def in_zones(zones: str, labels: CapacityLabels = WELL_KNOWN) -> StepOrDecision:
        here = fleet(*(at(f"s{zone}", Pool("m5", zone)) for zone in f"{zones}z"))
        here = msgspec.structs.replace(here, labels=labels)
        places = [f"s{zone}" for zone in f"{zones}a"]
        return outcome(web("1", *places, nodes=here), nodes=here)

    assert isinstance(in_zones("abcde"), RestoreStep)
    assert isinstance(in_zones("abcd", CapacityLabels(names_interruptible=True)), RestoreStep), (
        "20 terms"
    )
    found = in_zones("abcdef")
    assert not isinstance(found, RestoreStep)
    assert found.message == "excluding pools in 6 zones takes 21 terms, and 20 are the most"


def test_its_own_rules_decide_which_nodes_have_room() -> None:
    rules = {"nodeSelector": {names.ZONE: "a"}}
    here = fleet(at("sa", A), at("sb", B))
    assert reason(web("1", "sa", "sa", nodes=here, rules=rules), nodes=here) == "PoolTooFull"
    assert step(web("1", "sa", "sa", rules=rules), nodes=THREE).moves == 1


def test_full_pools_are_noted_where_nothing_moves() -> None:
    full = {names.FULL_POOLS: '[["c5","a"],["m5","a"]]'}
    assert notes(web("2", "sa", "sa", "sb", "sc", "sc")) == [full[names.FULL_POOLS]]
    assert notes(web("2", "sa", "sa", "sb", "sc", "sc", notes=full)) == []
    assert notes(web("3", "sa", "sa", "sb", "sc", "sc", notes=full)) == [None]
    assert notes(web("3", "sa", "sa", "sb", "sc", "sc")) == []
    assert notes(candidate(deployment(2, notes=full), "sa", "sa", nodes=THREE)) == [None]
    assert notes(web("1", "sa", "sa")) == []  # a pod moves
    (noting,) = planned(web("2", "sa", "sa", "sb", "sc", "sc"), nodes=THREE).steps
    assert noting.decision.message == "pools with 2 of its pods: c5 in a; m5 in a"
    db = stateful_set(2, "none", notes={names.ONE_POOL_AT_MOST: "1"})
    assert notes(candidate(db, "sa", "sa", nodes=THREE)) == ['[["m5","a"]]']


def test_nothing_is_noted_on_a_workload_that_is_not_restores() -> None:
    full = {names.FULL_POOLS: '[["m5","a"]]'}
    assert notes(web("1", "sa", "sa", is_managed=False)) == []
    assert notes(web("1", "sa", "sa", is_managed=False, notes=full)) == [None]
    notes_of_goal = {names.ONE_POOL_AT_MOST: "1"}
    system = deployment(2, notes=notes_of_goal | full, namespace="kube-system")
    assert notes(candidate(system, "sa", "sb", nodes=THREE)) == []


def test_nothing_is_noted_on_a_workload_about_which_no_write_is_taken() -> None:
    full = web("2", "sa", "sa", "sb", "sc", "sc")
    until = NOW + timedelta(minutes=1)
    rests = {full.workload.key: NotTaken(words="annotate is not taken", until=until)}
    assert notes(full, not_taken=rests) == []


def test_nothing_is_noted_where_it_helps_no_pod() -> None:
    full = {names.FULL_POOLS: '[["m5","a"]]'}
    by_template = {names.PLACEMENT: names.BY_TEMPLATE}
    assert notes(web("1", "sa")) == []
    assert notes(web("1", "sa", notes=full)) == [None]
    assert notes(web("1", "sa", "sb", paused=True)) != []
    assert notes(web("1", "sa", "sb", notes=by_template, paused=True)) == []


def test_a_workload_has_one_step_also_where_a_node_is_asked_for() -> None:
    here = fleet(at("sa", A, room=FULL), node("o1"))
    above = web("1", "sa", "o1", nodes=here)
    made = planned(above, nodes=here, rest=SpotRest())
    assert [each.decision.reason for each in made.steps] == ["AboveFloor"]


def test_no_more_is_noted_in_one_run_than_pods_may_move() -> None:
    candidates = [web("1", "sa", "sb", name=f"web-{number}") for number in range(5)]
    assert len(planned(*candidates, nodes=THREE, moves=3).steps) == 3


def numbered(number: int) -> Pool:
    """One of many pools, in three zones."""
    return Pool(f"m{number // 3:02}", "abc"[number % 3])


def test_where_more_pools_are_full_than_a_move_can_exclude_none_moves() -> None:
    def with_full(number: int) -> StepOrDecision:
        here = fleet(*(at(f"s{each}", numbered(each)) for each in range(number + 1)))
        places = ["s0", *(f"s{each}" for each in range(number))]
        return outcome(web("1", *places, nodes=here), nodes=here)

    assert isinstance(with_full(16), RestoreStep)
    found = with_full(17)
    assert not isinstance(found, RestoreStep)
    assert found.reason == "PoolTooFull"
    assert found.message == "17 pools are full, and a move can exclude 16: none moves"


pools = st.dictionaries(st.integers(0, 19), st.integers(0, 6), min_size=1)


@given(pools, st.integers(1, 4))
@example(dict.fromkeys(range(18), 1) | {0: 2}, 1)
def test_moves_come_to_an_end_with_the_goal_kept_or_too_many_pools_full(
    spread: Mapping[int, int], goal: int
) -> None:
    """Wherever a replacement lands of the pools that it may be in: here in the last by number."""
    counts = Counter(spread)
    here = fleet(*(at(f"s{number}", numbered(number)) for number in spread))
    for _ in range(sum(spread.values()) + 1):
        places = [f"s{number}" for number in counts.elements()]
        found = outcome(web(str(goal), *places, nodes=here), nodes=here) if places else None
        if not isinstance(found, RestoreStep):
            break
        full = avoided(found)
        counts[int(found.decision.node[1:])] -= 1
        counts[max(number for number in spread if numbered(number) not in full)] += 1
    else:
        raise AssertionError(f"moves do not end: {spread}, {goal}")
    full_pools = sum(counts[number] >= goal for number in spread)
    is_kept = all(number <= goal for number in counts.values())
    assert is_kept or full_pools > 16 or full_pools == len(spread)
