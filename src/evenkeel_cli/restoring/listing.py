"""What restore does about each workload, as ``evenkeel restore`` shows it."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from evenkeel.decisions.restore.step import RestorePlan
from evenkeel.model.decision import Decision
from evenkeel.model.reasons import Reason
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Listing, ObjectItem

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
        yield from words.once(
            (words.workload_name(each.subject), each.message) for each in self.items if each.warning
        )


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
