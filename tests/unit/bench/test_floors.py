"""How workloads stood while spot nodes went, and what counts as a floor that did not hold."""

from typing import Any

import msgspec
import pytest

from bench.floors.figures import Stand, Wanted, overdue, stands
from bench.floors.results import Floors, Run
from bench.floors.run import SCENARIO
from bench.placement.results import Webhook
from bench.report import floors as report
from bench.storm.figures import Sight, judge
from bench.storm.scenario import SCENARIOS
from bench.storm.workloads import manifests
from tests.unit.bench.made import CONDITIONS

BEGAN = 1_000.0
SPOT = frozenset({"s1", "s2"})
WANTED = {"large-00": Wanted(3, 1)}


def pod(at: float, uid: str, node: str, app: str = "large-00", **state: Any) -> Sight:
    values: dict[str, Any] = {
        "kind": "pod",
        "name": uid,
        "ready": True,
        "leaving": False,
        "released": False,
        "cordoned": False,
        "gone": False,
    }
    return Sight(at=BEGAN + at, uid=uid, node=node, app=app, **(values | state))


def node_gone(at: float, name: str) -> Sight:
    return pod(at, name, "", "", kind="node", name=name, ready=False, gone=True)


def stood(*sights: Sight) -> Stand:
    before = [pod(-5, "a", "o1"), pod(-5, "b", "s1"), pod(-5, "c", "s2")]
    (stand,) = stands([*before, *sights], WANTED, SPOT, BEGAN)
    return stand


def test_a_floor_stands_while_all_else_goes() -> None:
    stand = stood(pod(1, "b", "s1", leaving=True), pod(2, "c", "s2", leaving=True))
    assert (stand.at_first, stand.lowest, stand.lowest_on_demand) == ((1, 1), 1, 1)
    assert (stand.below_wanted, stand.below_floor, stand.below_on_demand) == (1, 0, 0)
    assert (stand.ready, stand.on_demand) == ((1, 1), (1, 1))
    assert not stand.is_exact


def test_pods_of_a_node_that_is_gone_do_not_count_whatever_they_say() -> None:
    stand = stood(node_gone(3, "s1"), node_gone(3, "o1"))
    assert (stand.lowest, stand.lowest_on_demand, stand.below_on_demand) == (1, 0, 1)
    assert stand.ready == (1, 1)


def test_what_happened_before_it_began_or_to_others_does_not_count() -> None:
    stand = stood(
        pod(-3, "b", "s1", ready=False),
        pod(-2, "b", "s1"),
        pod(1, "x", "s1", "else"),
        pod(2, "x", "s1", "else", gone=True),
    )
    assert (stand.lowest, stand.below_wanted) == (3, 0)


def test_a_pod_that_comes_back_does_not_undo_the_worst_moment() -> None:
    stand = stood(pod(1, "a", "o1", ready=False), pod(2, "a", "o1"))
    assert (stand.lowest, stand.lowest_on_demand) == (2, 0)
    assert (stand.below_floor, stand.below_on_demand) == (0, 1)
    assert stand.is_exact


def test_workloads_are_told_by_kind_and_by_the_worst_of_each() -> None:
    wanted = {
        "large-00": Wanted(2, 1),
        "set-00": Wanted(1, 1),
        "large-01": Wanted(2, 1),
    }
    sights = [
        pod(-5, "a", "o1"),
        pod(-5, "b", "s1"),
        pod(-5, "c", "o1", "large-01"),
        pod(-5, "d", "o1", "large-01"),
        pod(-5, "e", "o1", "set-00"),
        pod(1, "c", "o1", "large-01", leaving=True),
    ]
    large, small = stands(sights, wanted, SPOT, BEGAN)
    assert (large.kind, large.workloads, large.at_first) == ("large", 2, (1, 2))
    assert (large.lowest, large.below_wanted, large.ready) == (1, 1, (1, 2))
    assert (small.kind, small.workloads, small.is_exact) == ("set", 1, True)


def test_a_pod_that_is_there_when_its_node_ends_is_overdue() -> None:
    noticed = {"s1": BEGAN, "s2": BEGAN}
    sights = [
        pod(-5, "a", "s1"),
        pod(-5, "b", "s1"),
        pod(-5, "c", "s2"),
        pod(-5, "d", "o1"),
        pod(90, "a", "s1", leaving=True),
        pod(119, "a", "s1", gone=True),
        pod(121, "b", "s1", gone=True),
    ]
    assert overdue(sights, noticed, 120.0) == 2


@pytest.mark.parametrize("nodes", [10, 50, 100])
def test_the_floors_fill_the_on_demand_nodes_in_every_size(nodes: int) -> None:
    small = SCENARIO.of(nodes)
    assert small.pods == 30 * nodes
    assert sum(small.floors.values()) == small.idle * small.per_idle
    assert small.spot * small.per_spot >= small.pods - sum(small.floors.values())


def test_floors_are_written_as_an_owner_writes_them() -> None:
    large, small, *_ = manifests(SCENARIO)
    assert large["metadata"]["annotations"] == {"evenkeel.dev/on-demand": "20%"}
    assert (large["kind"], large["spec"]["replicas"]) == ("Deployment", 57)
    assert (small["kind"], small["spec"]["replicas"]) == ("StatefulSet", 3)
    assert "annotations" not in small["metadata"]
    assert (SCENARIO.floors["large-00"], SCENARIO.floors["set-00"]) == (12, 2)


def test_the_other_storms_have_no_floors() -> None:
    made = manifests(SCENARIOS["A"])
    assert {each["kind"] for each in made} == {"Deployment"}
    assert not any("annotations" in each["metadata"] for each in made)
    assert set(SCENARIOS["A"].floors.values()) == {0}
    assert set(SCENARIOS["A"].floors) == set(SCENARIOS["A"].replicas)


def floors(**changes: Any) -> Floors:
    outcome = judge(
        [
            pod(-1, "a", "s1"),
            pod(0.5, "s1", "", "", kind="node", name="s1", cordoned=True),
            pod(1, "a", "s1", leaving=True),
        ],
        {"large-00": 1},
        {"s1": BEGAN},
        120.0,
        30.0,
    )
    values: dict[str, Any] = {
        "conditions": CONDITIONS,
        "fill": 40.0,
        "stands": [stood(pod(1, "b", "s1", leaving=True), pod(2, "c", "s2", leaving=True))],
        "outcome": outcome,
        "overdue": 0,
        "cpu_seconds": 30.0,
        "peak_mb": 200.0,
        "webhook": Webhook(reviews=5_300, mean=0.3, cpu_seconds=16.0, peak_mb=80.0),
    }
    spot = changes.pop("spot", 1)
    return Floors(
        worker="one CPU",
        pods=3_000,
        spot=spot,
        on_demand=50,
        percent=20,
        runs=[Run(**(values | changes))],
    )


def test_floors_that_stand_and_pods_that_are_off_are_as_wanted() -> None:
    assert not floors().missed


@pytest.mark.parametrize(
    ("changes", "miss"),
    [
        ({"overdue": 3}, "3 pods still there at their node's deadline"),
        ({"spot": 4}, "3 nodes not cordoned"),
        ({"at_first": (1, 2)}, "large: (1, 2) on on-demand at first, wanted 1"),
        ({"below_floor": 2}, "2 of 1 large below their floor"),
        (
            {"below_on_demand": 1},
            "1 of 1 large had fewer than their floor Ready on on-demand nodes",
        ),
    ],
)
def test_what_is_not_as_wanted_is_told(changes: dict[str, Any], miss: str) -> None:
    found = floors()
    (stand,) = found.worst.stands
    own = {key: value for key, value in changes.items() if key in Stand.__struct_fields__}
    others = {key: value for key, value in changes.items() if key not in own}
    found = floors(stands=[msgspec.structs.replace(stand, **own)], **others)
    assert found.missed == [miss]


def test_the_table_tells_how_each_kind_stood() -> None:
    large = floors().worst.stands[0]
    small = msgspec.structs.replace(large, kind="set", ready=(1, 2))
    table = report.table(floors(stands=[large, small]))
    assert "| Deployments of 3 | 1 | 1 (20 %) | 1 | 1 | 0 | 1 |" in table
    assert "| StatefulSets of 3 | 1 | 1 (the default, a majority) | 1 | 1 | 0 | 1 to 2 |" in table
    assert "1 of 1 spot nodes cordoned within 0.5 s; 1 pods told to go" in table
