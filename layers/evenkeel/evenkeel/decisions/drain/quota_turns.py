"""Where a quota refuses a second pod: one pod goes, and the next one is made in its place.

The note on the ReplicaSet says that its pods go in turns (``model.quota_note``). A turn is an
eviction within the pod's budget. A pod counts in the quota until it is gone. By then the
controller, which has failed meanwhile, tries again after seconds only: but at once when its
ReplicaSet is written to.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.decisions.drain import turns, verdicts, writes
from evenkeel.decisions.drain.census import KNOWN_AFTER, Census
from evenkeel.decisions.drain.make_first import due_before_release, free
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.decisions.drain.refusal import tried_until
from evenkeel.decisions.drain.remedies import ROOM_IN_QUOTA
from evenkeel.model import names
from evenkeel.model.decision import Verb, Why
from evenkeel.model.quota_note import MOST_TRIES, QuotaNote
from evenkeel.model.reasons import Reason
from evenkeel.model.times import is_sound, next_due
from evenkeel.model.way import Way

TRY_AGAIN_AFTER: Final = timedelta(seconds=1)
"""How long after each try it is tried again to make a pod in the place of one that is gone."""


def decide(census: Census) -> Iterator[PodPlan]:
    """Let the pods whose turn it is go, and keep the note."""
    replica_set = census.owner.replica_set
    if replica_set is None or not replica_set.is_refused:
        return
    if (note := census.in_turns) is not None:
        yield from _of_turns(census, note)
    yield from _of_note(census)
    is_under_way = any(map(census.nodes.is_doomed, census.going))
    yield PodPlan(due=_due(census), awaits_pods=is_under_way)


def _of_turns(census: Census, note: QuotaNote) -> Iterator[PodPlan]:
    """What becomes of pods that wait for their turn: some go, the others wait."""
    movers = free(census)
    turn = _next_to_go(census, note, movers)
    yield PodPlan(due=turns.changes_at(census, movers, _takes(census, note)))
    for mover in movers:
        pod, is_next = mover.pod, mover.pod.uid in turn
        decision = census.owner.decision(
            pod,
            Verb.EVICT if is_next else Verb.WAIT,
            Reason.QUOTA_REFUSES,
            f"{verdicts.A_QUOTA_REFUSES}: it goes in its turn",
            until=None if is_next else census.stays_until(mover),
            write=writes.evict(pod) if is_next else None,
            why=Why(way=Way.RATIONED, cause=verdicts.A_QUOTA_REFUSES, remedy=ROOM_IN_QUOTA),
        )
        due = due_before_release(census, mover)
        yield PodPlan(decision, due, needs_fresh=is_next, awaits_pods=True)


def _of_note(census: Census) -> Iterator[PodPlan]:
    """Write the note: turns begin or end, a pod goes or is gone, or it is to be tried again.

    Nothing is written unless a quota refuses a pod, except to end turns. Nothing is written either
    if the Deployment has the annotation, as after ``kubectl rollout undo``: its controller would
    write it over each of Evenkeel's.
    """
    replica_set, deployment = census.owner.replica_set, census.owner.deployment
    has_room, last = census.quota_has_room, census.last_quota_note
    if replica_set is None or (replica_set.refused_by_quota is None and not has_room):
        return
    if deployment is not None and names.REFUSED in deployment.metadata.annotations:
        return
    new = (_next_note(census, last) if last is not None else None) or _first_note(census)
    if new is not None:
        text = msgspec.json.encode(msgspec.structs.replace(new, at=census.now)).decode()
        yield PodPlan(
            census.owner.decision(
                replica_set,
                Verb.TRY_AGAIN,
                Reason.QUOTA_REFUSES,
                "the quota has room for more of its pods: they go in turns no more"
                if has_room
                else "a quota refuses it pods: its controller is to try when one is gone",
                write=writes.annotate(replica_set, names.REFUSED, text),
            )
        )


def _due(census: Census) -> datetime | None:
    """When the note is to be written, or ends, though nothing else changes."""
    note = census.last_quota_note
    known_at = _known_at(census)
    is_tried = note is not None and note.tries < MOST_TRIES
    return next_due(
        census.now,
        known_at if known_at is not None and _longest_wait(census) is not None else None,
        *(pod.ends_at for pod in census.going if census.quota_note is not None),
        note.until if note is not None else None,
        note.at + TRY_AGAIN_AFTER if note is not None and is_tried else None,
    )


def _known_at(census: Census) -> datetime | None:
    """From when on a refusal is believed; None without one."""
    replica_set = census.owner.replica_set
    failure = replica_set.refused_by_quota if replica_set is not None else None
    if failure is None:
        return None
    since = failure.last_transition_time
    return since + KNOWN_AFTER if since is not None and is_sound(since) else census.now


def _longest_wait(census: Census) -> datetime | None:
    """How long evictions are tried of pods that wait for replacements on dying nodes, if any do."""
    released = (each.deadline for each in census.released)
    waiting = (*released, *(each.deadline for each in census.movers(Way.HANDOVER)))
    ends = (tried_until(each) for each in waiting if each.forced)
    until = max(ends, default=census.now)
    return until if census.now < until else None


def _first_note(census: Census) -> QuotaNote | None:
    """The first note, and that with which turns begin; None: neither.

    Both are written once a refusal is known, while pods on dying nodes wait for replacements.
    """
    until, known_at = _longest_wait(census), _known_at(census)
    if until is None or known_at is None or census.now < known_at:
        return None
    if census.in_turns is not None:
        return None
    first = QuotaNote(at=census.now, tries=MOST_TRIES)
    if _may_begin(census):
        return msgspec.structs.replace(first, until=until, pods=census.staying)
    return first if census.last_quota_note is None else None


def _may_begin(census: Census) -> bool:
    """Whether turns are the best that can be done.

    - No replacement comes, is available or is tried: else the quota has room for some, and pods are
      handed over.
    - No rollout goes on: its new pods would take the places.
    - More than one pod is there: a single one serves to its last moment.
    """
    last = census.last_quota_note
    if last is not None and last.tries < MOST_TRIES:
        return False
    if census.going or census.on_their_way or census.replaced:
        return False
    return census.owner.deployment_in_rollout is None and len(census.pods) > 1


def _next_note(census: Census, last: QuotaNote) -> QuotaNote | None:
    """The note after turns, after a pod was told to go, or is gone, or for another try.

    None: it holds.
    """
    if census.quota_has_room:
        return msgspec.structs.replace(last, until=None, pods=0)
    told = [pod.told_at for pod in census.going if pod.told_at is not None]
    going, told_at = len(told), max(told, default=last.told_at)
    if (going, told_at) != (last.going, last.told_at):
        return msgspec.structs.replace(
            last,
            going=going,
            told_at=told_at,
            took=_seconds_of_last_turn(census, last),
            tries=0 if going < last.going else MOST_TRIES,
        )
    if last.tries < MOST_TRIES and census.now >= last.at + TRY_AGAIN_AFTER:
        return msgspec.structs.replace(last, tries=last.tries + 1)
    return None


def _seconds_of_last_turn(census: Census, note: QuotaNote) -> float:
    """How many seconds the last turn took, from the eviction until the new pod was available."""
    ended, told_at = census.last_available_at, note.told_at
    if census.in_turns is None or told_at is None or ended is None or ended <= told_at:
        return note.took
    return (ended - told_at).total_seconds()


def _next_to_go(census: Census, note: QuotaNote, movers: Sequence[MovingPod]) -> Collection[str]:
    """The uids of the pods whose turn it is.

    - None while a pod that is gone has no successor, or one that was put back is not adopted: if
      another pod took the place, the rest waits for its last moment.
    - One that is Ready and not available yet does serve: it counts, for it goes before it would be
      available; a new one counts once it is.
    - One Ready pod stays in any case.
    """
    wanted = min(note.pods, census.count.replicas_to_keep)
    if not movers or len(census.owned) + len(census.going) < wanted:
        return ()
    line = sorted(movers, key=census.turn_of)
    ready = {pod.uid for pod in census.pods if pod.ready and not census.nodes.is_lost(pod)}
    leaving = {each.pod.uid for each in line} & ready
    serving = leaving | {pod.uid for pod in census.pods if census.is_available(pod)}
    missing = max(0, wanted - len(serving))
    most = turns.most_missing(census, line, _takes(census, note))
    may_go = min(most - missing, len(ready) - 1)
    return turns.next_to_go(line, lambda pod: pod.uid in ready, may_go)


def _takes(census: Census, note: QuotaNote) -> timedelta:
    """How long a turn takes: as long as the last one took, if that is known."""
    took = _seconds_of_last_turn(census, note)
    return timedelta(seconds=took) if took else turns.seen_length(census)
