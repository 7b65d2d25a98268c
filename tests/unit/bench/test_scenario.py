"""Storms in other sizes."""

from bench.lab.scenario import SCENARIOS, A
from evenkeel.decisions.drain.divide import how_many


def test_a_smaller_storm_fills_its_spot_nodes_as_well() -> None:
    for nodes in (4, 10, 20, 50, 100):
        small = A.of(nodes)
        assert small.pods == small.spot * small.per_spot == 30 * nodes
        assert sum(small.replicas.values()) == small.pods
        assert small.idle * small.per_idle >= small.pods


def test_a_storm_is_shared_by_as_many_as_it_says() -> None:
    for each in SCENARIOS.values():
        assert how_many(each.pods, each.pods_each) == each.processes
