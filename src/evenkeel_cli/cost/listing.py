"""What workloads cost a month, as ``evenkeel status --cost`` shows it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final

from evenkeel.model.meta import Reference
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.decisions.cost import Bill, Cost
from evenkeel_cli.decisions.prices import Prices, PriceSource
from evenkeel_cli.output import NAMESPACE, Item, Listing, ObjectItem

UNKNOWN: Final = "?"
IDLE: Final = "idle"
TOGETHER: Final = "together"


class Amounts(Item, frozen=True, kw_only=True):
    """US dollars a month.

    ``now``; ``onDemand``: if all were on on-demand nodes of the same types; ``atFloor``: if each
    workload's floor were on on-demand nodes, and the rest of its pods on spot.
    """

    now: float
    on_demand: float
    at_floor: float

    @property
    def saved(self) -> float:
        """What spot saves now."""
        return self.on_demand - self.now


class WorkloadCost(ObjectItem, frozen=True, kw_only=True):
    """What the pods of a workload cost.

    ``pods`` have a node, ``survivors`` are Ready on on-demand nodes: what would be left if every
    spot node died now. ``unpriced`` are on nodes without a known price, and count as nothing.
    """

    cost: Amounts
    pods: int
    survivors: int
    unpriced: int

    @property
    def name(self) -> str:
        """As people read it."""
        return words.short_name(self.subject)


class _Line(WorkloadCost, frozen=True, kw_only=True):
    """A line below the workloads. ``subject`` has its name alone."""

    @property
    def name(self) -> str:
        """As people read it."""
        return self.subject.name


def _amount(of: Callable[[Amounts], float], each: WorkloadCost) -> str:
    """Dollars, with cents below a hundred; with a question mark where something is not known."""
    dollars = of(each.cost)
    if each.unpriced and not dollars:
        return UNKNOWN
    shown = f"{dollars:,.2f}" if abs(dollars) < 100 else f"{dollars:,.0f}"
    return f"{shown}+{UNKNOWN}" if each.unpriced else shown


def _column(title: str, of: Callable[[Amounts], float], yields: int = 0) -> Column[WorkloadCost]:
    return Column(title, partial(_amount, of), yields=yields)


class WorkloadCostList(Listing, frozen=True, kw_only=True):
    """What each workload costs a month in US dollars: what ``evenkeel status --cost`` prints.

    ``idle`` is the part of the cluster's nodes that no pod requests, ``nodes`` what they cost.
    ``unknownTypes``: how many nodes there are of each type without a known price. ``assumed``:
    of how many nodes spot's price is by the rule of thumb. ``elsewhere``: regions of nodes that the
    prices are not of. ``prices``: where they are from, the first before the others.
    """

    columns: ClassVar[Columns[WorkloadCost]] = (
        NAMESPACE,
        Column("WORKLOAD", lambda each: each.name),
        Column("PODS", lambda each: each.pods or "", yields=1),
        Column("SURVIVE", lambda each: each.survivors if each.pods else "", yields=3),
        _column("NOW", lambda cost: cost.now),
        _column("ON-DEMAND", lambda cost: cost.on_demand),
        _column("SAVED", lambda cost: cost.saved, yields=2),
        _column("AT-FLOOR", lambda cost: cost.at_floor),
    )

    items: Sequence[WorkloadCost]
    idle: Amounts
    nodes: Amounts
    unknown_types: Mapping[str, int]
    assumed: int
    elsewhere: Sequence[str]
    prices: Sequence[PriceSource]

    def lines(self, *, of_all: bool) -> Sequence[WorkloadCost]:
        """The workloads, and below them what is idle, if all are shown, and all together."""
        unknown = sum(self.unknown_types.values()) if of_all else 0
        idle = [_line(IDLE, [self.idle], unpriced=unknown)] if of_all else []
        costs = [each.cost for each in (*self.items, *idle)]
        return [*self.items, *idle, _line(TOGETHER, costs, self.items, unpriced=unknown)]

    def sentences(self, *, of_all: bool) -> Iterator[str]:
        """What it comes to."""
        together = self.lines(of_all=of_all)[-1]
        cost = together.cost
        if cost.on_demand:
            known = "Of what has a known price, spot saves" if together.unpriced else "Spot saves"
            yield f"{known} {_dollars(cost.saved)} a month ({cost.saved / cost.on_demand:.0%})."
        yield (
            f"If every spot node died now, {together.survivors} of"
            f" {words.counted(together.pods, 'pod')} would be left Ready."
        )
        if not of_all:
            yield (
                f"All nodes of the cluster cost {_dollars(self.nodes.now)}, and no pod requests"
                f" {_dollars(self.idle.now)} of it."
            )


def _line(
    name: str,
    costs: Sequence[Amounts],
    workloads: Sequence[WorkloadCost] = (),
    *,
    unpriced: int,
) -> WorkloadCost:
    """A line of this name, of all these costs and of the pods of these workloads.

    ``unpriced``: so many nodes are without a known price.
    """
    return _Line(
        subject=Reference(kind="", name=name),
        cost=Amounts(
            now=sum(each.now for each in costs),
            on_demand=sum(each.on_demand for each in costs),
            at_floor=sum(each.at_floor for each in costs),
        ),
        pods=sum(each.pods for each in workloads),
        survivors=sum(each.survivors for each in workloads),
        unpriced=unpriced + sum(each.unpriced for each in workloads),
    )


def listing(bill: Bill, prices: Prices, namespace: str = "") -> WorkloadCostList:
    """An item for each workload, of one namespace if it is named, the dearest first."""
    items = [
        WorkloadCost(
            subject=reference,
            cost=_amounts(share.cost),
            pods=share.pods,
            survivors=share.survivors,
            unpriced=share.unpriced,
        )
        for reference, share in bill.workloads.items()
        if namespace in ("", reference.namespace)
    ]
    items.sort(key=lambda each: (-each.cost.now, each.subject.namespace, each.name))
    return WorkloadCostList(
        items=items,
        idle=_amounts(bill.idle),
        nodes=_amounts(bill.nodes),
        unknown_types=bill.gaps.unknown,
        assumed=bill.gaps.assumed,
        elsewhere=bill.gaps.elsewhere,
        prices=prices.sources,
    )


def _amounts(cost: Cost) -> Amounts:
    """In hundredths of cents."""
    now, on_demand, at_floor = (round(each, 4) for each in cost)
    return Amounts(now=now, on_demand=on_demand, at_floor=at_floor)


def _dollars(amount: float) -> str:
    return f"${amount:,.0f}"
