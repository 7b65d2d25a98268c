"""Spot pools that have a share of what can be asked of them, and nodes bought and given back."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final, override

import msgspec

from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.node import Node
from evenkeel.model.pool import Pool, pool_of
from evenkeel_sandbox.simulator.api.objects import Obj, controller_of, labels_of
from evenkeel_sandbox.simulator.clock import NOTHING, SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.placement import Needs, Room, liking, preferences, refusal
from evenkeel_sandbox.storms.autoscaler import MADE, Autoscaler, Join
from evenkeel_sandbox.storms.new_nodes import empty, like
from evenkeel_sandbox.storms.shapes import Pools

LOOK: Final = timedelta(seconds=10)
IDLE: Final = timedelta(minutes=1)
"""A node that has been empty for so long is given back."""

CONSOLIDATE: Final = timedelta(minutes=1)
"""So often a drainer is given a node whose pods may be on spot."""


class Market(Autoscaler):
    """Makes spot nodes while their pool has some, else on-demand ones, and gives back empty ones.

    A pool has at most its share of as many nodes as all pools had at first. Of the offers that suit
    a pod the one that it prefers counts, then spot, then the pool with the fewest nodes.
    """

    def __init__(  # noqa: PLR0913 - an autoscaler's, and what it buys from
        self,
        clock: SimulatedClock,
        cluster: SimulatedCluster,
        labels: CapacityLabels,
        join: Join,
        *,
        after: timedelta,
        after_of: Mapping[Pool, timedelta],
        pools: Pools,
        seed: int,
    ) -> None:
        """Every pool has all at first."""
        super().__init__(clock, cluster, labels, join, after=after, after_of=after_of)
        self._labels = labels
        self._most = sum(map(len, pools.values()))
        self._shares = dict.fromkeys(sorted(pools), 1.0)
        nodes = {each["metadata"]["name"]: each for each in cluster.objects("Node")}
        self._spot = {pool: like(nodes[names_[0]]) for pool, names_ in pools.items()}
        self._shapes = [each for each in self._shapes if not _is_kept(each)]
        self._chance = random.Random(seed)
        self._pool_by_name: dict[str, Pool | None] = {}
        self._warned: set[str] = set()
        self._replaced: set[str] = set()
        self._empty_since: dict[str, datetime] = {}
        clock.call_in(LOOK, self._give_back)

    @property
    def is_idle(self) -> bool:
        """Whether no node is to come or to go."""
        return not self._coming and not self._empty_since

    def share_of(self, pool: Pool) -> float:
        """The share that a pool has now."""
        return self._shares[pool]

    def nodes_in(self, pool: Pool) -> Sequence[str]:
        """The nodes of a pool that got no warning."""
        return [name for name, its in self._pools().items() if its == pool]

    def change(
        self, pool: Pool, share: float, within: timedelta, warn: Callable[[str], None]
    ) -> None:
        """Let a pool have another share. ``warn`` is called for each node that it loses.

        The pool's own nodes lose as large a part as the pool did.
        """
        before, self._shares[pool] = self._shares[pool], share
        if share >= before:
            return
        nodes = self.nodes_in(pool)
        left = min(int(len(nodes) * share / before), self._limit(pool))
        gone = self._chance.sample(sorted(nodes), len(nodes) - left)
        self._warned.update(gone)
        times = sorted(within * self._chance.random() for _ in gone)
        for name, after in zip(gone, times, strict=True):
            self._clock.call_in(after, partial(warn, name))
        coming = [each for each in self._coming if self._pool_of(each.node) == pool]
        for room in coming[max(0, self._limit(pool) - left) :]:
            self._give_up(room)

    def consolidate(self, drain: Callable[[str], None], may: Callable[[Obj], bool]) -> None:
        """Replace on-demand nodes that it made by spot nodes, one after the other, from now on.

        ``drain`` empties a node when its replacement is there. It may only be one with pods that
        ``may`` be drained, and may be on spot.
        """
        self._clock.call_in(CONSOLIDATE, partial(self._replace, drain, may))

    @override
    def _offers(self, pod: Obj) -> Sequence[Obj]:
        preferred = preferences(pod)
        offers = [(count, self._spot[pool]) for pool, count in self._open().items()]
        offers += [(self._most, shape) for shape in self._shapes]
        offers.sort(key=lambda each: (-liking(preferred, each[1]), each[0]))
        return [shape for _, shape in offers]

    def _replace(self, drain: Callable[[str], None], may: Callable[[Obj], bool]) -> None:
        self._clock.call_in(CONSOLIDATE, partial(self._replace, drain, may))
        found = self._open()
        if not found or self._coming:
            return
        new = empty(self._spot[min(found, key=found.__getitem__)])
        for name, pool in self._pools().items():
            if pool is None and name.startswith(MADE) and self._may_be_on(new, name, may):
                self._order(new)
                self._replaced.add(name)
                self._clock.call_in(self._after + LOOK, partial(drain, name))
                return

    def _may_be_on(self, room: Room, node: str, may: Callable[[Obj], bool]) -> bool:
        """Whether all pods of a node may go to another, which has nothing on it."""
        pods = self._cluster.server.store.pods_on(node)
        return all(may(pod) and not refusal(pod, Needs.of(pod), room, ()) for pod in pods)

    def _open(self) -> Mapping[Pool, int]:
        """The pools that have some nodes more, and how many they have."""
        counts = Counter(self._pools().values())
        counts.update(self._pool_of(room.node) for room in self._coming)
        return {pool: counts[pool] for pool in self._spot if counts[pool] < self._limit(pool)}

    def _limit(self, pool: Pool) -> int:
        return int(self._most * self._shares[pool])

    def _pool_of(self, node: Obj) -> Pool | None:
        name = node["metadata"]["name"] or repr(node)
        if name not in self._pool_by_name:
            self._pool_by_name[name] = pool_of(msgspec.convert(node, Node), self._labels)
        return self._pool_by_name[name]

    def _pools(self) -> Mapping[str, Pool | None]:
        """The pools of the nodes that are to stay, by name."""
        names_ = ((each, each["metadata"]["name"]) for each in self._cluster.objects("Node"))
        going = self._warned | self._replaced
        return {name: self._pool_of(each) for each, name in names_ if name not in going}

    def _give_back(self) -> None:
        """Delete the nodes that have been empty for a while."""
        now = self._clock.now()
        empty_ = {
            node["metadata"]["name"]
            for node in self._cluster.objects("Node")
            if not _is_kept(node)
            and self._is_empty(node["metadata"]["name"])
            and node["metadata"]["name"] not in self._warned
        }
        self._empty_since = {each: self._empty_since.get(each, now) for each in empty_}
        for name, since in list(self._empty_since.items()):
            if now - since >= IDLE:
                del self._empty_since[name]
                self._cluster.kill_node(name, NOTHING)
        self._clock.call_in(LOOK, self._give_back)

    def _is_empty(self, node: str) -> bool:
        return not any(
            (controller_of(pod) or {}).get("kind") != "DaemonSet"
            for pod in self._cluster.server.store.pods_on(node)
        )


def _is_kept(node: Obj) -> bool:
    """Whether a node is there to be empty."""
    return names.HEADROOM in labels_of(node)
