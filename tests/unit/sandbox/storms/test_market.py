"""Spot pools that have a share of what can be asked of them, and who buys nodes there."""

from collections import Counter
from datetime import timedelta

import pytest

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.pool import Pool, pool_of
from evenkeel_sandbox import snapshot_cluster, synthetic
from evenkeel_sandbox.simulation import nodes_of
from evenkeel_sandbox.simulator.api.objects import node_of
from evenkeel_sandbox.simulator.clock import NOTHING, SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.storms.drainer import Drainer, evict
from evenkeel_sandbox.storms.market import Market
from evenkeel_sandbox.storms.shapes import pools_among
from tests.kit.builders import NOW

AFTER = timedelta(seconds=60)
BUSY = "app-6", "team-6"
"""A Deployment."""


class Ground:
    """Ten nodes with 40 pods: seven of them spot, in three pools of two or three."""

    def __init__(self) -> None:
        self.clock = SimulatedClock(NOW)
        self.cluster: SimulatedCluster = snapshot_cluster.build(
            synthetic.objects(10, 40), self.clock
        )
        self.pools = pools_among(nodes_of(self.cluster), WELL_KNOWN)
        self.warned: list[str] = []
        self.market = Market(
            self.clock,
            self.cluster,
            WELL_KNOWN,
            lambda new: self.cluster.apply(*new),
            after=AFTER,
            after_of={},
            pools=self.pools,
            seed=0,
        )

    def change(self, pool: Pool, share: float, within: timedelta = NOTHING) -> None:
        self.market.change(pool, share, within, self.warned.append)

    def close_all(self) -> None:
        for pool in self.pools:
            self.change(pool, 0)
        self.clock.advance(NOTHING)

    def grow(self, replicas: int) -> None:
        self.cluster.scale("Deployment", *BUSY, replicas)

    def made(self) -> Counter[Pool | None]:
        """How many nodes were made in each pool; None: on-demand ones."""
        new = (each for each in nodes_of(self.cluster) if each.name.startswith("scaled-"))
        return Counter(pool_of(each, WELL_KNOWN) for each in new)


@pytest.fixture
def ground() -> Ground:
    return Ground()


def test_a_fall_warns_so_large_a_share_of_a_pools_nodes(ground: Ground) -> None:
    pool, nodes = max(ground.pools.items(), key=lambda each: len(each[1]))
    ground.change(pool, 0.5, timedelta(seconds=100))
    assert ground.warned == []
    ground.clock.advance(timedelta(seconds=100))
    assert len(ground.warned) == len(nodes) - len(nodes) // 2
    ground.change(pool, 1.0)
    ground.change(pool, 0.0)
    ground.clock.advance(NOTHING)
    assert sorted(ground.warned) == sorted(nodes)


def test_spot_nodes_come_while_a_pool_has_some_and_then_on_demand_ones(ground: Ground) -> None:
    (open_, *others) = sorted(ground.pools)
    for pool in others:
        ground.change(pool, 0)
    ground.change(open_, 3 / 7)
    has = len(ground.market.nodes_in(open_))
    ground.grow(60)
    ground.clock.advance(timedelta(minutes=5))
    made = ground.made()
    assert made[open_] == 3 - has
    assert made[None] > 0
    assert made.total() == made[open_] + made[None]


def test_the_pool_with_the_fewest_nodes_is_asked_first(ground: Ground) -> None:
    sizes = {pool: len(nodes) for pool, nodes in ground.pools.items()}
    ground.grow(30)
    ground.clock.advance(timedelta(minutes=5))
    made = ground.made()
    after = [sizes[pool] + made[pool] for pool in sizes]
    assert made.total() > 1
    assert max(after) - min(after) <= 1


def test_a_node_that_was_ordered_does_not_come_when_its_pool_has_none(ground: Ground) -> None:
    ground.grow(30)
    ground.clock.advance(timedelta(seconds=30))
    assert not ground.market.is_idle
    ground.close_all()
    ground.clock.advance(timedelta(minutes=3))
    assert ground.made().keys() == {None}
    assert not any(not node_of(pod) for pod in ground.cluster.objects("Pod"))


def test_a_node_without_pods_is_given_back_unless_it_is_kept_for_some(ground: Ground) -> None:
    before = {each.name for each in nodes_of(ground.cluster)}
    manifests = [each for each in synthetic.objects(10, 40) if each["kind"] == "Node"][:2]
    for number, each in enumerate(manifests):
        labels = each["metadata"]["labels"] | ({names.HEADROOM: names.SINGLES} if number else {})
        metadata = {"name": f"new-{number}", "labels": labels}
        taint = {"key": "new", "effect": "NoSchedule"}
        ground.cluster.apply({**each, "metadata": metadata, "spec": {"taints": [taint]}})
    ground.clock.advance(timedelta(minutes=3))
    assert {each.name for each in nodes_of(ground.cluster)} == {*before, "new-1"}
    assert ground.market.is_idle


def test_on_demand_nodes_are_replaced_when_a_pool_has_nodes_again(ground: Ground) -> None:
    drainer = Drainer(ground.clock, ground.cluster, evict)
    ground.market.consolidate(drainer.drain, lambda _: True)
    ground.close_all()
    ground.grow(30)
    ground.clock.advance(timedelta(minutes=5))
    made = ground.made()
    assert made.keys() == {None}
    pool = min(ground.pools)
    ground.change(pool, 1.0)
    ground.clock.advance(timedelta(minutes=4 * made[None] + 5))
    assert ground.made()[pool] == made[None]
    assert ground.made()[None] == 0


def test_a_node_with_a_pod_that_must_not_be_drained_stays(ground: Ground) -> None:
    drainer = Drainer(ground.clock, ground.cluster, evict)
    ground.market.consolidate(drainer.drain, lambda _: False)
    ground.close_all()
    ground.grow(30)
    ground.clock.advance(timedelta(minutes=5))
    made = ground.made()
    ground.change(min(ground.pools), 1.0)
    ground.clock.advance(timedelta(minutes=10))
    assert ground.made() == made
