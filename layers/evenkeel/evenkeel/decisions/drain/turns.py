"""Where a quota refuses a second pod: one pod goes, and the next one is made in its place.

The note on the ReplicaSet says that its pods go in turns (``model.refused``). A turn is an eviction
within the pod's budget. A pod counts in the quota until it is gone. By then the controller, which
has failed meanwhile, tries again after seconds only: but at once when its ReplicaSet is written to.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.decisions.drain import budgets, writes
from evenkeel.decisions.drain.break_first import turn_length
from evenkeel.decisions.drain.census import Census, MovingPod
from evenkeel.decisions.drain.refusal import tried_until
from evenkeel.decisions.drain.verdicts import PodPlan
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.reasons import Reason
from evenkeel.model.refused import MOST_TRIES, Refused
from evenkeel.model.times import is_sound

KNOWN_AFTER: Final = timedelta(seconds=2)
"""So long a quota has to refuse pods, for some nine tries of the controller, to be believed."""

TRY_AGAIN_AFTER: Final = timedelta(seconds=1)
"""How long after each try it is tried again to make a pod in the place of one that is gone."""

WHY: Final = "a quota refuses a second pod beside it"


def of_note(census: Census, handed: Sequence[MovingPod]) -> Iterator[PodPlan]:
    """Write the note: turns begin or end, a pod goes or is gone, or it is to be tried again.

    Nothing is written unless a quota refuses a pod, except to end turns. Nothing is written either
    if the Deployment has the annotation, as after ``kubectl rollout undo``: its controller would
    write it over each of Evenkeel's.
    """
    replica_set, deployment = census.replica_set, census.owner.deployment
    if replica_set is None or (replica_set.refused_by_quota is None and not census.has_room):
        return
    if deployment is not None and names.REFUSED in deployment.metadata.annotations:
        return
    last = census.refused
    new = (_next_note(census, last) if last is not None else None) or _first_note(census, handed)
    if new is not None:
        text = msgspec.json.encode(msgspec.structs.replace(new, at=census.now)).decode()
        yield PodPlan(
            census.owner.decision(
                replica_set,
                Verb.TRY_AGAIN,
                Reason.QUOTA_REFUSES,
                "the quota has room for more of its pods: they go in turns no more"
                if census.has_room
                else "a quota refuses it pods: its controller is to try when one is gone",
                write=writes.annotate(replica_set, names.REFUSED, text),
            )
        )


def dues(census: Census, handed: Sequence[MovingPod]) -> Iterator[datetime | None]:
    """When the note is to be written, or ends, though nothing else changes."""
    known_at = _known_at(census)
    if known_at is not None and _longest_wait(census, handed) is not None:
        yield known_at
    if census.noted_turns is not None:
        yield from (pod.ends_at for pod in census.going)
    if (note := census.refused) is not None:
        yield note.until
        if note.tries < MOST_TRIES:
            yield note.at + TRY_AGAIN_AFTER


def _known_at(census: Census) -> datetime | None:
    """From when on a refusal is believed; None without one."""
    failure = census.replica_set.refused_by_quota if census.replica_set is not None else None
    if failure is None:
        return None
    since = failure.last_transition_time
    return since + KNOWN_AFTER if since is not None and is_sound(since) else census.now


def _longest_wait(census: Census, handed: Sequence[MovingPod]) -> datetime | None:
    """How long evictions are tried of pods that wait for replacements on dying nodes, if any do."""
    waiting = (*(each.deadline for each in census.released), *(each.deadline for each in handed))
    until = max((tried_until(each) for each in waiting if each.forced), default=census.now)
    return until if census.now < until else None


def _first_note(census: Census, handed: Sequence[MovingPod]) -> Refused | None:
    """The first note, and that with which turns begin; None: neither.

    Both are written once a refusal is known, while pods on dying nodes wait for replacements.
    """
    until, known_at = _longest_wait(census, handed), _known_at(census)
    if census.in_turns is not None or until is None or known_at is None or census.now < known_at:
        return None
    first = Refused(at=census.now, tries=MOST_TRIES)
    if _may_begin(census):
        return msgspec.structs.replace(first, until=until, pods=census.staying)
    return first if census.refused is None else None


def _may_begin(census: Census) -> bool:
    """Whether turns are the best that can be done.

    - No replacement comes, is available or is tried: else the quota has room for some, and pods are
      handed over.
    - No rollout goes on: its new pods would take the places.
    - More than one pod is there: a single one serves to its last moment.
    """
    if census.refused is not None and census.refused.tries < MOST_TRIES:
        return False
    if census.going or census.coming or census.may_go:
        return False
    return census.owner.deployment_in_rollout is None and len(census.pods) > 1


def _next_note(census: Census, last: Refused) -> Refused | None:
    """The note after turns, after a pod was told to go, or is gone, or for another try.

    None: it holds.
    """
    if census.has_room:
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


def _seconds_of_last_turn(census: Census, note: Refused) -> float:
    """How many seconds the last turn took, from the eviction until the new pod was available."""
    ended, told_at = census.last_available_at, note.told_at
    if census.in_turns is None or told_at is None or ended is None or ended <= told_at:
        return note.took
    return (ended - told_at).total_seconds()


def of_turns(census: Census, note: Refused, movers: Sequence[MovingPod]) -> Iterator[PodPlan]:
    """What becomes of pods that wait for their turn: some go, the others wait."""
    turn = _within_quota(census, note, movers)
    for mover in movers:
        pod, is_next = mover.pod, mover.pod.uid in turn
        decision = census.owner.decision(
            pod,
            Verb.EVICT if is_next else Verb.WAIT,
            Reason.QUOTA_REFUSES,
            f"{WHY}: it goes in its turn",
            until=None if is_next else mover.stays_until,
            write=writes.evict(pod) if is_next else None,
        )
        yield PodPlan(decision, tried_until(mover.deadline), needs_fresh=is_next)


def _within_quota(census: Census, note: Refused, movers: Sequence[MovingPod]) -> Collection[str]:
    """The uids of the pods whose turn it is, by eviction deadline.

    - None while a pod that is gone has no successor, or one that was put back is not adopted: if
      another pod took the place, the rest waits for its last moment.
    - Pods that are not Ready cost nothing. One that is Ready and not available yet does serve: it
      counts, for it goes before it would be available; a new one counts once it is.
    - One Ready pod stays in any case.
    """
    wanted = min(note.pods, census.replicas)
    if not movers or len(census.owned) + len(census.going) < wanted:
        return ()
    ordered = sorted(movers, key=lambda each: (each.evict_by, each.pod.uid))
    ready = {pod.uid for pod in census.pods if pod.ready and not census.is_lost(pod)}
    whole = [each.pod.uid for each in ordered if each.pod.uid in ready]
    broken = {each.pod.uid for each in ordered} - ready
    there = len({*whole, *(pod.uid for pod in census.pods if census.is_available(pod))})
    takes = (
        _seconds_of_last_turn(census, note) or turn_length(census, ordered[0].pod).total_seconds()
    )
    most = _may_be_missing(census, len(whole), takes, ordered[-1].evict_by)
    may_go_now = min(most - max(0, wanted - there), len(ready) - 1)
    return {*broken, *whole[: max(0, may_go_now)]}


def _may_be_missing(census: Census, pods: int, takes: float, last: datetime) -> int:
    """How many of so many pods may be missing at a time, where a turn ``takes`` so many seconds.

    - the ReplicaSet's ration: its part of maxUnavailable, at least one;
    - as many as it takes for the last turn to begin by the ``last`` eviction deadline, if that is
      more and one turn is over by then.
    """
    most, left = budgets.ration(census.owner.deployment, census.size), last - census.now
    seconds = left.total_seconds()
    return max(most, int(pods * takes / seconds)) if takes < seconds else most
