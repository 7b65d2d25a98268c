"""Looking around in a cluster: floors, headroom and money, seldom enough to cost little."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.errors import ClusterError
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model.capacity import CapacityLabels
from evenkeel.ports import Clock, Cluster
from evenkeel_cli import words
from evenkeel_cli.cost import listing, wording
from evenkeel_cli.decisions.cost import Bill, reckon
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.headroom.wording import told
from evenkeel_cli.screen.known import Around
from evenkeel_cli.screen.views import Money

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
        return Around(
            standings=[each.standing for each in snapshot.candidates],
            headroom=told(self.cluster, snapshot),
            money=_money(reckon(snapshot, self.prices), self.prices),
        )


def _money(bill: Bill, prices: Prices) -> Money | None:
    """The table of ``status --cost``; None where no node has a known price."""
    if not bill.nodes.on_demand:
        return None
    shown = listing.listing(bill, prices)
    columns = [each for each in shown.columns if each.title not in ("NAMESPACE", "WORKLOAD")]
    return Money(
        now=round(bill.nodes.now, 2),
        saved=round(bill.nodes.on_demand - bill.nodes.now, 2),
        note=" ".join([*shown.sentences(of_all=True), *wording.told(prices, bill.gaps)]),
        columns=["Workload", *(each.title.replace("-", " ").capitalize() for each in columns)],
        rows=[
            [_name(each), *(column.cell(each)[0] for column in columns)]
            for each in shown.lines(of_all=True)
        ],
    )


def _name(each: listing.WorkloadCost) -> str:
    """That of a workload as people read it, of a line below them its title."""
    return words.workload_name(each.subject) if each.subject.namespace else each.name
