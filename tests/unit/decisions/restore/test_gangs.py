"""All pods of a gang that are on the other capacity type move at once, or none does."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Candidate
from evenkeel.decisions.restore.step import RestoreStep, StepOrDecision
from evenkeel.decisions.restore.workload import consider
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Decision
from evenkeel.model.gang import (
    Chosen,
    GroupName,
    PodGroup,
    PodGroupSpec,
    SchedulingPolicy,
    group_of_template,
)
from evenkeel.model.move import Restored
from evenkeel.model.node import Taint
from evenkeel.model.request import Patch
from tests.kit import builders
from tests.kit.builders import patched, release_on
from tests.unit.decisions.restore.candidates import (
    ON_DEMAND,
    SPOT,
    candidate,
    deployment,
    fleet,
    node,
    outcome,
    reason,
    replica_set,
    snapshot,
    stateful_set,
    step,
    with_rules,
)

TRAIN = GroupName(PodGroup, "default", "train")
SMALL = {"cpu": "1", "memory": "4Gi", "pods": "3"}


def in_group(workload: Any) -> Any:
    return with_rules(workload, schedulingGroup={"podGroupName": "train"})


def gang(floor: str, *places: str, **options: Any) -> Candidate:
    """A gang of one Deployment with a pod on each of these nodes."""
    return candidate(in_group(deployment(len(places), floor)), *places, **options)


def left(found: StepOrDecision) -> tuple[str, str]:
    assert isinstance(found, Decision)
    return found.reason, found.message


def test_the_group_is_the_template_s() -> None:
    assert group_of_template(in_group(deployment(1))) == TRAIN
    assert group_of_template(deployment(1)) is None


def test_a_group_with_the_basic_policy_is_no_gang() -> None:
    """One that cannot be read is one."""
    policy = PodGroupSpec(scheduling_policy=SchedulingPolicy(basic=Chosen()))
    group = PodGroup(metadata=builders.metadata("train"), spec=policy)
    around = NamespaceObjects(groups=[group])
    web = in_group(deployment(3, "1"))
    assert candidate(web, around=around).group is None
    assert candidate(web).group == TRAIN
    assert candidate(deployment(3, "1")).group is None
    made = step(candidate(web, "o1", "o2", "s1", around=around))
    assert (made.moves, made.decision.reason) == (1, "AboveFloor")


def test_all_on_one_capacity_type_are_as_wanted() -> None:
    assert reason(gang("none", "s1", "s2", "s1")) == "AsWanted"
    assert reason(gang("1", "o1", "o2", "o1")) == "AsWanted"


@pytest.mark.parametrize(
    ("floor", "places", "moved", "target"),
    [
        ("none", ("o1", "s2", "o2"), ("web-0", "web-2"), SPOT),
        ("none", ("o1", "o2", "o2"), ("web-0", "web-1", "web-2"), SPOT),
        ("1", ("o1", "s1", "s2"), ("web-1", "web-2"), ON_DEMAND),
    ],
)
def test_all_that_are_elsewhere_are_released_by_one_step(
    floor: str, places: tuple[str, ...], moved: tuple[str, ...], target: Capacity
) -> None:
    found = gang(floor, *places)
    made = step(found)
    write = made.decision.write
    assert write is not None
    *released, noted = write, *made.after
    pods = {pod.name: pod for pod in found.pods}
    assert [write.reference.name for write in released] == list(moved)
    for write in released:
        release = release_on(patched(pods[write.reference.name], write))
        assert release.target is target
        assert (release.wanted, release.without_room) == (3, False)
    assert (made.moves, made.counts, made.before) == (len(moved), len(moved), ())
    assert f"all {len(moved)} pods of the PodGroup train" in made.decision.message
    assert isinstance(noted, Patch)
    note = Restored.of(patched(found.workload, noted))
    assert note is not None
    on_spot = sum(place.startswith("s") for place in places)
    change = len(moved) if target is SPOT else -len(moved)
    assert (note.target, note.spot) == (target, on_spot + change)


def test_without_room_for_all_none_moves() -> None:
    where = fleet(node("o1"), node("s1", room=SMALL))
    found = gang("none", "o1", "o1", "o1", "o1", nodes=where)
    told = left(outcome(found, nodes=where))
    assert told == (
        "NoRoomForGang",
        "spot has no room for all 4 pods of the PodGroup train: none moves",
    )
    taint = Taint(key="gpu", effect="NoSchedule")
    nobody = fleet(node("o1"), node("s1", taints=[taint]))
    assert left(outcome(found, nodes=nobody)) == (
        "NoNodeTakesIt",
        "no spot node takes a pod of the PodGroup train: the taint gpu:NoSchedule (1 node)",
    )


def test_more_than_a_run_moves_are_told() -> None:
    found = gang("none", "o1", "o1", "o2")
    reason_of, message = left(outcome(found, moves=2))
    assert reason_of == "GangTooLarge"
    assert message == "3 pods of the PodGroup train move at once or none, and a run moves 2"


def test_what_is_left_of_a_run_s_budget_is_too_little_for_a_gang() -> None:
    single = candidate(deployment(2, "1", name="a"), "s1", "s2")
    made = plan(snapshot(single, gang("none", "o1", "o2", "o1"), moves=3))
    assert [each.moves for each in made.steps] == [1]
    assert [each.reason for each in made.left] == ["BudgetOfRun"]


def test_a_part_of_a_gang_does_not_move() -> None:
    found = gang("none", "o1", "s1")
    for members, is_alone in (({TRAIN: 2}, True), ({TRAIN: 3}, False), ({}, True)):
        looked = msgspec.structs.replace(snapshot(found), members=members)
        made = consider(found, looked, Rooms(looked.fleet))
        assert isinstance(made, RestoreStep) is is_alone
        if not is_alone:
            assert left(made)[0] == "Gang"


def test_one_moves_where_the_policy_tells_its_floor() -> None:
    """Some on-demand is all of a gang, which the policy need not count."""
    told = {"by_policy": True, "of_namespace": {names.ON_DEMAND: "1"}}
    assert step(gang("1", "s1", "s2", **told)).moves == 2


def test_a_stateful_set_s_gang_does_not_move() -> None:
    assert reason(candidate(in_group(stateful_set(2, "none")), "o1", "s1")) == "Gang"


@pytest.mark.parametrize(("word", "keeps"), [("true", True), ("4h", True), ("30m", False)])
def test_one_pod_that_may_not_be_handed_over_keeps_all(word: str, *, keeps: bool) -> None:
    web = in_group(deployment(2, "none"))
    free = builders.pod("web-0", of=replica_set(web), node="o1")
    notes = {names.DO_NOT_DISRUPT: word}
    kept = builders.pod("web-1", of=replica_set(web), node="o2", annotations=notes)
    made = outcome(candidate(web, pods=[free, kept]))
    found = made.decision if isinstance(made, RestoreStep) else made
    assert found.reason == ("Protected" if keeps else "AboveFloor")


def test_a_budget_without_room_or_a_replica_set_that_cannot_make_pods_keeps_all() -> None:
    never = builders.budget(max_unavailable=0, healthy=2, demanded=2)
    web = in_group(deployment(2, "none"))
    around = NamespaceObjects(budgets=[never])
    assert reason(candidate(web, "o1", "o2", around=around)) == "BudgetHolds"
    failing = replica_set(web, failure="quota exceeded")
    assert reason(candidate(web, "o1", "o2", replica_sets=[failing])) == "CannotBeReplaced"
