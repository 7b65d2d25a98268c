"""The plan for all workloads: who comes first, and how many move in one run."""

from evenkeel.decisions.restore.plan import plan_again
from evenkeel.decisions.restore.snapshot import Candidate, NotTaken
from evenkeel.decisions.restore.step import RestorePlan
from evenkeel.model.decision import Verb
from tests.kit.builders import NOW, seconds
from tests.unit.decisions.restore.candidates import (
    candidate,
    deployment,
    fleet,
    node,
    planned,
    snapshot,
    step,
    waiting,
)


def web(name: str, *places: str, floor: str = "1") -> Candidate:
    return candidate(deployment(len(places), floor, name=name), *places)


def order(made: RestorePlan) -> list[str]:
    return [str(step.decision.workload).rpartition("/")[2] for step in made.steps]


def test_missing_floors_come_before_surplus_and_the_furthest_off_first() -> None:
    made = planned(
        web("as-wanted", "o1", "s1"),
        web("much-above", "o1", "o2", "o1", "o2"),
        web("above", "o1", "o2", "s1", "s2"),
        web("below", "s1", "s2", "s1", "o1", floor="2"),
        web("all-below", "s1", "s2", floor="2"),
        web("as-much-above", "o1", "o2", "o1", "o2"),
        web("all-above", "o1", floor="none"),
        web("more-pods-above", *["o1"] * 6, *["s1"] * 4),
    )
    below, all_above = ["all-below", "below"], ["all-above"]
    above = ["as-much-above", "much-above", "more-pods-above", "above"]
    assert order(made) == below + all_above + above
    assert [each.reason for each in made.left] == ["AsWanted"]


def test_beyond_the_budget_of_a_run_they_wait_for_the_next() -> None:
    made = planned(*(web(name, "o1", "o2") for name in "cab"), moves=2)
    assert order(made) == ["a", "b"]
    (left,) = made.left
    assert (left.subject.name, left.verb, left.reason) == ("c", Verb.WAIT, "BudgetOfRun")


def test_what_is_no_move_is_beyond_no_budget() -> None:
    relaxing = deployment(1, "1", name="z")
    made = planned(web("a", "o1", "o2"), candidate(relaxing, pods=[waiting(relaxing)]), moves=1)
    assert order(made) == ["z", "a"]


def test_each_move_takes_its_room() -> None:
    nodes = fleet(node("o1"), node("s1", {"cpu": "4", "pods": "1"}))
    candidates = [
        candidate(deployment(2, "1", name=name), "o1", "o1", nodes=nodes) for name in "abc"
    ]
    made = planned(*candidates, nodes=nodes)
    assert order(made) == ["a"]
    assert [each.reason for each in made.left] == ["NoRoomOnSpot"] * 2


def test_a_floor_that_cannot_be_read_is_a_warning_and_no_pod_moves() -> None:
    made = planned(web("typo", "o1", "s1", floor="tow"))
    assert order(made) == []
    left, also = made.left
    assert also.reason == "DefaultFloor"
    assert (left.verb, left.reason, left.warning) == (Verb.REJECT, "BadFloor", True)
    assert "tow" in left.message
    unmanaged = candidate(deployment(1, "tow"), "o1", is_managed=False)
    assert [each.reason for each in planned(unmanaged).left] == ["NotManaged"]


def test_one_workload_can_be_decided_about_again_alone() -> None:
    first, second = web("a", "o1", "o2"), web("b", "o1", "o2")
    again = plan_again(snapshot(first, second), second, step(second))
    assert again is not None
    assert again.workload == second.workload.key


def resting(*candidates: Candidate) -> dict[str, NotTaken]:
    """Nothing is written about these for a minute."""
    until = NOW + seconds(60)
    words = "release is not taken: the platform team says no"
    return {candidate.workload.key: NotTaken(words=words, until=until) for candidate in candidates}


def test_one_about_which_no_write_is_taken_rests() -> None:
    one, two = web("a", "o1", "o2"), web("b", "o1", "o2")
    made = planned(one, two, not_taken=resting(one))
    assert order(made) == ["b"]
    (left,) = made.left
    assert (left.subject.name, left.reason, left.warning) == ("a", "WriteRefused", True)
    assert left.message.startswith("release is not taken: the platform team says no: not tried")
    assert left.until == NOW + seconds(60)


def test_one_that_rests_takes_no_room_from_others() -> None:
    nodes = fleet(node("o1"), node("s1", {"cpu": "4", "pods": "1"}))
    one, two = (candidate(deployment(1, "none", name=name), "o1", nodes=nodes) for name in "ab")
    made = planned(one, two, nodes=nodes, not_taken=resting(one))
    assert order(made) == ["b"]
    assert [each.reason for each in made.left] == ["NoRoomOnSpot"]


def test_one_that_rests_is_as_wanted_all_the_same() -> None:
    as_wanted = web("a", "o1", "s1")
    made = planned(as_wanted, not_taken=resting(as_wanted))
    assert [each.reason for each in made.left] == ["AsWanted"]
