"""Looking around in a cluster: floors, headroom and money, seldom enough to cost little."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.errors import ClusterError
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model.capacity import CapacityLabels
from evenkeel.ports import Clock, Cluster
from evenkeel_cli.decisions.cost import reckon
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.headroom.wording import told
from evenkeel_cli.watch.known import Around

REST: Final = 200
"""A pause is so many times as long as the look before it, which takes in all pods."""


@dataclass(slots=True)
class Surveyor:
    """Looks at one cluster again and again. ``clock`` is the real one.

    What cannot be read now and then stays as it was.
    """

    cluster: Cluster
    labels: CapacityLabels
    prices: Prices
    clock: Clock
    _found: Around | None = None
    _next: datetime | None = None

    def around(self) -> Around | None:
        """What was found last. Raises ClusterError where that is nothing at all."""
        began = self.clock.now()
        if self._next is None or began >= self._next:
            try:
                self._found = self._look()
            except ClusterError:
                if self._found is None:
                    raise
            took = max(timedelta(), self.clock.now() - began)
            self._next = self.clock.now() + took * REST
        return self._found

    def _look(self) -> Around:
        snapshot = read(self.cluster, self.clock, Terms(), Scope(capacity_labels=self.labels))
        nodes = reckon(snapshot, self.prices).nodes
        return Around(
            standings=[case.standing for case in snapshot.cases],
            headroom=told(self.cluster, snapshot),
            dollars=(nodes.now, nodes.on_demand - nodes.now) if nodes.on_demand else None,
        )
