"""The nodes as the extender ranks them: kept in order as they change, looked up when asked."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from evenkeel.decisions.notice import mark
from evenkeel.decisions.scheduling.rank import base, tier_of
from evenkeel.model import names
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.node import Node
from evenkeel.model.quantity import number

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
    """One node. ``pool`` is the type and zone of a spot node; empty for others."""

    __slots__ = ("allocatable", "capacity", "is_closed", "is_doomed", "pool")

    def __init__(self, node: Node, capacity: Capacity) -> None:
        labels, notice = node.metadata.labels, mark.read(node)
        self.capacity = capacity
        self.is_doomed = notice is not None
        self.is_closed = notice is not None and notice.cordoned_at is not None
        self.pool = ("", "")
        if capacity is Capacity.SPOT:
            self.pool = (labels.get(names.INSTANCE_TYPE, ""), labels.get(names.ZONE, ""))
        allocatable = node.status.allocatable
        self.allocatable = Load(*(number(allocatable.get(each, "0")) for each in Load._fields))


class Fleet:
    """All nodes. Not safe for several threads: its owner locks."""

    def __init__(self, labels: CapacityLabels) -> None:
        self._labels = labels
        self._places: dict[str, _Place] = {}
        self._used: defaultdict[str, Load] = defaultdict(Load)
        self._pools: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._doomed_in: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._recovering: dict[tuple[str, str], datetime] = {}
        self._bases: dict[Capacity | None, dict[str, int]] = {wish: {} for wish in WISHES}
        self.closed: set[str] = set()
        """The nodes that are doomed and cordoned: no pod is to go there."""
        self.of: dict[Capacity, set[str]] = {each: set() for each in Capacity}
        """The nodes of a capacity type."""

    def bases(self, wanted: Capacity | None) -> Mapping[str, int]:
        """The score of each node, without the points for few pods of the workload."""
        return self._bases[wanted]

    def see(self, node: Node, now: datetime) -> None:
        """A node is so."""
        self.lose(node.name, now)
        place = self._places[node.name] = _Place(node, self._labels.of(node))
        self.of[place.capacity].add(node.name)
        if place.is_closed:
            self.closed.add(node.name)
        if any(place.pool):
            was_short = self._is_short(place.pool)
            self._pools[place.pool].add(node.name)
            if place.is_doomed:
                self._doomed_in[place.pool].add(node.name)
            if not was_short and place.is_doomed:
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
        if place.is_doomed and any(place.pool):
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

    def _is_short(self, pool: tuple[str, str]) -> bool:
        return any(pool) and (bool(self._doomed_in.get(pool)) or pool in self._recovering)

    def _rank_pool(self, pool: tuple[str, str]) -> None:
        for name in self._pools[pool]:
            self._rank(name)

    def _rank(self, name: str) -> None:
        place, used = self._places[name], self._used[name]
        is_idle = all(2 * used[i] < has for i, has in enumerate(place.allocatable))
        is_short = self._is_short(place.pool)
        for wish, ranks in self._bases.items():
            ranks[name] = base(tier_of(place.capacity, wish, is_short=is_short), is_idle=is_idle)
