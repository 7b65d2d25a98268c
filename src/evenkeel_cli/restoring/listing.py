"""What restore does about each workload, as ``evenkeel restore`` shows it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

import msgspec

from evenkeel.decisions.restore.step import RestorePlan
from evenkeel.model.decision import Decision
from evenkeel.model.reasons import Reason
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Item, Listing, ObjectItem

NOT_OURS: Final = frozenset(
    {Reason.AS_WANTED, Reason.NOT_MANAGED, Reason.SYSTEM_NAMESPACE, Reason.SCALED_TO_ZERO}
)
"""Reasons of workloads of which nothing is said, unless it is asked for."""

ACCEPTED: Final = NOT_OURS | {
    Reason.DEFAULT_FLOOR,
    Reason.HANDOVER_NEVER,
    Reason.LIVE_MIGRATION,
    Reason.NO_SURGE,
    Reason.NO_TEMPLATE_HASH,
    Reason.ON_DELETE,
    Reason.OWN_RULES,
    Reason.OWN_PREFERENCE,
    Reason.OWN_SPREAD,
    Reason.PARTITION,
    Reason.PROTECTED,
    Reason.RECREATE,
    Reason.ROLLOUT_PAUSED,
    Reason.SELECTED_BY_HASH,
    Reason.SINGLE_NODE_VOLUME,
}
"""And those that workloads are left for because their owners want it so."""


class WorkloadRestore(ObjectItem, frozen=True, kw_only=True):
    """What is done about a workload, or why nothing is.

    ``action`` is what happens to it, or to its ``pod`` on a ``node``; ``planned``: it changes
    something. ``reason`` is a CamelCase word, ``message`` says the same to people. ``warning``:
    replicas are at risk.
    """

    action: str
    planned: bool
    pod: str
    node: str
    reason: Reason
    message: str
    warning: bool


def _style(item: WorkloadRestore) -> str:
    return "cyan" if item.planned else "yellow" if item.warning else ""


class WorkloadRestoreList(Listing, frozen=True, kw_only=True):
    """What brings workloads back to their floors: what ``evenkeel restore`` prints.

    What is done comes first, in its order; then what is left, by name.
    """

    columns: ClassVar[Columns[WorkloadRestore]] = (
        NAMESPACE,
        WORKLOAD,
        Column("ACTION", lambda each: each.action, style=_style),
        Column("POD", lambda each: each.pod, wide=True),
        Column("NODE", lambda each: each.node, wide=True),
        Column("REASON", lambda each: each.reason),
        Column("MESSAGE", lambda each: each.message, yields=1),
    )

    items: Sequence[WorkloadRestore]

    def sentences(self) -> Iterator[str]:
        """What puts replicas at risk, whole."""
        yield from _at_risk(self.items)


class Split(Item, frozen=True, kw_only=True):
    """How many pods of a workload are where."""

    on_demand: int
    spot: int

    def __str__(self) -> str:
        """``12 + 36``."""
        return f"{self.on_demand} + {self.spot}"


class WorkloadDay(WorkloadRestore, frozen=True, kw_only=True):
    """What the first run of a day does about a workload, and what became of it in the day.

    ``floor`` is how many of its pods are to be on on-demand nodes. Its pods were as ``first`` says
    before the runs, and as ``last`` after them; ``moved`` counts the moves that were begun, and
    ``wentBack`` those of them that failed.
    """

    floor: int
    first: Split
    last: Split
    moved: int
    went_back: int


class Row(Item, frozen=True, kw_only=True):
    """The pods of managed workloads, so many ``seconds`` after the day began.

    ``moved`` and ``wentBack`` are what was begun, and what failed, since the row before. ``off`` is
    how many pods are still to move.
    """

    seconds: int
    moved: int
    went_back: int
    on_demand: int
    spot: int
    off: int

    @property
    def time(self) -> str:
        """``0:05``: hours and minutes."""
        return "{}:{:02d}".format(*divmod(self.seconds // 60, 60))

    @property
    def share(self) -> str:
        """How much of all is on spot."""
        return f"{100 * self.spot / (self.on_demand + self.spot or 1):.0f}%"


ROWS: Final[Columns[Row]] = (
    Column("TIME", lambda each: each.time),
    Column("MOVED", lambda each: each.moved),
    Column("WENT-BACK", lambda each: each.went_back),
    Column("ON-DEMAND", lambda each: each.on_demand),
    Column("SPOT", lambda each: each.spot),
    Column("SHARE", lambda each: each.share),
    Column("OFF", lambda each: each.off, style=lambda each: "yellow" if each.off else ""),
)


MOST: Final = 12
"""So many rows of a day a person reads at most."""


def few(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows of a day, of a long one every second, tenth or so, and the last.

    Each has what moved since the one before.
    """
    first, *later = rows
    every = -(-len(later) // (MOST - 1)) or 1
    groups = [later[i : i + every] for i in range(0, len(later), every)]
    return [first, *map(_together, groups)]


def _together(rows: Sequence[Row]) -> Row:
    moved, back = sum(each.moved for each in rows), sum(each.went_back for each in rows)
    return msgspec.structs.replace(rows[-1], moved=moved, went_back=back)


class RestoreDayList(Listing, frozen=True, kw_only=True):
    """A day of scheduled runs: what ``evenkeel restore`` prints of a copy of a cluster.

    ``runs`` are what was seen before the first run and after each. Of a copy in which nothing is to
    be done it prints a WorkloadRestoreList.
    """

    columns: ClassVar[Columns[WorkloadDay]] = (
        NAMESPACE,
        WORKLOAD,
        Column("FLOOR", lambda each: each.floor, yields=4),
        Column("FIRST", lambda each: each.first),
        Column("LAST", lambda each: each.last),
        Column("MOVED", lambda each: each.moved),
        Column("WENT-BACK", lambda each: each.went_back, yields=2),
        Column("ACTION", lambda each: each.action, wide=True),
        Column("POD", lambda each: each.pod, wide=True),
        Column("NODE", lambda each: each.node, wide=True),
        Column("REASON", lambda each: each.reason, yields=3, style=_style),
        Column("MESSAGE", lambda each: each.message, yields=1),
    )

    items: Sequence[WorkloadDay]
    runs: Sequence[Row]

    def sentences(self) -> Iterator[str]:
        """What put replicas at risk before the first run, whole."""
        yield from _at_risk(self.items)


def listing(plan: RestorePlan, *, everything: bool) -> WorkloadRestoreList:
    """An item for each workload; ``everything``: also for those of which nothing is to be said."""
    left = [
        _item(each, planned=False)
        for each in plan.left
        if everything or each.reason not in NOT_OURS
    ]
    left.sort(key=lambda item: (item.subject.namespace, item.subject.name, item.reason))
    done = [_item(step.decision, planned=True) for step in plan.steps]
    return WorkloadRestoreList(items=[*done, *left])


def _at_risk(items: Iterable[WorkloadRestore]) -> Iterator[str]:
    yield from words.once(
        (words.workload_name(each.subject), each.message) for each in items if each.warning
    )


def _item(decision: Decision, *, planned: bool) -> WorkloadRestore:
    return WorkloadRestore(
        subject=decision.workload or decision.subject,
        action=decision.verb.value,
        planned=planned,
        pod=decision.subject.name if decision.subject.kind == "Pod" else "",
        node=decision.node,
        reason=decision.reason,
        message=decision.message,
        warning=decision.warning,
    )
