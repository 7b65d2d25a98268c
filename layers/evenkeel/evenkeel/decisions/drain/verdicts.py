"""What can become of a pod of a workload: each verdict with its reason, words, and write."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.movers import MovingPod, ReleasedPod
from evenkeel.decisions.drain.pod_plan import Candidate
from evenkeel.decisions.drain.remedies import (
    LOOSER_RULES,
    MORE_TIME,
    ROOM,
    STARTS,
    for_place,
)
from evenkeel.model import names
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.decision import Decision, Verb, Why
from evenkeel.model.node import Node, seat_taint
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import LONGEST_RELEASE, Cooldown
from evenkeel.model.request import Create
from evenkeel.model.seat import new_seat
from evenkeel.model.way import Way

RAN_BEFORE: Final = "its replacement ran before it went"
GETS_KNOWN: Final = "its replacement is Ready, and gets known to what sends it requests"
A_QUOTA_REFUSES: Final = "a quota refuses a second pod beside it"


def in_numbers(census: Census) -> str:
    """How many pods of a ReplicaSet are available, and how many have to be, in words."""
    return f"{census.count.available} available, {census.count.wanted} wanted"


def resting(census: Census, key: str = names.COOLDOWN) -> Cooldown | None:
    """The cooldown of the Deployment if there is one, else of the ReplicaSet, while it lasts."""
    top = census.owner.deployment or census.owner.replica_set
    cooldown = writes.cooldown_of(top, key) if top is not None else None
    return cooldown if cooldown is not None and census.now < cooldown.until else None


def not_moved(census: Census, mover: MovingPod) -> Decision:
    """A pod that Evenkeel does not move, for the reason that its route names."""
    route = mover.route
    return census.owner.decision(
        mover.pod,
        Verb.LEAVE,
        route.reason,
        route.message,
        until=route.until,
        warning=route.warning,
        why=route.why,
    )


def waits(census: Census, mover: MovingPod) -> Decision:
    """A pod that waits for its turn, or for its last moment, as its route says."""
    route = mover.route
    return census.owner.decision(
        mover.pod,
        Verb.WAIT,
        route.reason,
        route.message,
        until=census.stays_until(mover),
        why=route.why,
    )


def seated(census: Census, mover: MovingPod) -> Decision:
    """A pod whose next one gets a seat while it still serves."""
    pod, zone = mover.pod, census.nodes.zones.get(mover.pod.spec.node_name, "")
    return census.owner.decision(
        pod,
        Verb.SEAT,
        Reason.SEAT_WANTED,
        "a seat keeps room for the next pod in its place",
        write=Create(new_seat(pod, pod.origin_key, zone)),
    )


def let_in(census: Census, pod: Pod, node: Node, seat: str) -> Decision:
    """A new pod gets the toleration of what keeps others off the node of its seat.

    ``seat``: the uid of the pod in whose place it comes.
    """
    taint = seat_taint(node.uid)
    return census.owner.decision(
        pod,
        Verb.LET_IN,
        Reason.SEAT_TAKEN,
        f"its seat on {node.name} is its own",
        write=writes.take_seat(pod, taint, seat),
    )


def awaits_seat(census: Census, mover: MovingPod) -> Decision:
    """A pod that serves until the seat for its next one is ready."""
    route = mover.route
    return census.owner.decision(
        mover.pod,
        Verb.WAIT,
        Reason.SEAT_PENDING,
        f"{route.cause}: it goes once there is a place for its next pod",
        until=census.stays_until(mover),
        why=route.why,
    )


def evicted(census: Census, mover: MovingPod, message: str) -> Decision:
    """A pod that goes now, before its replacement runs."""
    route = mover.route
    return _goes(census, mover.pod, route.reason, message, route.why, warning=route.warning)


def _goes(
    census: Census, pod: Pod, reason: Reason, message: str, why: Why, *, warning: bool = False
) -> Decision:
    """A pod that is evicted now, within its budget."""
    write = writes.evict(pod)
    return census.owner.decision(
        pod, Verb.EVICT, reason, message, warning=warning, write=write, why=why
    )


def deleted(
    census: Census, pod: Pod, reason: Reason, message: str, why: Why | None = None
) -> Decision:
    """A pod that goes at once, past budgets."""
    write = writes.delete(pod)
    return census.owner.decision(pod, Verb.DELETE, reason, message, write=write, why=why)


def lost(census: Census, pod: Pod) -> Decision:
    """A released pod whose node is gone.

    The API calls it ready until the pod garbage collector finds it. Were it put back, its
    ReplicaSet would have one too many, and might take a living one away.
    """
    why = handed_over("its node was gone before its replacement ran", MORE_TIME)
    return deleted(census, pod, Reason.NODE_GONE, "its node is gone: deleted at once", why)


def replaced(census: Census, item: ReleasedPod) -> Decision:
    """A released pod whose replacement is available."""
    message, why = f"{in_numbers(census)}: it can go", handed_over(RAN_BEFORE)
    return _goes(census, item.pod, Reason.REPLACEMENT_AVAILABLE, message, why)


def settles(census: Census, item: ReleasedPod, until: datetime) -> Decision:
    """A released pod whose replacement is available, and not known to all that send requests."""
    return wait(census, item.pod, Reason.REPLACEMENT_SETTLES, until, GETS_KNOWN)


def crashed(census: Census, pod: Pod) -> Decision:
    """A replacement that crashes beside a pod that goes now, and that may hold a lock.

    It is deleted, because it would rest for up to five minutes before it tries again. The next one
    starts as it would have after a plain eviction.
    """
    message = (
        "it crashes beside a pod that goes now: deleted, so that another starts without a back-off"
    )
    return deleted(census, pod, Reason.CRASHED_BESIDE, message)


def none_beside(lacks: str) -> str:
    """No second pod comes beside the first, in words. ``lacks``: why it has no node."""
    return f"no place for a second pod beside it: {lacks}"


def makes_room(census: Census, item: ReleasedPod) -> Decision:
    """A released pod goes in its turn, because no replacement comes while it is there."""
    why = handed_over(none_beside(census.lacks_place_beside(item.pod)), LOOSER_RULES)
    return _goes(census, item.pod, Reason.NO_PLACE, f"{why.cause}: it goes in its turn", why)


def roll_back(
    census: Census,
    item: ReleasedPod,
    reason: Reason,
    message: str,
    notes: Mapping[str, str] | None = None,
) -> Decision:
    """A released pod that goes back to its ReplicaSet, and gets these annotations."""
    return census.owner.decision(
        item.pod,
        Verb.ROLL_BACK,
        reason,
        f"{message}: back to its owner",
        write=writes.roll_back_patch(item.pod, item.release, notes),
        warning=True,
    )


def unreadable(census: Census, pod: Pod) -> Decision:
    """A released pod goes back whose annotation was spoilt: nobody could say when it may go.

    So does one of which a policy took back a part of the release.
    """
    in_part = pod.is_released_in_part
    why = "a part of its release was undone" if in_part else "its annotation cannot be read"
    return census.owner.decision(
        pod,
        Verb.ROLL_BACK,
        Reason.RELEASE_REFUSED if in_part else Reason.UNREADABLE_RELEASE,
        f"{why}: back to its owner",
        write=writes.roll_back_patch(
            pod, pod.release if in_part else None, replica_set=_last_of(census, pod)
        ),
        warning=True,
    )


def _last_of(census: Census, pod: Pod) -> Controller | None:
    """The ReplicaSet of these pods, if its hash is the one that a released pod had."""
    replica_set = census.owner.replica_set
    if replica_set is None:
        return None
    return replica_set if replica_set.template_hash == pod.template_hash else None


def cool_down(census: Census, key: str) -> Sequence[Decision]:
    """The cooldown of a workload whose voluntary handover was given up, unless it rests already.

    ``key``: the annotation that says so.
    """
    top = census.owner.deployment or census.owner.replica_set
    if top is None or resting(census, key) is not None:
        return ()
    return (
        census.owner.decision(
            top,
            Verb.COOL_DOWN,
            Reason.HANDOVER_ROLLED_BACK,
            "its voluntary handover was rolled back: the next one waits for the cooldown",
            write=writes.cooldown_patch(top, census.now, key),
        ),
    )


def wait(
    census: Census, pod: Pod, reason: Reason, until: datetime, cause: str, remedy: str = ""
) -> Decision:
    """A pod of a handover that stays for now, at most until then."""
    why, numbers = handed_over(cause, remedy), in_numbers(census)
    return census.owner.decision(pod, Verb.WAIT, reason, numbers, until=until, why=why)


def not_replaced(census: Census, item: ReleasedPod) -> Decision:
    """A released pod whose replacement is not available yet, does not start, or has no place."""
    pod, until, lacks = item.pod, census.stays_until(item), census.lacks_place
    if not lacks:
        failing = (each.status.start_failure for each in census.unavailable_owned)
        if failure := next(filter(None, failing), ""):
            cause = f"its replacement does not start: {failure}"
            return wait(census, pod, Reason.REPLACEMENT_FAILS, until, cause, STARTS)
        cause = "its replacement was not available in time"
        return wait(census, pod, Reason.REPLACEMENT_PENDING, until, cause, ROOM)
    why = handed_over(f"no place for its replacement: {lacks}", for_place(lacks))
    return census.owner.decision(pod, Verb.WAIT, Reason.NO_PLACE, why.cause, until=until, why=why)


def handed_over(cause: str, remedy: str = "") -> Why:
    """What is said of a pod on its way of a handover."""
    return Why(way=Way.HANDOVER, cause=cause, remedy=remedy)


def candidate(census: Census, mover: MovingPod) -> Candidate:
    """A pod that may be released; no release is made that would not be believed."""
    latest = census.now + LONGEST_RELEASE
    at = min(mover.deadline.at, latest)
    return Candidate(mover.pod, msgspec.structs.replace(mover.deadline, at=at))
