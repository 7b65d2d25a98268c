"""Pods that ask when their node ends: a training job has until then for its checkpoint."""

from collections.abc import Iterator

from evenkeel.decisions.drain import writes
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words


def decide(census: Census) -> Iterator[PodPlan]:
    """Tell each that asks, by its annotation and then by its condition DisruptionTarget.

    The annotation comes first, for its container may read it. By the condition a Job's
    podFailurePolicy tells one that ends by itself after its checkpoint from one that fails. The
    disruption controller takes a condition back that nothing came of: it is not set again.
    """
    for each in census.leaving:
        pod, deadline = each.pod, each.deadline
        told = pod.metadata.annotations.get(names.NODE_ENDS_AT)
        if told is None or not deadline.forced:
            continue
        at = in_words(deadline.at)
        if told != at:
            write = writes.annotate(pod, names.NODE_ENDS_AT, at)
            message = f"its node ends at {at}: told by {names.NODE_ENDS_AT}"
            decision = census.owner.decision(
                pod, Verb.TELL, Reason.NODE_END_TOLD, message, write=write
            )
        elif pod.status.condition(names.DISRUPTION_TARGET) is None:
            decision = census.owner.decision(
                pod,
                Verb.SET_CONDITION,
                Reason.NODE_END_TOLD,
                "its node ends: told by the condition DisruptionTarget",
                write=writes.disruption_patch(pod, census.now),
            )
        else:
            continue
        yield PodPlan(decision)
