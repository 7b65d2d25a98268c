"""The report at the end: per workload what was seen, per way how pods went, and the verdict."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evenkeel.model.meta import Reference
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.moves import Fate, Move
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Item, ObjectItem, Output
from evenkeel_sandbox.observer.health import Health

GOOD: Final = frozenset({Move.HANDED_OVER, Move.FINISHED, Move.LEFT})


class WorkloadReport(ObjectItem, frozen=True, kw_only=True):
    """What was seen of a workload that a notice touched.

    ``ok``: it was not without a ready pod where a handover was possible. ``wanted`` is how many
    replicas it is asked for, where its kind says that, ``ready`` how many are Ready at the end,
    ``lowest`` the fewest ever, ``before`` how many there were at first. ``moves`` are how many
    pods went how. ``outage`` is why no pod was Ready; ``gone``: it is not there any more.
    """

    ok: bool
    wanted: int | None
    before: int
    ready: int
    lowest: int
    moves: Mapping[Move, int]
    outage: str
    gone: bool

    @property
    def ready_or_gone(self) -> str:
        """How many are Ready; a word for a workload that is not there any more."""
        if self.gone:
            return "done" if self.subject.kind == "Job" else "gone"
        return str(self.ready)

    @property
    def style(self) -> str:
        """Whether fewer were ready than at first."""
        return "" if self.lowest >= self.before else "yellow"


class MoveReport(Item, frozen=True, kw_only=True):
    """How many pods went one way, for one reason."""

    move: Move
    pods: int
    why: str


WORKLOADS: Final[Columns[WorkloadReport]] = (
    NAMESPACE,
    WORKLOAD,
    Column("OK", lambda each: each.ok),
    Column("WANTED", lambda each: each.wanted, yields=1),
    Column("READY", lambda each: each.ready_or_gone),
    Column("LOWEST", lambda each: each.lowest, style=lambda each: each.style),
    Column("NO-POD-READY-BECAUSE", lambda each: each.outage, wide=True),
    Column(
        "MOVES",
        lambda each: ", ".join(f"{n} {move}" for move, n in each.moves.items()),
        wraps=True,
    ),
)

MOVES: Final[Columns[MoveReport]] = (
    Column("MOVE", lambda each: each.move, style=lambda e: "" if e.move in GOOD else "yellow"),
    Column("PODS", lambda each: each.pods),
    Column("WHY", lambda each: each.why, wraps=True),
)


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

    def show(self, output: Output) -> None:
        """Print the two tables and the verdict."""
        output.table(WORKLOADS, self.of_workloads(), namespace=self.namespace)
        shown = [health for health in self.workloads if self._is_shown(health.workload)]
        others = len(shown) - len(self.concerned)
        if others:
            output.say(f"{words.counted(others, 'other workload')} had no pod to move.")
        output.say()
        output.table(MOVES, self.of_moves())
        output.say()
        if self.unwarned:
            nodes = ", ".join(sorted(map(words.short_node, self.unwarned)))
            output.say(f"No time for a handover was left by {nodes}.", hang=2)
        output.say(self.verdict, "red" if self.failures else "green")

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

    def of_workloads(self) -> Sequence[WorkloadReport]:
        """An item for every workload that was touched."""
        moves: dict[Reference, Counter[Move]] = defaultdict(Counter)
        for fate in self.fates:
            moves[fate.workload][fate.move] += 1
        return [self._workload(health, moves[health.workload]) for health in self.concerned]

    def of_moves(self) -> Sequence[MoveReport]:
        """An item for every way that pods went, and every reason for it."""
        counts = Counter((f.move, f.why) for f in self.fates if self._is_shown(f.workload))
        found = [MoveReport(move=move, pods=n, why=why) for (move, why), n in counts.items()]
        order = list(Move)
        return sorted(found, key=lambda each: (order.index(each.move), -each.pods))

    def _is_shown(self, workload: Reference) -> bool:
        return self.namespace in ("", workload.namespace)

    def _workload(self, health: Health, moves: Counter[Move]) -> WorkloadReport:
        return WorkloadReport(
            subject=health.workload,
            ok=health not in self.failures,
            wanted=health.wanted,
            before=health.before,
            ready=health.ready,
            lowest=health.lowest,
            moves={move: moves[move] for move in Move if moves[move]},
            outage=health.outage.obstacle if health.outage is not None else "",
            gone=health.gone,
        )
