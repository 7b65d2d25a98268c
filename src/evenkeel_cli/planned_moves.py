"""How each workload's pods on doomed nodes would go, and why."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from evenkeel.decisions.drain.returning import Drain
from evenkeel.model.meta import Reference
from evenkeel.model.way import Way
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Listing, ObjectItem
from evenkeel_cli.ways import Situation


class PlannedMove(ObjectItem, frozen=True, kw_only=True):
    """Which way so many pods of a workload would go, why, and what would change it."""

    pods: int
    way: Way
    message: str
    remedy: str

    @property
    def style(self) -> str:
        """Whether a replacement runs first, or nothing goes."""
        return "green" if self.way in (Way.HANDOVER, Way.STAY) else "yellow"


class PlannedMoveList(Listing, frozen=True, kw_only=True):
    """How pods on doomed nodes would go: what the plan of ``evenkeel drain`` prints."""

    columns: ClassVar[Columns[PlannedMove]] = (
        NAMESPACE,
        WORKLOAD,
        Column("PODS", lambda each: each.pods),
        Column("WAY", lambda each: words.WAYS[each.way], style=lambda each: each.style),
        Column("REMEDY", lambda each: each.remedy, wide=True),
        Column("WHY", lambda each: each.message),
    )

    items: Sequence[PlannedMove]


def listing(situations: Iterable[Situation], drain_of: Callable[[str], Drain]) -> PlannedMoveList:
    """An item for each workload and way. ``drain_of``: for what the node of a name is drained."""
    counts: Counter[tuple[Reference, Way, str, str]] = Counter()
    for situation in situations:
        way = situation.way_for(drain_of(situation.pod.spec.node_name))
        counts[situation.workload, way.way, way.message, way.remedy] += 1
    items = [
        PlannedMove(subject=workload, pods=count, way=way, message=message, remedy=remedy)
        for (workload, way, message, remedy), count in counts.items()
    ]
    items.sort(key=lambda each: words.workload_name(each.subject))
    return PlannedMoveList(items=items)
