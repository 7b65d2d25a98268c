"""What to do when the eviction of a pod at its last moment is refused."""

from datetime import datetime, timedelta

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.drain.deadlines import Deadline
from evenkeel.decisions.drain.owner import Owner
from evenkeel.errors import ClusterError, DisruptionRefusedError, MultipleBudgetsError
from evenkeel.model import names
from evenkeel.model.annotations import AT_DEADLINE
from evenkeel.model.decision import Decision, Verb, Why
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Patch
from evenkeel.model.way import Way

TRIED_BEYOND = timedelta(seconds=60)
"""So long after a deadline evictions are still tried.

Some notices come with their deadline or after it. And a machine's end is known by then: its
pods are no longer taken for ready (node-monitor-grace-period is 50 s).
"""


def after_refusal(
    pod: Pod, owner: Owner, now: datetime, error: ClusterError, *, sets_condition: bool
) -> Decision:
    """Decide about a pod at its last moment whose eviction a budget, webhook or policy refused.

    - a Job's pod whose podFailurePolicy would count the failure gets its DisruptionTarget
      condition first, which an accepted eviction would have set. ``sets_condition`` False: that was
      refused, too;
    - else it is deleted: the node dies anyway, and only a delete gives the pod its SIGTERM.
    """
    if sets_condition and needs_condition(pod, owner):
        return owner.decision(
            pod,
            Verb.SET_CONDITION,
            Reason.JOB_COUNTS_FAILURES,
            "its Job's podFailurePolicy has to see a disruption, not a failure",
            write=writes.disruption_patch(pod, now),
        )
    reason, why = Reason.EVICTION_REFUSED_AT_LAST_MOMENT, f"its eviction is refused ({error})"
    if isinstance(error, DisruptionRefusedError | MultipleBudgetsError):
        several = "several budgets select it, and Kubernetes evicts no such pod"
        is_one = isinstance(error, DisruptionRefusedError)
        reason = Reason.BUDGET_REFUSED_AT_LAST_MOMENT
        why = "its budget refuses" if is_one else several
    return owner.decision(
        pod,
        Verb.DELETE,
        reason,
        f"{why}, but its node dies: deleted, so that it gets its SIGTERM",
        write=writes.delete(pod),
        warning=True,
    )


def not_taken(decision: Decision, error: ClusterError) -> Decision:
    """A write is refused, or undone, each time that it is sent: its object stays as it is."""
    return msgspec.structs.replace(
        decision,
        verb=Verb.LEAVE,
        reason=Reason.WRITE_REFUSED,
        message=f"{decision.verb} is not taken: {error}",
        warning=True,
        forced=False,
        until=None,
        write=None,
    )


def put_back(decision: Decision, write: Patch) -> Decision:
    """A policy undid a part of a release: this write takes the rest of it back at once."""
    return msgspec.structs.replace(
        decision,
        verb=Verb.ROLL_BACK,
        reason=Reason.RELEASE_REFUSED,
        message="a part of its release was undone: back to its owner",
        warning=True,
        until=None,
        write=write,
    )


def tried_until(deadline: Deadline) -> datetime:
    """How long the eviction of a pod is tried: a while beyond its deadline where its node dies."""
    return deadline.at + TRIED_BEYOND if deadline.forced else deadline.at


def kept_past_deadline(pod: Pod, owner: Owner, deadline: Deadline, now: datetime) -> bool:
    """Whether the eviction of a pod on a dying node is not tried any more: its owner keeps it.

    Its budget has refused up to its node's deadline and beyond: it has died with its node, or
    the node lives on, and a further eviction is of no use.
    """
    return deadline.forced and now >= tried_until(deadline) and is_kept(pod, owner)


def leave(pod: Pod, owner: Owner) -> Decision:
    """A pod stays whose eviction is refused, because its owner keeps it."""
    return owner.decision(
        pod,
        Verb.LEAVE,
        Reason.AT_DEADLINE_LEAVE,
        f"its eviction is refused, and {names.AT_DEADLINE}: leave keeps it to the end",
        warning=True,
        why=Why(
            way=Way.STAY,
            cause=f"its owner keeps it to the end ({names.AT_DEADLINE}: leave)",
            remedy=f"take the annotation {names.AT_DEADLINE} off, or let its budget spare one",
        ),
    )


def is_kept(pod: Pod, owner: Owner) -> bool:
    """Whether the owner has a pod stay, and die with its node, if its eviction is refused."""
    return owner.says(AT_DEADLINE, pod) == "leave"


def needs_condition(pod: Pod, owner: Owner) -> bool:
    """Whether a pod needs its DisruptionTarget condition before a plain delete.

    - its Job has a podFailurePolicy;
    - it does not carry the condition yet.
    """
    if owner.controller is None or not owner.controller.heeds_disruption:
        return False
    condition = pod.status.condition(names.DISRUPTION_TARGET)
    return condition is None or condition.status != "True"
