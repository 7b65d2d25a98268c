"""What is known of a cluster beside what was logged: its pools, its floors, and what it costs."""

from collections.abc import Mapping
from typing import NamedTuple

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.meta import Reference
from evenkeel.model.pool import pools_of
from evenkeel.ports import Cluster
from evenkeel_cli.cost import listing
from evenkeel_cli.cost.listing import WorkloadCost
from evenkeel_cli.cost.wording import told
from evenkeel_cli.decisions.cost import reckon
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.page.data import Money


class Surroundings(NamedTuple):
    """``pools`` by node, as people name them; ``floors`` that somebody asked for, by workload.

    ``money`` if it is known.
    """

    pools: Mapping[str, str] = {}
    floors: Mapping[Reference, int] = {}
    money: Money | None = None


def of(cluster: Cluster, labels: CapacityLabels, prices: Prices) -> Surroundings:
    """What a cluster shows. Raises ClusterError."""
    snapshot = read(cluster, SystemClock(), Terms(), Scope(capacity_labels=labels))
    bill = reckon(snapshot, prices)
    shown = listing.listing(bill, prices)
    pools = pools_of(snapshot.fleet.nodes.values(), labels)
    standings = [case.standing for case in snapshot.cases]
    floors = {s.workload.reference: s.wanted for s in standings if s.floor.is_asked}
    columns = [each for each in shown.columns if each.title not in ("NAMESPACE", "WORKLOAD")]
    lines = shown.lines(of_all=True)
    return Surroundings(
        {name: str(pool) for name, pool in pools.items() if pool is not None},
        {reference: floor for reference, floor in floors.items() if floor},
        Money(
            saved=f"${bill.nodes.on_demand - bill.nodes.now:,.0f}",
            note=" ".join([*shown.sentences(of_all=True), *told(prices, bill.gaps)]),
            columns=["Workload", *(_title(each.title) for each in columns)],
            rows=[[_name(each), *(column.cell(each)[0] for column in columns)] for each in lines],
        ),
    )


def _title(shouted: str) -> str:
    """``AT-FLOOR`` as a page writes it."""
    return shouted.replace("-", " ").capitalize()


def _name(each: WorkloadCost) -> str:
    place = each.subject.namespace
    return f"{place}/{each.name}" if place else each.name
