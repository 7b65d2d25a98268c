"""Floors for which no on-demand node has room are relaxed, and held again."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.restore.step import RestoreStep
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.meta import Condition
from evenkeel.model.placement import OF_ITS_FLOOR, Relaxation, is_relaxed
from evenkeel.model.request import Delete
from tests.kit.builders import NOW, patched
from tests.unit.decisions.restore.candidates import (
    SPOT,
    candidate,
    deployment,
    fleet,
    node,
    outcome,
    pods_of,
    reason,
    step,
    unscheduled,
    waiting,
    with_rules,
)

MINUTE = timedelta(minutes=1)
NO_ON_DEMAND = fleet(node("s1"), node("s2"))


def relaxed(until: timedelta) -> dict[str, str]:
    value = Relaxation(until=NOW + until)
    return {names.FLOOR_RELAXED: msgspec.json.encode(value).decode()}


def test_after_a_while_a_waiting_floor_may_go_to_spot() -> None:
    web = deployment(3, "2")
    pods = [*pods_of(web, "s1"), *(waiting(web, name, age=5 * MINUTE) for name in ("w1", "w2"))]
    made = step(candidate(web, pods=pods))
    assert made.decision.verb is Verb.RELAX
    assert "2 pods of its floor wait" in made.decision.message
    assert made.decision.warning
    assert made.decision.subject == web.reference
    assert Relaxation.of(patched(web, made.decision.write)) == Relaxation(until=NOW + 30 * MINUTE)
    assert [each.name for each in made.after if isinstance(each, Delete)] == ["w1", "w2"]
    assert all(isinstance(each, Delete) and each.uid for each in made.after)
    assert not made.moves


@pytest.mark.parametrize(
    "options",
    [
        {"age": timedelta(minutes=4)},
        {"why": None},
        {"capacity": SPOT},
        {"preferred": True},
    ],
    ids=["not for long", "not refused", "not of the floor", "it may go to spot anyhow"],
)
def test_before_that_it_waits(options: dict[str, Any]) -> None:
    web = deployment(2, "2")
    assert reason(candidate(web, pods=[*pods_of(web, "o1"), waiting(web, **options)])) == "PodsWait"


GATED = unscheduled("Scheduling is blocked due to non-empty scheduling gates", "SchedulingGated")
UNBOUND = unscheduled("0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims.")


@pytest.mark.parametrize("why", [GATED, UNBOUND], ids=["gated", "claim unbound"])
def test_what_waits_for_something_else_than_room_is_left_with_the_words_that_it_has(
    why: Condition,
) -> None:
    web = deployment(2, "2")
    pods = [*pods_of(web, "o1"), waiting(web, why=why), waiting(web, "w2", why=why)]
    found = outcome(candidate(web, pods=pods))
    assert not isinstance(found, RestoreStep)
    assert (found.reason, found.verb) == ("PodsWait", Verb.WAIT)
    assert found.message == f"2 of its pods wait for a node ({why.message.rstrip('.')})"


@pytest.mark.parametrize(
    ("rules", "room", "why"),
    [
        ({"nodeSelector": {"disk": "ssd"}}, "4", "no spot node takes one of its floor: its node"),
        ({}, "0", "no spot node has room for one of its floor"),
    ],
    ids=["no node", "no room"],
)
def test_a_pod_for_which_spot_has_no_place_either_is_left(
    rules: dict[str, Any], room: str, why: str
) -> None:
    web = with_rules(deployment(1, "1"), **rules)
    nodes = fleet(node("s1", {"cpu": room, "pods": room}))
    found = outcome(candidate(web, pods=[waiting(web)], nodes=nodes), nodes=nodes)
    assert not isinstance(found, RestoreStep)
    assert found.reason == "PodsWait"
    assert f"affinity/selector), and {why}" in found.message


def test_of_several_those_go_that_have_room_on_spot() -> None:
    web = deployment(3, "3")
    nodes = fleet(node("s1", {"cpu": "4", "pods": "2"}))
    pods = [waiting(web, name) for name in ("w1", "w2", "w3")]
    made = step(candidate(web, pods=pods, nodes=nodes), nodes=nodes)
    assert [each.name for each in made.after if isinstance(each, Delete)] == ["w1", "w2"]
    assert "2 pods of its floor wait" in made.decision.message


def test_it_is_said_of_the_first_of_them_why_no_on_demand_node_takes_it() -> None:
    web = deployment(2, "all")
    flavored = with_rules(web, nodeSelector={"example.com/flavor": "spot"})
    nodes = fleet(node("o1"), node("s1", labels={"example.com/flavor": "spot"}))
    lacking = {"takes": (flavored, web), "has room": (web, flavored)}
    for lacks, (first, second) in lacking.items():
        pods = [waiting(first, "w1"), waiting(second, "w2")]
        made = step(candidate(web, pods=pods, nodes=nodes), nodes=nodes)
        assert made.decision.message.startswith(f"no on-demand node {lacks}")


def test_while_relaxed_too() -> None:
    web = deployment(2, "2", notes=relaxed(29 * MINUTE))
    pods = [*pods_of(web, "s1"), waiting(web, why=GATED)]
    found = outcome(candidate(web, pods=pods, nodes=NO_ON_DEMAND), nodes=NO_ON_DEMAND)
    assert not isinstance(found, RestoreStep)
    assert found.reason == "FloorRelaxed"


def test_what_was_made_for_a_move_and_is_gated_stays() -> None:
    web = deployment(2, "1")
    gated = waiting(web, capacity=SPOT, move="gone", why=GATED)
    assert reason(candidate(web, pods=[*pods_of(web, "o1"), gated])) == "AsWanted"


def test_a_pod_that_the_extender_keeps_off_spot_relaxes_its_floor() -> None:
    web = deployment(2, "2")
    why = unscheduled(f"0/2 nodes are available: 2 {OF_ITS_FLOOR}.")
    placed = (waiting(web, "w1", why=why), waiting(web, "w2"))
    pods = [
        msgspec.structs.replace(
            each, metadata=msgspec.structs.replace(each.metadata, annotations={})
        )
        for each in placed
    ]
    made = step(candidate(web, pods=pods))
    assert made.decision.verb is Verb.RELAX
    assert [each.name for each in made.after if isinstance(each, Delete)] == ["w1"]


def test_a_pod_that_was_not_placed_relaxes_nothing() -> None:
    assert reason(candidate(deployment(2, "2"), "o1", "")) == "PodsWait"


def test_while_relaxed_the_floor_is_not_missed() -> None:
    web = deployment(2, "2", notes=relaxed(15 * MINUTE))
    found = outcome(candidate(web, "s1", "s2", nodes=NO_ON_DEMAND), nodes=NO_ON_DEMAND)
    assert getattr(found, "reason", "") == "FloorRelaxed"
    assert getattr(found, "warning", False)


def test_a_pod_made_before_the_webhook_knew_is_deleted() -> None:
    web = deployment(3, "2", notes=relaxed(29 * MINUTE))
    late = waiting(web, "late", age=timedelta(seconds=30))
    made = step(candidate(web, pods=[*pods_of(web, "s1", "s2"), late]))
    assert made.decision.verb is Verb.RELAX
    assert [each.name for each in made.after if isinstance(each, Delete)] == ["late"]


def test_it_is_said_again_before_it_ends() -> None:
    web = deployment(2, "2", notes=relaxed(14 * MINUTE))
    made = step(candidate(web, "s1", "s2", nodes=NO_ON_DEMAND), nodes=NO_ON_DEMAND)
    assert made.decision.verb is Verb.RELAX
    assert "its floor has waited" in made.decision.message
    assert Relaxation.of(patched(web, made.decision.write)) == Relaxation(until=NOW + 30 * MINUTE)
    assert made.after == []


@pytest.mark.parametrize(
    ("places", "nodes", "until"),
    [
        (("s1",), fleet(), 20 * MINUTE),
        (("o1", "o2"), fleet(), 20 * MINUTE),
        (("s1", "s2"), NO_ON_DEMAND, -MINUTE),
    ],
    ids=["room again", "nothing missing", "over"],
)
def test_it_holds_again(places: tuple[str, ...], nodes: Any, until: timedelta) -> None:
    web = deployment(len(places), "all", notes=relaxed(until))
    made = step(candidate(web, *places, nodes=nodes), nodes=nodes)
    assert made.decision.verb is Verb.HOLD
    assert not made.decision.warning
    assert not is_relaxed(patched(web, made.decision.write), NOW)


def test_one_without_pods_is_not_held_for_their_room() -> None:
    web = deployment(2, "2", notes=relaxed(29 * MINUTE))
    assert reason(candidate(web, pods=[])) == "FloorRelaxed"


def test_a_pod_made_for_a_move_that_is_over_is_deleted() -> None:
    web = deployment(2, "1")
    orphan = waiting(web, capacity=SPOT, move="gone", age=timedelta(seconds=30))
    made = step(candidate(web, pods=[*pods_of(web, "o1"), orphan]))
    assert (made.decision.verb, made.decision.reason) == (Verb.DELETE, "MoveIsOver")
    assert made.decision.subject == orphan.reference
    young = waiting(web, capacity=SPOT, move="gone", age=timedelta(seconds=29))
    assert reason(candidate(web, pods=[*pods_of(web, "o1"), young])) == "AsWanted"


def test_a_pod_without_a_time_is_young() -> None:
    web = deployment(2, "2")
    pod = waiting(web)
    timeless = msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, creation_timestamp=None)
    )
    assert reason(candidate(web, pods=[*pods_of(web, "o1"), timeless])) == "PodsWait"


def test_a_gang_s_floor_is_not_relaxed() -> None:
    """It would be on both capacity types."""
    web = with_rules(deployment(3, "2"), schedulingGroup={"podGroupName": "train"})
    pods = [*pods_of(web, "o1"), waiting(web, "w1"), waiting(web, "w2")]
    assert reason(candidate(web, pods=pods)) == "PodsWait"


def test_where_its_own_rules_keep_it_off_on_demand_room_is_not_what_it_lacks() -> None:
    """As a queue of jobs adds them to pods that wait at its gate."""
    web = with_rules(deployment(2, "all"), nodeSelector={"example.com/flavor": "spot"})
    flavored = {"example.com/flavor": "spot"}
    nodes = fleet(node("o1"), node("s1", labels=flavored))
    found = candidate(web, pods=[*pods_of(web, "s1"), waiting(web, "w1")], nodes=nodes)
    own = "no on-demand node takes one of its floor: its node selector example.com/flavor=spot"
    assert step(found, nodes=nodes).decision.message.startswith(f"{own} (1 node), and 1 pods")
    until = msgspec.structs.replace(found, workload=with_notes(web, relaxed(20 * MINUTE)))
    told = outcome(until.with_pods(pods_of(web, "s1"), until.workload), nodes=nodes)
    assert not isinstance(told, RestoreStep)
    assert told.message.startswith(f"{own} (1 node): its floor may be on spot until")


def with_notes(workload: Any, notes: dict[str, str]) -> Any:
    annotations = {**workload.metadata.annotations, **notes}
    metadata = msgspec.structs.replace(workload.metadata, annotations=annotations)
    return msgspec.structs.replace(workload, metadata=metadata)
