"""Which spot nodes a storm takes, and when."""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple, Protocol

from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.node import Node
from evenkeel.model.notice import NoticeKind
from evenkeel.model.pool import Pool, pools_of

type Pools = Mapping[Pool, Sequence[str]]
"""The names of the spot nodes of each pool."""


def pools_among(nodes: Iterable[Node], labels: CapacityLabels) -> Pools:
    """The pools of the spot nodes among these."""
    found: defaultdict[Pool, list[str]] = defaultdict(list)
    for name, pool in pools_of(nodes, labels).items():
        if pool is not None:
            found[pool].append(name)
    return found


class Strike(NamedTuple):
    """A notice for one node, so long after the storm begins."""

    after: timedelta
    node: str
    kind: NoticeKind = NoticeKind.INTERRUPTION


class Shape(Protocol):
    """What of the spot nodes a storm takes."""

    def strikes(self, pools: Pools, seed: int) -> Sequence[Strike]:
        """The notices of one storm, in their order. The same seed gives the same storm."""


class Share(NamedTuple):
    """So large a share of all spot nodes, at random times within ``spread``; at least one node."""

    share: float
    spread: timedelta

    def strikes(self, pools: Pools, seed: int) -> Sequence[Strike]:
        """The notices of one storm."""
        nodes = [node for each in pools.values() for node in each]
        return _at_random(nodes, max(1, round(self.share * len(nodes))), self.spread, seed)


class Nodes(NamedTuple):
    """So many of all spot nodes, at random times within ``spread``."""

    number: int
    spread: timedelta

    def strikes(self, pools: Pools, seed: int) -> Sequence[Strike]:
        """The notices of one storm."""
        nodes = [node for each in pools.values() for node in each]
        return _at_random(nodes, min(self.number, len(nodes)), self.spread, seed)


class OnePool(NamedTuple):
    """All nodes of one pool, at random times within ``spread``: with each seed of the next pool."""

    spread: timedelta

    def strikes(self, pools: Pools, seed: int) -> Sequence[Strike]:
        """The notices of one storm."""
        pool = sorted(pools)[seed % len(pools)]
        return _at_random(pools[pool], len(pools[pool]), self.spread, seed)


def _at_random(nodes: Sequence[str], number: int, spread: timedelta, seed: int) -> Sequence[Strike]:
    chance = random.Random(seed)
    chosen = chance.sample(sorted(nodes), number)
    times = sorted(spread * chance.random() for _ in chosen)
    return [Strike(after, node) for after, node in zip(times, chosen, strict=True)]
