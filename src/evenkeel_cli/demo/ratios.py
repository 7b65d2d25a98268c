"""The demo's second table: where the pods of managed workloads are, against their floors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evenkeel.decisions.floor.standing import Standing
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Item, ObjectItem, Output
from evenkeel_cli.status.gather import Found
from evenkeel_cli.status.listing import NO_FLOOR


class Split(Item, frozen=True, kw_only=True):
    """How many pods are where; ``ok``: as the owner wants it."""

    on_demand: int
    spot: int
    ok: bool

    def __str__(self) -> str:
        """``12 + 36``."""
        return f"{self.on_demand} + {self.spot}"

    @property
    def style(self) -> str:
        """Yellow if it is not as it should be."""
        return "" if self.ok else "yellow"


class WorkloadRatio(ObjectItem, frozen=True, kw_only=True):
    """Where the pods of a workload were at ``first``, after the ``storm`` and when ``restored``.

    ``ok``: its floor stands at the end, for as many ``survivors`` are Ready on on-demand nodes;
    ``prefers``: it is a default one, which is a preference.
    """

    ok: bool
    floor: int
    prefers: bool
    policy: str
    first: Split | None
    storm: Split | None
    restored: Split
    survivors: int


RATIOS: Final[Columns[WorkloadRatio]] = (
    NAMESPACE,
    WORKLOAD,
    Column("OK", lambda each: each.ok if each.floor or not each.ok else NO_FLOOR),
    Column("FLOOR", lambda each: f"{each.floor} by default" if each.prefers else each.floor),
    Column("POLICY", lambda each: each.policy, wide=True),
    Column("FIRST", lambda each: each.first),
    Column("STORM", lambda e: e.storm, style=lambda e: e.storm.style if e.storm else ""),
    Column("RESTORED", lambda each: each.restored, style=lambda each: each.restored.style),
    Column("SURVIVE", lambda each: each.survivors),
)


@dataclass(frozen=True, slots=True)
class Ratios:
    """Three looks at the cluster: before anything happened, after the storm, at the end."""

    first: Found
    storm: Found
    restored: Found

    @property
    def short(self) -> Sequence[Reference]:
        """The workloads whose floor does not stand at the end: Ready, on on-demand nodes."""
        return [each.subject for each in self.of_workloads() if not each.ok]

    @property
    def verdict(self) -> str:
        """One sentence: whether every floor stands."""
        if self.short:
            which = ", ".join(map(words.workload_name, self.short))
            return f"Not as wanted: the floor does not stand of {which}."
        standings = _managed(self.restored).values()
        floors = sum(each.floor.is_asked and each.wanted > 0 for each in standings)
        return f"{words.counted(floors, 'workload has', 'workloads have')} a floor: each stands."

    @property
    def left(self) -> Sequence[str]:
        """A line for each workload that is not as wanted, with restore's reason."""
        told = ((each, self.restored.restores.get(each)) for each in _managed(self.restored))
        return [
            f"{words.workload_name(workload)} is left: {decision.message}"
            for workload, decision in told
            if decision is not None and decision.reason is not Reason.AS_WANTED
        ]

    def of_workloads(self) -> Sequence[WorkloadRatio]:
        """An item for every workload of the managed namespaces."""
        first, storm = _managed(self.first), _managed(self.storm)
        return [
            _ratio(each, first.get(workload), storm.get(workload))
            for workload, each in _managed(self.restored).items()
        ]

    def show(self, output: Output) -> None:
        """Print the table, what is left as it is, and the verdict."""
        output.say(
            "Pods on on-demand + spot nodes, and how many SURVIVE if all spot nodes die now:"
        )
        output.say()
        output.table(RATIOS, self.of_workloads())
        output.say()
        for line in self.left:
            output.say(line)
        output.say(self.verdict, "red" if self.short else "green")


def _managed(found: Found) -> Mapping[Reference, Standing]:
    return {each.workload.reference: each for each in found.standings if each.is_managed}


def _ratio(restored: Standing, first: Standing | None, storm: Standing | None) -> WorkloadRatio:
    return WorkloadRatio(
        subject=restored.workload.reference,
        ok=restored.survivors >= restored.wanted or not restored.floor.is_asked,
        floor=restored.wanted,
        prefers=restored.wanted > 0 and not restored.floor.is_asked,
        policy=str(restored.floor.floor),
        first=_split(first) if first is not None else None,
        storm=_split(storm) if storm is not None else None,
        restored=_split(restored),
        survivors=restored.survivors,
    )


def _split(standing: Standing) -> Split:
    is_off = bool(standing.missing or standing.surplus)
    return Split(on_demand=standing.on_demand, spot=standing.spot, ok=not is_off)
