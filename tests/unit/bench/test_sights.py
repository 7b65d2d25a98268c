"""What an observer saw, as figures."""

from typing import Any

import pytest

from bench.cases.drainers import emptied
from bench.figure import NONE, percentiles
from bench.lab.sights import Sight, fewest, judge, overlaps, ready_seconds_lost

BEGAN = 1_000.0
NOTICED = {"s1": BEGAN, "s2": BEGAN}


def pod(at: float, uid: str, node: str, **state: Any) -> Sight:
    values: dict[str, Any] = {
        "kind": "pod",
        "name": uid,
        "app": "web",
        "ready": True,
        "leaving": False,
        "released": False,
        "cordoned": False,
        "gone": False,
    }
    return Sight(at=BEGAN + at, uid=uid, node=node, **(values | state))


def node(at: float, name: str, **state: Any) -> Sight:
    values = {"kind": "node", "name": name, "app": "", "ready": False, "cordoned": True}
    return pod(at, name, "", **(values | state))


def told(*sights: Sight, replicas: int = 2) -> dict[str, Any]:
    before = [pod(-5, "a", "s1"), pod(-5, "b", "s2")]
    found = judge([*before, *sights], {"web": replicas}, NOTICED, 120.0, 30.0)
    return {each.name: each.value for each in found}


def test_make_before_break_never_goes_below_what_is_wanted() -> None:
    found = told(
        node(0.5, "s1"),
        node(0.7, "s2"),
        pod(1, "a", "s1", released=True),
        pod(2, "b", "s2", released=True),
        pod(4, "c", "o1", ready=False),
        pod(6, "c", "o1"),
        pod(7, "d", "o1"),
        pod(8, "a", "s1", leaving=True),
        pod(9, "b", "s2", leaving=True),
        pod(10, "a", "s1", gone=True),
    )
    assert found == {
        "workloads below wanted": 0,
        "workloads at zero": 0,
        "lowest ready share": 1.0,
        "pods too late": 0,
        "pods never told to go": 0,
        "replaced in time": 2,
        "nodes cordoned": 2,
        "last node cordoned": pytest.approx(0.7),
        "first pod touched": 1,
        "releases done": 2,
        "all off": 9,
        "all Ready": 7,
        "all off and Ready": 9,
        "overlap, median": 2.0,
        "overlap, worst": 2.0,
        "Ready pods": [2, 2, 2, 2, 2, 2],
    }


def test_break_before_make_shows_how_low_it_went() -> None:
    found = told(
        pod(1, "a", "s1", leaving=True),
        pod(1, "b", "s2", leaving=True),
        pod(5, "c", "o1"),
        pod(6, "d", "o1"),
    )
    assert (found["lowest ready share"], found["workloads at zero"]) == (0.0, 1)
    assert (found["all Ready"], found["releases done"], found["overlap, worst"]) == (6, None, 0)
    assert found["Ready pods"] == [0, 0, 0, 1]


def test_a_pod_that_goes_after_its_last_moment_is_late_and_one_that_stays_is_left() -> None:
    found = told(pod(90.1, "a", "s1", leaving=True))
    assert (found["pods too late"], found["pods never told to go"]) == (1, 1)
    assert (found["all off"], found["all Ready"]) == (None, None)
    assert told(pod(89.9, "a", "s1", leaving=True))["pods too late"] == 0


def test_what_is_left_on_a_node_that_has_ended_serves_no_more() -> None:
    """Its object says that it is Ready until it is deleted."""
    found = told(
        pod(118, "c", "o1"),
        pod(119, "a", "s1", leaving=True),
        pod(121, "b", "s2", released=True),
        pod(125, "d", "o1"),
    )
    assert (found["lowest ready share"], found["workloads below wanted"]) == (0.5, 1)
    assert (found["pods too late"], found["all Ready"]) == (1, 125)
    assert found["Ready pods"][59:61] == [2, 1]


def test_a_surplus_of_one_workload_does_not_hide_what_another_lacks() -> None:
    assert told(pod(1.0, "c", "o1"), pod(2.0, "d", "o1"))["Ready pods"] == [2, 2]


def test_pods_of_others_and_what_happened_before_do_not_count() -> None:
    found = told(
        pod(-1, "a", "s1", leaving=True),
        pod(-0.5, "c", "o1"),
        pod(3, "x", "s1", app="other", leaving=True),
        replicas=1,
    )
    assert found["first pod touched"] is None
    assert found["workloads below wanted"] == 0


def test_pods_overlap_from_the_kth_replacement_ready_to_the_kth_old_pod_told_to_go() -> None:
    assert overlaps([4.0, 1.0, 9.0], [3.0, 2.0]) == [1.0, 0.0]
    assert overlaps([], [1.0]) == []


def test_pods_that_were_elsewhere_before_replace_no_pod() -> None:
    found = told(
        pod(-3, "c", "o1"),
        pod(1, "c", "o1", ready=False),
        pod(2, "c", "o1"),
        pod(3, "d", "o1"),
        pod(3.5, "d", "o1", ready=False),
        pod(4, "d", "o1"),
        pod(8, "a", "s1", leaving=True),
    )
    assert found["overlap, worst"] == 5.0
    assert found["all off and Ready"] is None, "a pod was never told to go"


def test_percentiles_are_of_what_was_seen() -> None:
    assert percentiles([]) is None
    assert percentiles(float(n) for n in range(1, 101)) == (50.5, 99.0, 100.0)


SERVED = (
    pod(-9, "a", "s1"),
    pod(-8, "b", "o1"),
    pod(-7, "b", "o1", ready=False),
    pod(-6, "b", "o1"),
    pod(2, "c", "s1"),
    node(3, "s1", gone=True),
)


def test_the_fewest_are_counted_from_a_moment_on_and_a_gone_node_s_pods_serve_no_more() -> None:
    assert fewest(SERVED, ["web", "none"], BEGAN) == {"web": 1, "none": 0}
    assert fewest(SERVED[:-1], ["web"], BEGAN) == {"web": 2}
    assert fewest(SERVED[:-2], ["web"], BEGAN) == {"web": 2}


def test_the_fewest_on_some_nodes_are_those_of_them_alone() -> None:
    assert fewest(SERVED, ["web"], BEGAN, on=["o1"]) == {"web": 1}
    assert fewest(SERVED, ["web"], BEGAN, on=["s1"]) == {"web": 0}


def test_ready_seconds_are_lost_while_a_workload_has_fewer_than_wanted() -> None:
    whole, apart = BEGAN + 3, BEGAN + 5
    assert ready_seconds_lost(SERVED, {"web": 2}, BEGAN, whole) == 0
    assert ready_seconds_lost(SERVED, {"web": 2}, BEGAN, apart) == 2
    assert ready_seconds_lost(SERVED, {"web": 3}, BEGAN, apart) == 2 + 2 * 2
    assert ready_seconds_lost(SERVED, {"web": 1, "none": 2}, BEGAN, apart) == 2 * 5


def test_a_node_is_empty_when_its_last_pod_is_gone() -> None:
    old = {"app": "single-0"}
    sights = [
        pod(1, "a", "old", **old),
        pod(3, "a", "old", released=True, **old),
        pod(4, "b", "new", **old),
        pod(7, "a", "old", gone=True, leaving=True, **old),
    ]
    stays, empty = emptied(sights, ["single-0"], ["old"], is_wanted=True)
    assert (stays.value, empty.value) == (0, 4)
    stays, empty = emptied(sights[:-1], ["single-0"], ["old"], is_wanted=True)
    assert (stays.value, empty.value) == (1, None)
    assert stays.mark == NONE
