"""Floors for which no on-demand node has room: relaxed, so that their pods run at all."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import Outcome, Step, about, leave
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.placement import Placed, Relaxation, is_relaxed, placed_of, relaxed_until
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


def consider(case: Case, snapshot: Snapshot, rooms: Rooms) -> Outcome | None:
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
    orphan = next((pod for pod in case.owned if _is_orphan(pod, snapshot.now)), None)
    if orphan is not None:
        return _made_anew(case, orphan)
    relaxed = is_relaxed(case.workload, snapshot.now)
    patience = ORPHANED_AFTER if relaxed else snapshot.terms.relax_after
    waiting = [pod for pod in case.owned if _waits(pod, snapshot.now, patience)]
    going = [pod for pod in waiting if rooms.take(case.request(pod, snapshot.fleet), Capacity.SPOT)]
    if going:
        return _relax(case, snapshot, going)
    until = relaxed_until(case.workload)
    if until is None:
        return _left(case, snapshot, rooms, waiting[0]) if waiting else None
    if not relaxed or not case.standing.missing:
        return _hold(case, "no pod is missing on on-demand nodes any more")
    if _has_room(case, snapshot, rooms):
        return _hold(case, "an on-demand node has room again")
    if until - snapshot.now < snapshot.terms.relaxed_for / 2:
        return _relax(case, snapshot, ())
    message = f"no on-demand node has room: its floor may be on spot until {in_words(until)}"
    return leave(case, Reason.FLOOR_RELAXED, message, verb=Verb.WAIT, until=until, warning=True)


def _is_orphan(pod: Pod, now: datetime) -> bool:
    """Whether a pod that finds no node was made for a move; the caller knows that none goes on."""
    note = _note(pod)
    is_old = _age(pod, now) >= ORPHANED_AFTER
    return note is not None and bool(note.move) and is_old and bool(pod.status.refused)


def _waits(pod: Pod, now: datetime, patience: timedelta) -> bool:
    """Whether the scheduler has found no on-demand node for a pod of the floor for long enough.

    And would find a spot node, as far as it says: its rules keep it off some nodes. It says nothing
    of rules where no node will do anyhow, as for want of a volume.
    """
    note = _note(pod)
    if note is None or not note.requires_on_demand:
        return False
    return BY_ITS_RULES in pod.status.refused and _age(pod, now) >= patience


def _note(pod: Pod) -> Placed | None:
    """What was noted on a pod that has no node yet."""
    return None if pod.spec.node_name else placed_of(pod.metadata.annotations)


def _age(pod: Pod, now: datetime) -> timedelta:
    created = pod.metadata.creation_timestamp
    return now - created if created is not None else timedelta()


def _has_room(case: Case, snapshot: Snapshot, rooms: Rooms) -> bool:
    pod = next(iter(case.owned), None)
    return pod is not None and rooms.has(case.request(pod, snapshot.fleet), Capacity.ON_DEMAND)


def _left(case: Case, snapshot: Snapshot, rooms: Rooms, pod: Pod) -> Decision:
    """Leave a pod that on spot would find no room, either."""
    short = rooms.shortage(case.request(pod, snapshot.fleet), Capacity.SPOT)
    message = f"{case.standing.told_of_waiting}, and {short.of('one of its floor')}"
    return leave(case, Reason.PODS_WAIT, message, verb=Verb.WAIT)


def _relax(case: Case, snapshot: Snapshot, waiting: Sequence[Pod]) -> Step:
    until = snapshot.now + snapshot.terms.relaxed_for
    text = msgspec.json.encode(Relaxation(until=until)).decode()
    told = f"{len(waiting)} pods of its floor wait" if waiting else "its floor has waited"
    message = f"no on-demand node has room, and {told}: they may go to spot for now"
    write = writes.annotate(case.workload, names.FLOOR_RELAXED, text)
    decision = about(
        case, Verb.RELAX, Reason.FLOOR_RELAXED, message, write=write, until=until, warning=True
    )
    deletes = [writes.delete_as_seen(pod) for pod in waiting]
    return Step(workload=case.workload.key, decision=decision, after=deletes)


def _hold(case: Case, message: str) -> Step:
    write = writes.take_annotation(case.workload, names.FLOOR_RELAXED)
    message = f"{message}: its floor holds again"
    decision = about(case, Verb.HOLD, Reason.FLOOR_HELD_AGAIN, message, write=write)
    return Step(workload=case.workload.key, decision=decision)


def _made_anew(case: Case, pod: Pod) -> Step:
    message = "the move that it was made for is over, and it finds no place: another is made"
    write = writes.delete_as_seen(pod)
    decision = about(case, Verb.DELETE, Reason.MOVE_IS_OVER, message, pod=pod, write=write)
    return Step(workload=case.workload.key, decision=decision)
