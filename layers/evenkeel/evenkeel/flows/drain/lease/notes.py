"""What a reconciler's Lease remembers, beside who holds it: one table, from key to what keeps it.

| annotation | kept by | what it is, and how it is merged |
|---|---|---|
| `lost-pools` | ``LostPools`` | which pools lost a node lately: those of before, and new ones |
| `waiting-hooks` | ``Hooks`` | terminations that wait; who takes the Lease goes on with them |
| `low-counts` | ``LowCounts`` | workloads whose last count was low, until one counts them whole |
| `interruption` | ``Telling`` | the account of the interruption that goes on, and what is untold |

Each reads its note when the Lease is free and about to be taken, and is asked with each write for
what is to be noted. Three times on the Lease are no memory: `wake-up-at` and `clock-ahead` are
``hold``'s, `scheduled-at` is ``deployed``'s. Notes that this version does not know stay.
"""

from collections.abc import Mapping
from itertools import islice
from typing import Protocol

from evenkeel.decisions.pools.warned import warned
from evenkeel.flows.drain.cache.nodes import MarkedNodes
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.losses import losses_in, noted
from evenkeel.model.pool import Pool
from evenkeel.ports import Clock


class Remembered(Protocol):
    """What outlives invocations, and is kept on the Lease for the next reconciler."""

    @property
    def note(self) -> str:
        """What the Lease is to keep."""
        ...

    def read(self, note: str | None) -> None:
        """Take what the Lease has; None if nothing."""
        ...


class LostPools:
    """The pools that lost a node lately: by an earlier note, and by the nodes with a warning."""

    def __init__(self, labels: CapacityLabels, clock: Clock) -> None:
        """``labels`` tell which nodes are spot."""
        self.nodes = MarkedNodes()
        """The nodes that are known."""
        self._labels = labels
        self._clock = clock
        self._before: str | None = None
        self._noted: frozenset[Pool] = frozenset()
        self._seen = 0

    def read(self, note: str | None) -> None:
        """Take what the Lease has; None if nothing."""
        self._before = note

    @property
    def note(self) -> str:
        """All that is known of losses, less what is too old to count."""
        now = self._clock.now()
        lost = [
            *losses_in(self._before, now),
            *warned(self.nodes.warned.values(), self._labels, now),
        ]
        self._noted = frozenset(loss.pool for loss in lost)
        return noted(lost)

    def take_new(self) -> bool:
        """Whether a node was warned since this was asked whose pool the Lease does not have."""
        nodes = self.nodes.warned.values()
        if len(nodes) == self._seen:
            return False
        new = islice(nodes, self._seen, None)
        self._seen = len(nodes)
        found = warned(new, self._labels, self._clock.now())
        return any(loss.pool not in self._noted for loss in found)


class LeaseNotes:
    """The annotations that a Lease has, and those that it is to have, by their keys."""

    def __init__(
        self, memory: Mapping[str, Remembered], labels: CapacityLabels, clock: Clock
    ) -> None:
        """What ``memory`` has is kept on the Lease. ``labels`` tell which nodes are spot."""
        self.lost_pools = LostPools(labels, clock)
        self._table: Mapping[str, Remembered] = {names.LOST_POOLS: self.lost_pools, **memory}
        self.shown: Mapping[str, str] = {}
        """What the Lease has by the last answer."""

    def looked_at(self, lease: Lease | None) -> None:
        """The Lease was like this before this invocation takes it, or notes something on it."""
        self.shown = {} if lease is None else lease.metadata.annotations

    def written(self, lease: object) -> None:
        """A write of this invocation left the Lease like this; anything else: that is not known."""
        if isinstance(lease, Lease):
            self.shown = lease.metadata.annotations

    def remember(self) -> None:
        """Take what the last holder knew."""
        for key, each in self._table.items():
            each.read(self.shown.get(key))

    @property
    def are_new(self) -> bool:
        """Whether what is remembered is not on the Lease yet."""
        return not self.wanted.items() <= self.shown.items()

    @property
    def wanted(self) -> Mapping[str, str]:
        """All that the Lease is to keep."""
        return {key: each.note for key, each in self._table.items()}
