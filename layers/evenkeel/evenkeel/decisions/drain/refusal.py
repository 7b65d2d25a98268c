"""What to do when a disruption budget refuses an eviction."""

from datetime import datetime

from evenkeel.decisions import writes
from evenkeel.decisions.drain.surroundings import Owner
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.pod import Pod
from evenkeel.model.workload import Job


def after_refusal(pod: Pod, owner: Owner, now: datetime) -> Decision:
    """Decide about a pod at its last moment whose eviction a budget refused.

    - the owner said ``evenkeel.dev/at-deadline: leave``: it stays, and dies with its node;
    - a Job's pod whose podFailurePolicy would count the failure gets its DisruptionTarget
      condition first, which an accepted eviction would have set;
    - else it is deleted: the node dies anyway, and only a delete gives the pod its SIGTERM.
    """
    if owner.annotation(names.AT_DEADLINE, pod).lower() == "leave":
        return Decision(
            verb=Verb.LEAVE,
            subject=pod.reference,
            workload=owner.workload,
            node=pod.spec.node_name,
            reason="AtDeadlineLeave",
            message=f"its budget refuses, and {names.AT_DEADLINE}: leave keeps it to the end",
            warning=True,
        )
    if needs_condition(pod, owner):
        return Decision(
            verb=Verb.SET_CONDITION,
            subject=pod.reference,
            workload=owner.workload,
            node=pod.spec.node_name,
            reason="JobCountsFailures",
            message="its Job's podFailurePolicy has to see a disruption, not a failure",
            write=writes.disruption_patch(pod, now),
        )
    return Decision(
        verb=Verb.DELETE,
        subject=pod.reference,
        workload=owner.workload,
        node=pod.spec.node_name,
        reason="BudgetRefusedAtLastMoment",
        message="its budget refuses, but its node dies: deleted, so that it gets its SIGTERM",
        write=writes.delete(pod),
        warning=True,
    )


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
