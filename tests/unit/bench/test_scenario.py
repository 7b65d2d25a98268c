"""Storms in other sizes."""

from bench.floors.run import SCENARIO as FLOORS
from bench.growth.run import BESIDE
from bench.storm.scenario import SCENARIOS


def test_a_smaller_storm_fills_its_spot_nodes_as_well() -> None:
    for nodes in (4, 10, 20, 50, 100):
        small = SCENARIOS["A"].of(nodes)
        assert small.pods == small.spot * small.per_spot == 30 * nodes
        assert sum(small.replicas.values()) == small.pods
        assert small.has_room


def test_a_storm_without_room_for_all_is_not_waited_for() -> None:
    assert [each.name for each in SCENARIOS.values() if not each.has_room] == ["C"]
    assert not FLOORS.has_room


def test_bystanders_shrink_with_the_storm_and_keep_their_room() -> None:
    small = BESIDE.of(20)
    assert (small.bystanders, small.further) == (2_000, 60)


def test_the_measured_size_is_the_scenario_itself() -> None:
    assert BESIDE.of(100) == BESIDE
