"""What restore would do, as a table: one row per workload."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evenkeel.decisions.restore.step import RestorePlan, Step
from evenkeel.model.decision import Decision
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import words
from evenkeel_cli.tables import Cell, Column, Table

COLUMNS: Final = (
    Column(key="workload", title="WORKLOAD"),
    Column(key="action", title="ACTION"),
    Column(key="pod", title="POD", wide=True),
    Column(key="node", title="NODE", wide=True),
    Column(key="reason", title="REASON"),
    Column(key="message", title="WHY", wraps=True),
)

NOT_OURS: Final = frozenset(
    {Reason.AS_WANTED, Reason.NOT_MANAGED, Reason.SYSTEM_NAMESPACE, Reason.SCALED_TO_ZERO}
)
"""Reasons of workloads of which nothing is said, unless it is asked for."""

ACCEPTED: Final = NOT_OURS | {
    "HandoverNever",
    "NoSurge",
    "NoTemplateHash",
    "OnDelete",
    "OwnRules",
    "OwnSpread",
    "Partition",
    "Protected",
    "Recreate",
    "RolloutPaused",
    "SelectedByHash",
    "SingleByDefault",
    "SingleNodeVolume",
}
"""And those that workloads are left for because their owners want it so."""


@dataclass(frozen=True, slots=True)
class Row:
    """What becomes of one workload; ``step`` None: nothing."""

    decision: Decision
    step: Step | None = None

    @property
    def workload(self) -> Reference:
        """The Deployment or StatefulSet."""
        return self.decision.workload or self.decision.subject


def rows(plan: RestorePlan, *, everything: bool) -> Sequence[Row]:
    """What is done comes first, in its order; then what is left, by name."""
    left = [Row(each) for each in plan.left if everything or each.reason not in NOT_OURS]
    left.sort(key=lambda row: (row.workload.namespace, row.workload.name, row.decision.reason))
    return [*(Row(step.decision, step) for step in plan.steps), *left]


def table(shown: Sequence[Row]) -> Table:
    """One row per workload."""
    return Table(COLUMNS, [_cells(row) for row in shown])


def _cells(row: Row) -> Sequence[Cell]:
    decision = row.decision
    pod = decision.subject.name if decision.subject.kind == "Pod" else ""
    style = "cyan" if row.step is not None else "yellow" if decision.warning else ""
    return (
        Cell(words.workload_name(row.workload)),
        Cell(decision.verb.value, style),
        Cell(pod),
        Cell(words.short_node(decision.node), value=decision.node),
        Cell(decision.reason),
        Cell(decision.message, "yellow" if decision.warning else ""),
    )
