"""What a reconciler's Lease keeps for whoever works next, beside who holds it."""

from collections.abc import Mapping
from typing import Protocol

from evenkeel.flows.drain.cache.nodes import MarkedNodes
from evenkeel.flows.drain.lost_pools import LostPools
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.cluster_objects import Lease
from evenkeel.ports import Clock


class Remembered(Protocol):
    """What outlives invocations, and is kept on the Lease for whoever works next."""

    @property
    def note(self) -> str:
        """What the Lease is to keep."""
        ...

    def read(self, note: str | None) -> None:
        """Take what the Lease has; None if nothing."""
        ...


class LeaseNotes:
    """The annotations that a Lease has, and those that it is to have, by their keys."""

    def __init__(
        self, memory: Mapping[str, Remembered], labels: CapacityLabels, clock: Clock
    ) -> None:
        """What ``memory`` has is kept on the Lease. ``labels`` tell which nodes are spot."""
        self._memory = memory
        self._lost_pools = LostPools(labels, clock)
        self._before: Mapping[str, str] = {}
        self.shown: Mapping[str, str] = {}
        """What the Lease has by the last answer."""
        self.nodes = MarkedNodes()
        """The nodes that are known. The Lease notes the pools of those with a warning."""

    def looked_at(self, lease: Lease | None) -> None:
        """The Lease was like this before this invocation takes it, or notes something on it."""
        self._before = self.shown = {} if lease is None else lease.metadata.annotations

    def written(self, lease: object) -> None:
        """A write of this invocation left the Lease like this; anything else: that is not known."""
        if isinstance(lease, Lease):
            self.shown = lease.metadata.annotations

    def remember(self) -> None:
        """Take what the last holder knew."""
        for key, each in self._memory.items():
            each.read(self.shown.get(key))

    @property
    def are_new(self) -> bool:
        """Whether what is remembered is not on the Lease yet."""
        return not self.remembered.items() <= self.shown.items()

    @property
    def remembered(self) -> Mapping[str, str]:
        """What outlives invocations."""
        return {key: each.note for key, each in self._memory.items()}

    @property
    def wanted(self) -> Mapping[str, str]:
        """All that the Lease is to keep: also which pools lost a node lately."""
        lost = self._lost_pools.note(self._before.get(names.LOST_POOLS), self.nodes.warned.values())
        return {names.LOST_POOLS: lost, **self.remembered}

    def take_new_pool(self) -> bool:
        """Whether a node was warned since this was asked whose pool the Lease does not have."""
        return self._lost_pools.take_new(self.nodes.warned.values())
