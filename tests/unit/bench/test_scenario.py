"""Storms in other sizes."""

from bench.lab.scenario import SCENARIOS, A
from evenkeel.decisions.drain.divide import how_many


def test_a_smaller_storm_fills_its_spot_nodes_as_well() -> None:
    for nodes in (4, 10, 20, 50, 100):
        small = A.of(nodes)
        assert small.pods == small.spot * small.per_spot == 30 * nodes
        assert sum(small.replicas.values()) == small.pods
        assert small.has_room


def test_a_storm_without_room_for_all_is_not_waited_for() -> None:
    assert [name for name, each in SCENARIOS.items() if not each.has_room] == ["C"]


def test_bystanders_shrink_with_the_storm_and_keep_their_room() -> None:
    small = SCENARIOS["A-beside"].of(20)
    assert (small.bystanders, small.further) == (2_000, 60)


def test_a_storm_is_shared_by_as_many_as_it_says() -> None:
    for each in SCENARIOS.values():
        assert how_many(each.pods, each.pods_each) == each.processes
