"""The demo's second table: where the pods of managed workloads are, against their floors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console

from evenkeel.decisions.floor.standing import Standing
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import words
from evenkeel_cli.status.gather import Found
from evenkeel_cli.tables import Cell, Column, Table
from evenkeel_cli.wrapping import Wrapped

COLUMNS: Final = (
    Column(key="workload", title="WORKLOAD"),
    Column(key="floor", title="FLOOR"),
    Column(key="first", title="AT FIRST", right=True),
    Column(key="storm", title="AFTER STORM", right=True),
    Column(key="restored", title="RESTORED", right=True),
    Column(key="survivors", title="SURVIVE", right=True),
)


@dataclass(frozen=True, slots=True)
class Ratios:
    """Three looks at the cluster: before anything happened, after the storm, at the end."""

    first: Found
    storm: Found
    restored: Found

    @property
    def short(self) -> Sequence[str]:
        """The workloads whose floor does not stand at the end: Ready, on on-demand nodes."""
        return [
            words.workload_name(each.workload.reference)
            for each in _managed(self.restored).values()
            if each.survivors < each.wanted
        ]

    @property
    def verdict(self) -> str:
        """One sentence: whether every floor stands."""
        if self.short:
            return f"Not as wanted: the floor does not stand of {', '.join(self.short)}."
        floors = sum(each.wanted > 0 for each in _managed(self.restored).values())
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

    def table(self) -> Table:
        """A row for every workload of the managed namespaces."""
        first, storm = _managed(self.first), _managed(self.storm)
        return Table(
            COLUMNS,
            [
                _row(each, first.get(workload), storm.get(workload))
                for workload, each in _managed(self.restored).items()
            ],
        )

    def show(self, console: Console, *, wide: bool = False) -> None:
        """Print the table, what is left as it is, and the verdict."""
        console.print(
            "Pods on on-demand + spot nodes, and how many SURVIVE if all spot nodes die now:"
        )
        console.print()
        self.table().show(console, wide=wide)
        console.print()
        for line in self.left:
            console.print(Wrapped(line))
        console.print(Wrapped(self.verdict, "bold red" if self.short else "bold green"))

    def data(self) -> Mapping[str, Any]:
        """The same for programs."""
        return {"ratios": self.table().data(), "short": list(self.short)}


def _managed(found: Found) -> Mapping[Reference, Standing]:
    return {each.workload.reference: each for each in found.standings if each.is_managed}


def _row(restored: Standing, first: Standing | None, storm: Standing | None) -> Sequence[Cell]:
    policy, wanted = str(restored.floor.floor), restored.wanted
    shown = f"{wanted}" if policy == f"{wanted}" else f"{wanted} ({policy})"
    is_short = restored.survivors < wanted
    return (
        Cell(words.workload_name(restored.workload.reference)),
        Cell(shown, value={"policy": policy, "replicas": wanted}),
        _split(first),
        _split(storm),
        _split(restored),
        Cell(str(restored.survivors), "bold red" if is_short else "", value=restored.survivors),
    )


def _split(standing: Standing | None) -> Cell:
    """How many are where; yellow if that is not what the owner wants."""
    if standing is None:
        return Cell("-")
    off = standing.missing or standing.surplus
    return Cell(
        f"{standing.on_demand} + {standing.spot}",
        "yellow" if off else "green",
        value={"onDemand": standing.on_demand, "spot": standing.spot},
    )
