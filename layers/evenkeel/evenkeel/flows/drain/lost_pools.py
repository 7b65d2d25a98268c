"""The pools that lost a node lately, as the Lease notes them."""

from collections.abc import Collection
from itertools import islice

from evenkeel.decisions.pools.warned import warned
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.losses import losses_in, noted
from evenkeel.model.node import Node
from evenkeel.model.pool import Pool
from evenkeel.ports import Clock


class LostPools:
    """Tells what to note from what was noted before, and from the nodes with a warning."""

    def __init__(self, labels: CapacityLabels, clock: Clock) -> None:
        """``labels`` tell which nodes are spot."""
        self._labels = labels
        self._clock = clock
        self._noted: frozenset[Pool] = frozenset()
        self._seen = 0

    def note(self, before: str | None, nodes: Collection[Node]) -> str:
        """What is known of losses: those of an earlier note, and of these nodes with a warning."""
        now = self._clock.now()
        lost = [*losses_in(before, now), *warned(nodes, self._labels, now)]
        self._noted = frozenset(loss.pool for loss in lost)
        return noted(lost)

    def take_new(self, nodes: Collection[Node]) -> bool:
        """Whether a node of a pool that is not noted is among those that came since this was asked.

        ``nodes`` are all with a warning, in the order in which they came.
        """
        if len(nodes) == self._seen:
            return False
        new = islice(nodes, self._seen, None)
        self._seen = len(nodes)
        found = warned(new, self._labels, self._clock.now())
        return any(loss.pool not in self._noted for loss in found)
