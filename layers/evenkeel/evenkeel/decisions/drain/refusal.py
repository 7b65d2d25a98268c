"""What to do when a disruption budget refuses an eviction."""

from datetime import datetime, timedelta

from evenkeel.decisions.drain import writes
from evenkeel.decisions.drain.deadlines import Deadline
from evenkeel.decisions.drain.owner import Owner
from evenkeel.model import names
from evenkeel.model.annotations import AT_DEADLINE
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.workload import Job

TRIED_BEYOND = timedelta(seconds=60)
"""So long after a deadline evictions are still tried.

Some notices come with their deadline or after it. And a machine's end is known by then: its
pods are no longer taken for ready (node-monitor-grace-period is 50 s).
"""


def after_refusal(pod: Pod, owner: Owner, now: datetime) -> Decision:
    """Decide about a pod at its last moment whose eviction a budget refused.

    - the owner said ``evenkeel.dev/at-deadline: leave``: it stays, and dies with its node;
    - a Job's pod whose podFailurePolicy would count the failure gets its DisruptionTarget
      condition first, which an accepted eviction would have set;
    - else it is deleted: the node dies anyway, and only a delete gives the pod its SIGTERM.
    """
    if _is_kept(pod, owner):
        return leave(pod, owner)
    if needs_condition(pod, owner):
        return owner.decision(
            pod,
            Verb.SET_CONDITION,
            Reason.JOB_COUNTS_FAILURES,
            "its Job's podFailurePolicy has to see a disruption, not a failure",
            write=writes.disruption_patch(pod, now),
        )
    return owner.decision(
        pod,
        Verb.DELETE,
        Reason.BUDGET_REFUSED_AT_LAST_MOMENT,
        "its budget refuses, but its node dies: deleted, so that it gets its SIGTERM",
        write=writes.delete(pod),
        warning=True,
    )


def tried_until(deadline: Deadline) -> datetime:
    """How long the eviction of a pod is tried: a while beyond its deadline where its node dies."""
    return deadline.at + TRIED_BEYOND if deadline.forced else deadline.at


def kept_past_deadline(pod: Pod, owner: Owner, deadline: Deadline, now: datetime) -> bool:
    """Whether the eviction of a pod on a dying node is not tried any more: its owner keeps it.

    Its budget has refused up to its node's deadline and beyond: it has died with its node, or
    the node lives on, and a further eviction is of no use.
    """
    return deadline.forced and now >= tried_until(deadline) and _is_kept(pod, owner)


def leave(pod: Pod, owner: Owner) -> Decision:
    """A pod stays whose budget refuses, because its owner keeps it."""
    return owner.decision(
        pod,
        Verb.LEAVE,
        Reason.AT_DEADLINE_LEAVE,
        f"its budget refuses, and {names.AT_DEADLINE}: leave keeps it to the end",
        warning=True,
    )


def _is_kept(pod: Pod, owner: Owner) -> bool:
    return owner.says(AT_DEADLINE, pod) == "leave"


def needs_condition(pod: Pod, owner: Owner) -> bool:
    """Whether a pod needs its DisruptionTarget condition before a plain delete.

    - its Job has a podFailurePolicy;
    - it does not carry the condition yet.
    """
    job = owner.controller
    if not isinstance(job, Job) or job.spec.pod_failure_policy is None:
        return False
    return not any(
        c.type == "DisruptionTarget" and c.status == "True" for c in pod.status.conditions
    )
