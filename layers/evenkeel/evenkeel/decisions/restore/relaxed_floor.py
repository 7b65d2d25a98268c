"""Floors for which no on-demand node has room: relaxed, so that their pods run at all."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.drain import writes
from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
from evenkeel.decisions.restore.step import RestoreStep, StepOrDecision
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Verb
from evenkeel.model.placement import OF_ITS_FLOOR, Placed, Relaxation, is_relaxed
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

BY_ITS_RULES: Final = "node affinity"
"""What the scheduler's message has where rules keep a pod off a node, as a floor's do off spot.
https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/scheduler/framework/plugins/nodeaffinity
"""

ORPHANED_AFTER: Final = timedelta(seconds=30)
"""A pod of this age that was made for a move was read together with the pod that is moved, and the
scheduler has found a place for it if there is one."""


def consider(candidate: Candidate, snapshot: Snapshot, rooms: Rooms) -> StepOrDecision | None:
    """Decide about pods that wait for an on-demand node, and about relaxed floors; None without.

    - a pod that was made for a move which is over, and finds no place, is deleted: it may go to one
      capacity type only, and no move is left to roll back. Its controller makes an ordinary one;
    - a pod of a floor that somebody asked for has waited for long enough, and a spot node has room
      for it: the floor is relaxed for a while, and the pod deleted, so that the next may go to
      spot. So is one that was made in the moment before, when the webhook did not know yet;
    - what waits for something else, or has no room on spot, either, is left;
    - the floor is relaxed, and no pod is missing on on-demand nodes, or one of them has room: it
      is held again;
    - it is relaxed and the time is nearly over: it is extended.
    """
    now, workload = snapshot.now, candidate.workload
    unplaced = [pod for pod in candidate.owned if not pod.spec.node_name]
    for pod in unplaced:
        note = Placed.of(pod)
        was_moved = note is not None and note.move != ""  # and no move goes on: it is not busy
        if was_moved and _age(pod, now) >= ORPHANED_AFTER and pod.status.refused:
            message = "the move that it was made for is over, and it finds no place"
            decision = candidate.about(
                Verb.DELETE,
                Reason.MOVE_IS_OVER,
                f"{message}: another is made",
                pod=pod,
                write=writes.delete_as_seen(pod),
            )
            return RestoreStep(decision=decision)
    relaxed = is_relaxed(workload, now)
    patience = ORPHANED_AFTER if relaxed else snapshot.terms.relax_after
    waiting = [pod for pod in unplaced if _waits(pod, now, patience)]
    going = [pod for pod in waiting if rooms.take(candidate.request(pod), Capacity.SPOT)]
    if going:
        return _relax(candidate, snapshot, going, _lacks(candidate, rooms, going))
    relaxation = Relaxation.of(workload)
    if relaxation is None:
        if not waiting:
            return None
        short = rooms.shortage(candidate.request(waiting[0]), Capacity.SPOT)
        message = f"{candidate.standing.told_of_waiting}, and {short.of('one of its floor')}"
        return candidate.wait(Reason.PODS_WAIT, message)
    if not relaxed or not candidate.standing.missing:
        return _hold(candidate, "no pod is missing on on-demand nodes any more")
    owned = candidate.owned
    if owned and rooms.has(candidate.request(owned[0]), Capacity.ON_DEMAND):
        return _hold(candidate, "an on-demand node has room again")
    until, lacks = relaxation.until, _lacks(candidate, rooms, owned)
    if until - now < snapshot.terms.relaxed_for / 2:
        return _relax(candidate, snapshot, (), lacks)
    message = f"{lacks}: its floor may be on spot until {in_words(until)}"
    return candidate.wait(Reason.FLOOR_RELAXED, message, until=until, warning=True)


def _waits(pod: Pod, now: datetime, patience: timedelta) -> bool:
    """Whether the scheduler has found no on-demand node for a pod of the floor for long enough.

    And would find a spot node, as far as it says: its rules keep it off some nodes, or the extender
    does. It says nothing of rules where no node will do anyhow, as for want of a volume.
    """
    note, refused = Placed.of(pod), pod.status.refused
    by_its_rules = note is not None and note.requires_on_demand and BY_ITS_RULES in refused
    return (by_its_rules or OF_ITS_FLOOR in refused) and _age(pod, now) >= patience


def _age(pod: Pod, now: datetime) -> timedelta:
    created = pod.metadata.creation_timestamp
    return now - created if created is not None else timedelta()


def _lacks(candidate: Candidate, rooms: Rooms, pods: Sequence[Pod]) -> str:
    """Why no on-demand node takes the first of these pods: that there is no room, or its rules."""
    if not pods:
        return "no on-demand node has room"
    short = rooms.shortage(candidate.request(pods[0]), Capacity.ON_DEMAND)
    return short.of("one of its floor")


def _relax(
    candidate: Candidate, snapshot: Snapshot, waiting: Sequence[Pod], lacks: str
) -> RestoreStep:
    until = snapshot.now + snapshot.terms.relaxed_for
    text = Relaxation(until=until).encode()
    told = f"{len(waiting)} pods of its floor wait" if waiting else "its floor has waited"
    message = f"{lacks}, and {told}: they may go to spot for now"
    write = writes.annotate(candidate.workload, names.FLOOR_RELAXED, text)
    decision = candidate.about(
        Verb.RELAX, Reason.FLOOR_RELAXED, message, write=write, until=until, warning=True
    )
    deletes = [writes.delete_as_seen(pod) for pod in waiting]
    return RestoreStep(decision=decision, after=deletes)


def _hold(candidate: Candidate, message: str) -> RestoreStep:
    write = writes.take_annotation(candidate.workload, names.FLOOR_RELAXED)
    message = f"{message}: its floor holds again"
    decision = candidate.about(Verb.HOLD, Reason.FLOOR_HELD_AGAIN, message, write=write)
    return RestoreStep(decision=decision)
