"""Where a workload stands: its replicas by capacity type."""

import msgspec
import pytest

from evenkeel.decisions.floor.source import FloorOf, Source
from evenkeel.decisions.floor.standing import stand
from evenkeel.model.floor import MAJORITY_OF_ALL, NONE
from tests.kit import builders
from tests.unit.decisions.floor.standings import FLEET, REPLICA_SET, TWO, pods, standing


def test_pods_are_counted_by_where_they_are() -> None:
    released = builders.pod("r", node="s1", of=REPLICA_SET, released=builders.release(REPLICA_SET))
    leaving = builders.pod("gone", node="o1", of=REPLICA_SET, phase="Succeeded")
    unready = builders.pods(1, prefix="u", node="o1", of=REPLICA_SET, ready=False)
    found = standing(TWO, [leaving], pods(1, 2, 1), unready, [released])
    assert (found.replicas, found.wanted) == (3, 2)
    assert (found.on_demand, found.spot, found.waiting, found.released) == (2, 2, 1, 1)
    assert found.survivors == 1


def test_a_pod_on_a_node_that_is_gone_waits() -> None:
    assert standing(NONE, pods(spot=1), builders.pods(2, prefix="x", node="lost")).waiting == 2


def test_what_is_missing_and_what_is_too_much_are_reckoned_against_the_floor() -> None:
    assert (standing(TWO, pods(1, 2)).missing, standing(TWO, pods(1, 2)).surplus) == (1, 0)
    assert (standing(TWO, pods(2, 1)).missing, standing(TWO, pods(2, 1)).surplus) == (0, 0)
    assert (standing(TWO, pods(3)).missing, standing(TWO, pods(3)).surplus) == (0, 1)


@pytest.mark.parametrize(
    ("source", "off"),
    [(Source.WORKLOAD, (1, 0, 0, 1)), (Source.DEFAULT, (0, 1, 0, 0))],
)
def test_no_pod_of_a_stateful_set_has_to_move_for_a_default(
    source: Source, off: tuple[int, int, int, int]
) -> None:
    """Missing, unmet and surplus of two on spot, and surplus of three on on-demand."""
    db = builders.stateful_set(replicas=3)
    floor = FloorOf(MAJORITY_OF_ALL, source)
    few, many = (
        stand(db, floor, placed, FLEET.capacities, is_managed=True)
        for placed in (pods(1, 2), pods(3))
    )
    assert (few.missing, few.unmet, few.surplus, many.surplus) == off
    assert few.stays is (source is Source.DEFAULT)


def test_a_deployments_pods_leave_on_demand_by_default() -> None:
    web = builders.deployment(replicas=3)
    floor = FloorOf(NONE, Source.DEFAULT)
    found = stand(web, floor, pods(3), FLEET.capacities, is_managed=True)
    assert (found.surplus, found.unmet, found.stays) == (3, 0, False)


def test_the_scheduler_s_word_is_kept_of_a_pod_that_waits() -> None:
    assert standing(TWO, pods(1, 1, 1)).why_waiting == "0/2 nodes are available"
    unasked = builders.pods(1, prefix="w", node="", ready=False)
    assert standing(TWO, pods(1, 1), unasked).why_waiting == ""


@pytest.mark.parametrize(
    ("waiting", "told"),
    [
        (1, "1 of its pods waits for a node (0/2 nodes are available)"),
        (2, "2 of its pods wait for a node (0/2 nodes are available)"),
    ],
)
def test_pods_that_wait_are_told_of_with_the_scheduler_s_word(waiting: int, told: str) -> None:
    assert standing(TWO, pods(1, 1, waiting)).told_of_waiting == told


def test_pods_of_which_the_scheduler_says_nothing_are_told_of_without() -> None:
    silent = msgspec.structs.replace(standing(TWO, pods(1, 1, 2)), why_waiting="")
    assert silent.told_of_waiting == "2 of its pods wait for a node"


def test_the_scheduler_s_word_is_told_without_its_full_stop() -> None:
    found = msgspec.structs.replace(standing(TWO, pods(1, 1, 1)), why_waiting="no room.")
    assert found.told_of_waiting == "1 of its pods waits for a node (no room)"
