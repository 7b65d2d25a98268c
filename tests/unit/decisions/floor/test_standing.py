"""Where a workload stands: its replicas by capacity type, and what is off."""

from collections.abc import Sequence
from typing import Any

import pytest

from evenkeel.decisions.floor.source import FloorOf, Source
from evenkeel.decisions.floor.standing import Standing, stand
from evenkeel.decisions.restore.snapshot import Fleet
from evenkeel.model import names
from evenkeel.model.floor import ALL, MAJORITY_OF_ALL, NONE, Floor, Unit
from evenkeel.model.meta import Condition
from evenkeel.model.pod import Pod
from evenkeel.model.release import ReleaseReason
from tests import builders

SPOT, ON_DEMAND = builders.node("s1", spot=True), builders.node("o1", spot=False)
FLEET = Fleet({node.name: node for node in (SPOT, ON_DEMAND)}, frozenset(), {})
WEB = builders.deployment(replicas=3)
REPLICA_SET = builders.replica_set(of=WEB, replicas=3)
TWO = Floor(Unit.REPLICAS, 2)
NO_ROOM = Condition(type="PodScheduled", status="False", message="0/2 nodes are available")


def pods(on_demand: int = 0, spot: int = 0, waiting: int = 0, **options: Any) -> list[Pod]:
    of: dict[str, Any] = {"of": REPLICA_SET} | options
    return [
        *builders.pods(on_demand, prefix="o", node="o1", **of),
        *builders.pods(spot, prefix="s", node="s1", **of),
        *builders.pods(
            waiting, prefix="w", node="", ready=False, conditions=(NO_ROOM,), of=REPLICA_SET
        ),
    ]


def standing(
    floor: Floor, *groups: Sequence[Pod], managed: bool = True, problem: str = ""
) -> Standing:
    every = [pod for group in groups for pod in group]
    source = FloorOf(floor, Source.WORKLOAD, problem)
    return stand(WEB, source, every, FLEET.capacity, is_managed=managed)


def reasons(found: Standing) -> list[str]:
    return [remark.reason for remark in found.remarks]


def test_pods_are_counted_by_where_they_are() -> None:
    released = builders.pod("r", node="s1", of=REPLICA_SET, released=builders.release(REPLICA_SET))
    leaving = builders.pod("gone", node="o1", of=REPLICA_SET, phase="Succeeded")
    unready = builders.pods(1, prefix="u", node="o1", of=REPLICA_SET, ready=False)
    found = standing(TWO, pods(1, 2, 1), unready, [released, leaving])
    assert (found.replicas, found.wanted) == (3, 2)
    assert (found.on_demand, found.spot, found.waiting, found.released) == (2, 2, 1, 1)
    assert found.survivors == 1


def test_a_pod_on_a_node_that_is_gone_waits() -> None:
    assert standing(NONE, pods(spot=1), builders.pods(2, prefix="x", node="lost")).waiting == 2


def test_nothing_is_off_when_the_floor_stands_and_the_rest_is_on_spot() -> None:
    found = standing(TWO, pods(2, 1))
    assert (found.missing, found.surplus, found.remarks) == (0, 0, [])


@pytest.mark.parametrize(
    ("floor", "groups", "managed", "expected"),
    [
        (TWO, pods(1, 2), True, "BelowFloor"),
        (TWO, pods(1, 2), False, "NotManaged"),
        (TWO, pods(1, 1, 1), True, "NoRoom"),
        (TWO, pods(1, 1) + builders.pods(1, node="", ready=False), True, "NoRoom"),
        (ALL, pods(3, ready=False), True, "FloorNotReady"),
        (MAJORITY_OF_ALL, pods(3), True, "AboveFloor"),
    ],
)
def test_what_is_off_is_said(
    floor: Floor, groups: Sequence[Pod], expected: str, *, managed: bool
) -> None:
    found = standing(floor, groups, managed=managed)
    assert reasons(found) == [expected]


def test_the_schedulers_word_is_passed_on() -> None:
    (remark,) = standing(TWO, pods(1, 1, 1)).remarks
    assert remark.brief == "1 below its floor"
    assert remark.message == (
        "1 of its floor of 2 are not on on-demand nodes; 1 wait for a node"
        " (0/2 nodes are available): add on-demand capacity"
    )


def test_pods_on_on_demand_nodes_are_no_surplus_where_pods_are_not_placed() -> None:
    assert standing(NONE, pods(3), managed=False).remarks == []


def test_a_move_and_a_floor_that_cannot_be_read_are_told() -> None:
    released = builders.pods(
        2, prefix="r", node="s1", of=REPLICA_SET, released=builders.release(REPLICA_SET)
    )
    found = standing(NONE, pods(spot=3), released, problem="'half' is no floor")
    assert [(each.reason, each.warning) for each in found.remarks] == [
        ("FloorUnreadable", True),
        ("Moving", False),
    ]


def test_no_move_is_announced_where_a_template_places_the_pods() -> None:
    notes = {names.PLACEMENT: names.BY_TEMPLATE}
    workload = builders.deployment(replicas=3, annotations=notes)
    short = stand(
        workload, FloorOf(TWO, Source.WORKLOAD), pods(1, 2), FLEET.capacity, is_managed=True
    )
    (remark,) = short.remarks
    assert remark.reason == "BelowFloor"
    assert "its template places its pods" in remark.message
    above = stand(workload, FloorOf(TWO, Source.WORKLOAD), pods(3), FLEET.capacity, is_managed=True)
    assert above.remarks == []


@pytest.mark.parametrize(("number", "brief"), [(1, "1 eviction waits"), (2, "2 evictions wait")])
def test_evictions_that_wait_at_the_gate_are_told(number: int, brief: str) -> None:
    asked = builders.release(REPLICA_SET, reason=ReleaseReason.EVICTION)
    waiting = builders.pods(number, prefix="r", node="s1", of=REPLICA_SET, released=asked)
    found = standing(NONE, pods(spot=3), waiting)
    assert len(found.evictions) == number
    (remark,) = [each for each in found.remarks if each.reason == "EvictionsWait"]
    assert remark.brief == brief
    assert not remark.warning
