"""Floors for which no on-demand node has room: relaxed, so that their pods run at all."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import Outcome, Step, about, leave
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.decisions.room.rules import NodeRequest
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Verb
from evenkeel.model.placement import Placed, Relaxation, is_relaxed, placed_of, relaxed_until
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

ORPHANED_AFTER: Final = timedelta(seconds=30)
"""A pod of this age that was made for a move was read together with the pod that is moved, and the
scheduler has found a place for it if there is one."""


def consider(case: Case, snapshot: Snapshot, rooms: Rooms) -> Outcome | None:
    """Decide about pods that wait for an on-demand node, and about relaxed floors; None without.

    - a pod that was made for a move which is over, and finds no place, is deleted: it may go to one
      capacity type only, and no move is left to roll back. Its controller makes an ordinary one;
    - a pod of the floor, which requires on-demand, has waited for long enough: the floor is relaxed
      for a while, and the pod deleted, so that the next may go to spot. So is one that was made in
      the moment before, when the webhook did not know yet;
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
    if waiting:
        return _relax(case, snapshot, waiting)
    until = relaxed_until(case.workload)
    if until is None:
        return None
    if not relaxed or not case.standing.missing:
        return _hold(case, "no pod is missing on on-demand nodes any more")
    if _has_room(case, rooms):
        return _hold(case, "an on-demand node has room again")
    if until - snapshot.now < snapshot.terms.relaxed_for / 2:
        return _relax(case, snapshot, ())
    message = f"no on-demand node has room: its floor may be on spot until {in_words(until)}"
    return leave(case, Reason.FLOOR_RELAXED, message, verb=Verb.WAIT, until=until, warning=True)


def _is_orphan(pod: Pod, now: datetime) -> bool:
    """Whether a pod without a node was made for a move; the caller knows that none is under way."""
    note = _note(pod)
    return note is not None and bool(note.move) and _age(pod, now) >= ORPHANED_AFTER


def _waits(pod: Pod, now: datetime, patience: timedelta) -> bool:
    """Whether the scheduler has found no on-demand node for a pod of the floor for long enough."""
    note = _note(pod)
    if note is None or note.as_ is not Capacity.ON_DEMAND or note.preferred:
        return False
    refused = any(
        condition.type == "PodScheduled" and condition.status == "False"
        for condition in pod.status.conditions
    )
    return refused and _age(pod, now) >= patience


def _note(pod: Pod) -> Placed | None:
    """What was noted on a pod that has no node yet."""
    return None if pod.spec.node_name else placed_of(pod.metadata.annotations)


def _age(pod: Pod, now: datetime) -> timedelta:
    created = pod.metadata.creation_timestamp
    return now - created if created is not None else timedelta()


def _has_room(case: Case, rooms: Rooms) -> bool:
    pod = next(iter(case.owned), None)
    if pod is None:
        return False
    request = NodeRequest(resources=pod.requests, rules=case.workload.spec.template.spec)
    return rooms.has(request, Capacity.ON_DEMAND)


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
