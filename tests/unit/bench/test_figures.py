"""What becomes of what an observer saw: the figures of a storm."""

from typing import Any

import pytest

from bench.storm.figures import Outcome, Sight, judge, overlaps, percentiles

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


def node(at: float, name: str) -> Sight:
    return pod(at, name, "", kind="node", app="", ready=False, cordoned=True)


def told(*sights: Sight, replicas: int = 2) -> Outcome:
    before = [pod(-5, "a", "s1"), pod(-5, "b", "s2")]
    return judge([*before, *sights], {"web": replicas}, NOTICED, 120.0, 30.0)


def test_make_before_break_never_goes_below_what_is_wanted() -> None:
    outcome = told(
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
    assert (outcome.lowest_share, outcome.below_wanted, outcome.at_zero) == (1.0, 0, 0)
    assert outcome.cordons is not None
    assert outcome.cordons.count == 2
    assert outcome.cordons.worst == pytest.approx(0.7)
    assert (outcome.touched, outcome.whole, outcome.empty) == (1, 7, 9)
    assert (outcome.late, outcome.left, outcome.made, outcome.made_ready) == (0, 0, 2, 2)
    assert outcome.fewest_ready == 2
    assert (outcome.released, outcome.done) == (2, 9)
    assert outcome.overlap is not None
    assert (outcome.overlap.count, outcome.overlap.worst) == (2, 2.0)


def test_break_before_make_shows_how_low_it_went() -> None:
    outcome = told(
        pod(1, "a", "s1", leaving=True),
        pod(1, "b", "s2", leaving=True),
        pod(5, "c", "o1"),
        pod(6, "d", "o1"),
    )
    assert (outcome.lowest_share, outcome.below_wanted, outcome.at_zero) == (0.0, 1, 1)
    assert (outcome.below_before_last_moment, outcome.whole) == (1, 6)
    assert (outcome.released, outcome.done) == (None, 6)
    assert outcome.overlap is not None
    assert outcome.overlap.worst == 0


def test_a_pod_that_goes_after_its_last_moment_is_late_and_one_that_stays_is_left() -> None:
    outcome = told(pod(90.1, "a", "s1", leaving=True))
    assert (outcome.late, outcome.left, outcome.empty, outcome.whole) == (1, 1, None, None)
    assert told(pod(89.9, "a", "s1", leaving=True)).late == 0


def test_what_is_left_on_a_node_that_has_ended_serves_no_more() -> None:
    """Its object says that it is Ready until it is deleted."""
    outcome = told(
        pod(118, "c", "o1"),
        pod(119, "a", "s1", leaving=True),
        pod(121, "b", "s2", released=True),
        pod(125, "d", "o1"),
    )
    assert (outcome.lowest_share, outcome.below_wanted, outcome.at_zero) == (0.5, 1, 0)
    assert outcome.fewest_ready == 1
    assert (outcome.late, outcome.left, outcome.whole) == (1, 1, 125)


def test_pods_of_others_and_what_happened_before_do_not_count() -> None:
    outcome = told(
        pod(-1, "a", "s1", leaving=True),
        pod(-0.5, "c", "o1"),
        pod(3, "x", "s1", app="other", leaving=True),
        replicas=1,
    )
    assert outcome.touched is None
    assert outcome.below_wanted == 0


def test_pods_overlap_from_the_kth_replacement_ready_to_the_kth_old_pod_told_to_go() -> None:
    assert overlaps([4.0, 1.0, 9.0], [3.0, 2.0]) == [1.0, 0.0]
    assert overlaps([], [1.0]) == []


def test_pods_that_were_elsewhere_before_replace_no_pod() -> None:
    outcome = told(
        pod(-3, "c", "o1"),
        pod(1, "c", "o1", ready=False),
        pod(2, "c", "o1"),
        pod(3, "d", "o1"),
        pod(3.5, "d", "o1", ready=False),
        pod(4, "d", "o1"),
        pod(8, "a", "s1", leaving=True),
    )
    assert outcome.overlap is not None
    assert (outcome.overlap.count, outcome.overlap.worst) == (1, 5.0)
    assert outcome.done is None, "a pod was never told to go"


def test_percentiles_are_of_what_was_seen() -> None:
    assert percentiles([]) is None
    found = percentiles([float(n) for n in range(1, 101)])
    assert found is not None
    assert (found.count, found.median, found.p99, found.worst) == (100, 50.5, 99.0, 100.0)
