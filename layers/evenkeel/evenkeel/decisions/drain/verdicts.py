"""What can become of a pod of a ReplicaSet: each verdict with its reason, words, and write."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.drain.census import Census, ReleasedPod
from evenkeel.decisions.drain.deadlines import Deadline
from evenkeel.decisions.drain.plan import Candidate
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import LONGEST_RELEASE, Cooldown
from evenkeel.model.workload import ReplicaSet


def counts(census: Census) -> str:
    """How many pods of a ReplicaSet are available, and how many have to be, in words."""
    there = census.available_owned + census.available_released
    return f"{there} available, {census.wanted} wanted"


def cooldown_of(census: Census) -> Cooldown | None:
    """The cooldown of the Deployment if there is one, else of the ReplicaSet."""
    top = census.owner.deployment or census.replica_set
    return writes.cooldown_of(top) if top is not None else None


def lost(census: Census, pod: Pod) -> Decision:
    """A released pod whose node is gone.

    The API calls it ready until the pod garbage collector finds it. Were it put back, its
    ReplicaSet would have one too many, and might take a living one away.
    """
    message = "its node is gone: deleted at once"
    return Decision.about(
        pod,
        Verb.DELETE,
        Reason.NODE_GONE,
        message,
        workload=census.owner.workload,
        write=writes.delete(pod),
    )


def replaced(census: Census, item: ReleasedPod) -> Decision:
    """A released pod whose replacement is available: it holds while the watch is fresh."""
    return Decision.about(
        item.pod,
        Verb.EVICT,
        Reason.REPLACEMENT_AVAILABLE,
        f"{counts(census)}: it can go",
        workload=census.owner.workload,
        write=writes.evict(item.pod),
    )


def roll_back(
    census: Census,
    item: ReleasedPod,
    reason: Reason,
    message: str,
    notes: Mapping[str, str] | None = None,
) -> Decision:
    """A released pod that goes back to its ReplicaSet, and gets these annotations."""
    return Decision.about(
        item.pod,
        Verb.ROLL_BACK,
        reason,
        message,
        workload=census.owner.workload,
        write=writes.roll_back_patch(item.pod, item.release, notes),
        warning=True,
    )


def cool_down(census: Census, replica_set: ReplicaSet) -> Sequence[Decision]:
    """The cooldown of a workload whose voluntary handover was given up, unless it rests already."""
    top = census.owner.deployment or replica_set
    cooldown = cooldown_of(census)
    if cooldown is not None and census.now < cooldown.until:
        return ()
    return (
        Decision.about(
            top,
            Verb.COOL_DOWN,
            Reason.HANDOVER_ROLLED_BACK,
            "its voluntary handover was rolled back: the next one waits for the cooldown",
            workload=top.reference,
            write=writes.cooldown_patch(top, census.now),
        ),
    )


def wait(census: Census, pod: Pod, reason: Reason, until: datetime) -> Decision:
    """A pod that stays for now, at most until then."""
    return Decision.about(
        pod, Verb.WAIT, reason, counts(census), workload=census.owner.workload, until=until
    )


def candidate(census: Census, pod: Pod, deadline: Deadline) -> Candidate:
    """A pod that may be released; no release is made that would not be believed."""
    latest = census.now + LONGEST_RELEASE
    return Candidate(pod, msgspec.structs.replace(deadline, at=min(deadline.at, latest)))
