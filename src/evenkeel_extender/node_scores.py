"""The nodes as the extender ranks them: kept in order as they change, looked up when asked."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from evenkeel.decisions.notice import mark
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.node import Node
from evenkeel.model.pool import Pool, pool_of
from evenkeel.model.quantity import number
from evenkeel_extender.decisions.rank import base, tier_of

SHORT_FOR: Final = timedelta(minutes=3)
"""How long a pool counts as short after its last doomed node has gone.

EC2 takes spot instances of one type and zone back together: more than nine of ten that it takes at
all go within three minutes.
"""

WISHES: Final = (None, *Capacity)


class Load(NamedTuple):
    """What pods ask of a node: CPUs and bytes of memory."""

    cpu: float = 0.0
    memory: float = 0.0


NOTHING: Final = Load(1e-6, 1.0)
"""Less than any pod asks for: the rounding error of sums."""


class _Place:
    """One node. ``pool`` is None for an on-demand node.

    ``dooms``: the whole pool is short because of it. Of a node without the labels of a pool nobody
    knows what it has in common with others.
    """

    __slots__ = ("allocatable", "capacity", "dooms", "is_closed", "pool")

    def __init__(self, node: Node, labels: CapacityLabels) -> None:
        notice = mark.read(node)
        self.pool = pool_of(node, labels)
        self.capacity = Capacity.ON_DEMAND if self.pool is None else Capacity.SPOT
        self.dooms = notice is not None and self.pool is not None and any(self.pool)
        self.is_closed = notice is not None and notice.cordoned_at is not None
        allocatable = node.status.allocatable
        self.allocatable = Load(*(number(allocatable.get(each, "0")) for each in Load._fields))


class NodeScores:
    """All nodes. Not safe for several threads: its owner locks."""

    def __init__(self, labels: CapacityLabels) -> None:
        self._labels = labels
        self._places: dict[str, _Place] = {}
        self._used: defaultdict[str, Load] = defaultdict(Load)
        self._pools: defaultdict[Pool | None, set[str]] = defaultdict(set)
        self._doomed_in: defaultdict[Pool | None, set[str]] = defaultdict(set)
        self._recovering: dict[Pool | None, datetime] = {}
        self._bases: dict[Capacity | None, dict[str, int]] = {wish: {} for wish in WISHES}
        self.closed: set[str] = set()
        """The nodes that are doomed and cordoned: no pod is to go there."""
        self.of: dict[Capacity, set[str]] = {each: set() for each in Capacity}
        """The nodes of a capacity type."""

    def bases(self, wanted: Capacity | None) -> Mapping[str, int]:
        """The score of each node, without the points for few pods of the workload."""
        return self._bases[wanted]

    def in_full_pools(self, pods: Mapping[str, int], at_most: int) -> AbstractSet[str]:
        """The nodes of pools that have so many of these pods, which are counted by node."""
        counts = Counter[Pool]()
        for name, there in pods.items():
            place = self._places.get(name)
            if place is not None and place.pool is not None:
                counts[place.pool] += there
        full = (self._pools[pool] for pool, there in counts.items() if there >= at_most)
        return set().union(*full)

    def see(self, node: Node, now: datetime) -> None:
        """A node is so."""
        self.lose(node.name, now)
        place = self._places[node.name] = _Place(node, self._labels)
        self.of[place.capacity].add(node.name)
        if place.is_closed:
            self.closed.add(node.name)
        self._pools[place.pool].add(node.name)
        if place.dooms:
            was_short = self._is_short(place.pool)
            self._doomed_in[place.pool].add(node.name)
            if not was_short:
                self._rank_pool(place.pool)
        self._rank(node.name)

    def lose(self, name: str, now: datetime) -> None:
        """A node is gone."""
        place = self._places.pop(name, None)
        if place is None:
            return
        self.closed.discard(name)
        self.of[place.capacity].discard(name)
        self._pools[place.pool].discard(name)
        if place.dooms:
            self._doomed_in[place.pool].discard(name)
            self._recovering[place.pool] = now + SHORT_FOR  # until then it stays short
        for ranks in self._bases.values():
            ranks.pop(name, None)

    def add(self, name: str, load: Load) -> None:
        """Pods on a node ask for this much more; less if it is negative."""
        used = self._used[name]
        self._used[name] = Load(used.cpu + load.cpu, used.memory + load.memory)
        if name in self._places:
            self._rank(name)
        elif self._used[name] <= NOTHING:
            del self._used[name]

    def recover(self, now: datetime) -> None:
        """Pools whose last doomed node went long enough ago are not short any more."""
        for pool in [pool for pool, at in self._recovering.items() if at <= now]:
            del self._recovering[pool]
            self._rank_pool(pool)

    def _is_short(self, pool: Pool | None) -> bool:
        return bool(self._doomed_in.get(pool)) or pool in self._recovering

    def _rank_pool(self, pool: Pool | None) -> None:
        for name in self._pools[pool]:
            self._rank(name)

    def _rank(self, name: str) -> None:
        place, used = self._places[name], self._used[name]
        is_idle = all(2 * used[i] < has for i, has in enumerate(place.allocatable))
        is_short = self._is_short(place.pool)
        for wish, ranks in self._bases.items():
            ranks[name] = base(tier_of(place.capacity, wish, is_short=is_short), is_idle=is_idle)
