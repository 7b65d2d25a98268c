"""README's one table, of what hardly depends on the machine, and its picture's curves."""

import statistics
from collections.abc import Sequence
from typing import Final

import msgspec

from bench import store
from bench.conditions import together
from bench.cost.bill import Bill
from bench.cost.month import ARCHITECTURE, NEW_PODS
from bench.drainers.results import Drains, middle
from bench.floors.results import Floors
from bench.placement.results import Placement
from bench.report.markdown import markdown
from bench.report.picture import Curve
from bench.storm.results import Baseline, Result

COLUMNS: Final = ("", "without Evenkeel", "with Evenkeel")
PICTURE: Final = "docs/storm.svg"
"""Where it is in the repository, whose root README is in."""

DRAINS: Final = {
    "kubectl": "`kubectl drain` of a node with {} workloads, half of them behind a budget",
    "consolidation": "Karpenter consolidates such a node, no budgets",
    "drift": "Karpenter replaces such a node for drift, no budgets",
}


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What the table is made of. ``storm`` is A with what it is compared with, ``slow`` is D."""

    drains: Drains
    storm: Result
    slow: Result
    floors: Floors
    placement: Placement
    bill: Bill

    @property
    def is_complete(self) -> bool:
        """Whether every row has its figures."""
        has_curves = all(each and each.ready for each in (self.storm.deletion, self.storm.drain))
        return has_curves and DRAINS.keys() <= self.drains.pairs.keys()


def read() -> Measured | None:
    """All of it from the benches' last results; None while any is missing."""
    drains, floors = store.read("drainers", Drains), store.read("floors", Floors)
    storm, slow = store.read("storm-A", Result), store.read("storm-D", Result)
    placement, bill = store.read("placement", Placement), store.read("cost", Bill)
    if not (drains and floors and storm and slow and placement and bill):
        return None
    found = Measured(
        drains=drains, storm=storm, slow=slow, floors=floors, placement=placement, bill=bill
    )
    return found if found.is_complete else None


def table(found: Measured) -> str:
    """Markdown: a row each, and below them how it was measured."""
    pairs = [found.drains.pairs[name] for name in DRAINS]
    conditions = [
        *(pair.conditions for pair in pairs),
        found.storm.conditions,
        found.slow.conditions,
        *(run.conditions for run in found.floors.runs),
        found.placement.conditions,
    ]
    runs = {
        *(len(pair.gated) for pair in pairs),
        *(len(each.rounds) for each in (found.storm, found.slow)),
        len(found.floors.runs),
        len(found.placement.rounds),
    }
    note = (
        f"{' or '.join(map(str, sorted(runs)))} runs with Evenkeel, and one without: of workloads"
        f" the worst, of times the median. {together(conditions)}."
    )
    rows = [
        *(_drain(found.drains, name) for name in DRAINS),
        _storm(found.storm),
        _slow(found.slow),
        _floors(found.floors),
        _creation(found.placement),
        _cost(found.bill),
    ]
    return markdown(COLUMNS, rows, (note,))


def shown(storm: Result) -> str:
    """Markdown: the picture, and what it is of."""
    return (
        f"![Share of Ready pods over time: Evenkeel, kubectl drain, bare deletion]({PICTURE})\n\n"
        f"The picture is of the {storm.nodes} nodes with {storm.pods:,} pods, once for each way to"
        " empty them. Of Evenkeel it is the worst run. A curve ends with the last change of a"
        " pod.\n"
    )


def curves(storm: Result) -> Sequence[Curve]:
    """Ready pods in storm A: of Evenkeel's rounds the worst, and of what it is compared with."""
    assert storm.deletion is not None, "no bare deletion was measured"
    assert storm.drain is not None, "no `kubectl drain` was measured"
    worst = min(storm.rounds, key=lambda each: min(each.ready))
    return [
        Curve("Evenkeel", worst.ready, storm.pods),
        Curve("kubectl drain", storm.drain.ready, storm.pods),
        Curve("bare deletion", storm.deletion.ready, storm.pods),
    ]


def _drain(drains: Drains, name: str) -> Sequence[str]:
    pair, workloads = drains.pairs[name], len(drains.replicas)
    without, left = drains.below(pair.without), pair.without.outcome.left
    seconds = middle([each.outcome.empty for each in pair.gated])
    through = "the node never empty" if seconds is None else f"the node empty after {seconds:.0f} s"
    return (
        DRAINS[name].format(workloads),
        f"{_of(without, workloads)} below wanted" + (f", {left} pods block it" if left else ""),
        f"{_of(drains.below(*pair.gated), workloads)} below wanted, {through}",
    )


def _storm(storm: Result) -> Sequence[str]:
    outcomes = [each.outcome for each in storm.rounds]
    below = max(each.below_wanted for each in outcomes)
    return (
        f"{storm.nodes} spot nodes are interrupted at once, with {storm.pods:,} pods",
        (
            f"bare deletion: {_at_zero(storm, storm.deletion)};"
            f" `kubectl drain`: {_at_zero(storm, storm.drain)}"
        ),
        f"{_of(below, storm.workloads)} below wanted" + (f", {_stood(storm)}" if below else ""),
    )


def _slow(storm: Result) -> Sequence[str]:
    made = statistics.median(each.outcome.made for each in storm.rounds)
    what = (
        "the same where the controller manager, at its default of 20 requests a second, replaces"
        f" {100 * made / storm.pods:.0f} % of the pods in time"
    )
    return what, "", _stood(storm)


def _floors(floors: Floors) -> Sequence[str]:
    stands = [run.stands for run in floors.runs]
    workloads = sum(each.workloads for each in stands[0])
    below = max(sum(each.below_floor for each in run) for run in stands)
    return (
        "all spot nodes die and no node has room: workloads with a floor on on-demand nodes",
        "",
        f"{_of(below, workloads)} below their floor",
    )


def _creation(placement: Placement) -> Sequence[str]:
    rate = placement.extent.rate
    return (
        f"a pod's creation, {rate:g} of them a second; the webhook counts its workload's floor",
        f"{placement.middle.bare.median * 1000:.0f} ms",
        f"{placement.middle.asked.median * 1000:.0f} ms",
    )


def _cost(bill: Bill) -> Sequence[str]:
    (storm,) = [each for each in bill.scenarios if each.scenario == "A"]
    (pods,) = [line for line in bill.month.options if line.what == NEW_PODS]
    return (
        "cost on AWS, reckoned from these runs and a price list",
        "",
        (
            f"${bill.month.total:.2f} in a month in which nothing happens,"
            f" ${storm.per_thousand.total[ARCHITECTURE]:.2f} for 1,000 interruptions,"
            f" ${pods.dollars:.2f} for {NEW_PODS}"
        ),
    )


def _stood(storm: Result) -> str:
    """How few pods the worst of all workloads had."""
    outcomes = [each.outcome for each in storm.rounds]
    at_zero = max(each.at_zero for each in outcomes)
    lowest = min(each.lowest_share for each in outcomes)
    return f"{_of(at_zero, storm.workloads)} at zero, at least {100 * lowest:.0f} % of each Ready"


def _at_zero(storm: Result, other: Baseline | None) -> str:
    assert other is not None, "nothing to compare with was measured"
    return f"{_of(other.outcome.at_zero, storm.workloads)} at zero"


def _of(some: int, workloads: int) -> str:
    return f"{some or 'none'} of {workloads}"
