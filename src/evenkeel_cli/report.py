"""The report at the end: per workload what was seen, per way how pods went, and the verdict."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console

from evenkeel.model.meta import Reference
from evenkeel_cli import words
from evenkeel_cli.moves import Fate, Move
from evenkeel_cli.tables import Cell, Column, Table
from evenkeel_cli.wrapping import Wrapped
from evenkeel_sandbox.observer.health import Health

WORKLOADS: Final = (
    Column(key="workload", title="WORKLOAD"),
    Column(key="wanted", title="WANTED", right=True),
    Column(key="ready", title="READY", right=True),
    Column(key="lowest", title="LOWEST", right=True),
    Column(key="moves", title="HOW ITS PODS MOVED", wraps=True),
    Column(key="outage", title="NO POD READY BECAUSE", wide=True),
)

WAYS: Final = (
    Column(key="move", title="HOW"),
    Column(key="pods", title="PODS", right=True),
    Column(key="why", title="WHY", wraps=True),
)

GOOD: Final = frozenset({Move.HANDED_OVER, Move.FINISHED, Move.LEFT})


@dataclass(frozen=True, slots=True)
class Report:
    """What was seen of the workloads, what became of the pods, and which outages count.

    ``movable`` names the workloads that can be handed over; ``unwarned`` the nodes that went
    without enough time for it. ``namespace`` leaves the others out of the tables, but no
    failure out of the verdict.
    """

    workloads: Collection[Health]
    fates: Sequence[Fate]
    movable: Collection[Reference]
    unwarned: Collection[str] = ()
    namespace: str = ""

    @property
    def failures(self) -> Sequence[Health]:
        """The workloads that could have been handed over, and went to zero all the same.

        - it had ready pods at first, and at some time none;
        - its pods can be handed over;
        - not all of its first pods were on nodes that went without warning;
        - nothing kept its new pods from running: no lack of a place, no quota.
        """
        return [
            health
            for health in self.workloads
            if health.went_to_zero
            and health.workload in self.movable
            and not health.first_nodes <= set(self.unwarned)
            and health.outage is not None
            and not health.outage.obstacle
        ]

    @property
    def concerned(self) -> Sequence[Health]:
        """The workloads that a notice touched, by name."""
        moved = {fate.workload for fate in self.fates}
        touched = (
            health
            for health in self.workloads
            if (health.workload in moved or health.lowest < health.before)
            and self._is_shown(health.workload)
        )
        return sorted(touched, key=lambda health: words.workload_name(health.workload))

    def show(self, console: Console, *, wide: bool = False) -> None:
        """Print the two tables and the verdict."""
        self.workload_table().show(console, wide=wide)
        shown = [health for health in self.workloads if self._is_shown(health.workload)]
        others = len(shown) - len(self.concerned)
        if others:
            console.print(f"{words.counted(others, 'other workload')} had no pod to move.")
        console.print()
        self.way_table().show(console, wide=wide)
        console.print()
        console.print(Wrapped(self.verdict, "bold red" if self.failures else "bold green"))

    @property
    def verdict(self) -> str:
        """One sentence: whether a workload went to zero that need not have."""
        could = [health for health in self.concerned if health.workload in self.movable]
        if self.failures:
            which = ", ".join(words.workload_name(health.workload) for health in self.failures)
            return f"Not as wanted: without a ready pod, though a handover was possible: {which}."
        return (
            f"Of {words.counted(len(could), 'workload')} that could be handed over, none was"
            " without a ready pod."
        )

    def workload_table(self) -> Table:
        """A row for every workload that was touched."""
        moves: dict[Reference, Counter[Move]] = defaultdict(Counter)
        for fate in self.fates:
            moves[fate.workload][fate.move] += 1
        return Table(
            WORKLOADS,
            [self._row(health, moves[health.workload]) for health in self.concerned],
        )

    def way_table(self) -> Table:
        """A row for every way that pods went, and every reason for it."""
        shown = (fate for fate in self.fates if self._is_shown(fate.workload))
        ways = Counter((fate.move, fate.why) for fate in shown)
        order = list(Move)
        rows = sorted(ways.items(), key=lambda item: (order.index(item[0][0]), -item[1]))
        return Table(
            WAYS,
            [
                (
                    Cell(move.value, "" if move in GOOD else "yellow"),
                    Cell(str(count), value=count),
                    Cell(why),
                )
                for (move, why), count in rows
            ],
        )

    def data(self) -> Mapping[str, Any]:
        """The report for programs."""
        return {
            "workloads": self.workload_table().data(),
            "ways": self.way_table().data(),
            "failed": [words.workload_name(health.workload) for health in self.failures],
        }

    def _is_shown(self, workload: Reference) -> bool:
        return self.namespace in ("", workload.namespace)

    def _row(self, health: Health, moves: Counter[Move]) -> Sequence[Cell]:
        wanted = "-" if health.wanted is None else str(health.wanted)
        ordered = [(move, moves[move]) for move in Move if moves[move]]
        outage = health.outage.obstacle if health.outage is not None else ""
        return (
            Cell(words.workload_name(health.workload)),
            Cell(wanted, value=health.wanted),
            Cell(_gone(health) or str(health.ready), value=health.ready),
            Cell(str(health.lowest), self._style(health), value=health.lowest),
            Cell(
                ", ".join(f"{count} {move}" for move, count in ordered),
                value={move.value: count for move, count in ordered},
            ),
            Cell(outage),
        )

    def _style(self, health: Health) -> str:
        if health in self.failures:
            return "bold red"
        return "green" if health.lowest >= health.before else "yellow"


def _gone(health: Health) -> str:
    """What to say of a workload that is not there any more; empty if it is."""
    if not health.gone:
        return ""
    return "done" if health.workload.kind == "Job" else "gone"
