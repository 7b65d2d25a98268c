"""The pools that lost a node lately, as the Lease notes them."""

from itertools import islice

from evenkeel.decisions.pools.warned import warned
from evenkeel.flows.drain.cache.nodes import MarkedNodes
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.losses import losses_in, noted
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
        self.nodes = MarkedNodes()
        """The nodes that are known."""

    def note(self, before: str | None) -> str:
        """What is known of losses, those of an earlier note among them."""
        now = self._clock.now()
        lost = [*losses_in(before, now), *warned(self.nodes.warned.values(), self._labels, now)]
        self._noted = frozenset(loss.pool for loss in lost)
        return noted(lost)

    def has_new(self) -> bool:
        """Whether a node of a pool that is not noted was warned since this was asked."""
        if len(self.nodes.warned) == self._seen:
            return False
        new = islice(self.nodes.warned.values(), self._seen, None)
        self._seen = len(self.nodes.warned)
        found = warned(new, self._labels, self._clock.now())
        return any(loss.pool not in self._noted for loss in found)
