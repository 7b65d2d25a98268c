"""A workload whose pods are to be in several pools.

Full pools are noted on it, so that new pods rather go to others. If one pool has too many pods, one
of them goes to another pool.

Its replacement may be in no full pool, so each move makes the pods' spread more even, and moves
come to an end.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.drain import writes
from evenkeel.decisions.pools.spread import spread_of
from evenkeel.decisions.restore.moving import Moving
from evenkeel.decisions.restore.snapshot import Candidate
from evenkeel.decisions.restore.step import RestoreStep
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.pool import MOST, Pool, noted
from evenkeel.model.reasons import Reason
from evenkeel.model.release import rest_after
from evenkeel.model.template import is_by_template
from evenkeel.model.times import in_words

POOL_RESTS: Final = timedelta(minutes=10)
"""So long after a move of a workload none begins for its pools: the market may be on the move."""

MOST_TERMS: Final = 20
"""A pod whose affinity would have more terms is not moved: Karpenter tries one after the other."""


def to_avoid(candidate: Candidate) -> tuple[Pool, ...]:
    """The full pools, the fullest first, if a pod of that one is to go; else none.

    A StatefulSet's pods stay: another pool is not worth a restart.
    """
    goal = candidate.goal
    if goal is None or not isinstance(candidate.workload, Deployment):
        return ()
    spread = spread_of(candidate.pods, candidate.fleet.pools)
    full = spread.full(goal)
    return tuple(full) if full and spread.held[full[0]] > goal else ()


def note(candidate: Candidate) -> RestoreStep | None:
    """Note on a workload which pools are full, or take the note off.

    None where the note says so already, or where there is none and no pool is full. The webhook
    does not read it for pods that it does not place, and one pod goes wherever it finds room.
    """
    workload, goal = candidate.workload, candidate.goal
    there = workload.metadata.annotations.get(names.FULL_POOLS)
    if workload.namespace in names.CLUSTERS_OWN:
        return None
    is_read = candidate.standing.is_managed and not is_by_template(workload)
    full: Sequence[Pool] = ()
    if goal is not None and is_read and workload.spec.replicas > 1:
        full = spread_of(candidate.pods, candidate.fleet.pools).full(goal)
    text = noted(sorted(full[:MOST])) if full else None
    if text == there:
        return None
    if text is None:
        write = writes.take_annotation(workload, names.FULL_POOLS)
    else:
        write = writes.annotate(workload, names.FULL_POOLS, text)
    message = f"pools with {goal} of its pods: {'; '.join(map(str, full)) or 'none'}"
    decision = candidate.about(Verb.ACKNOWLEDGE, Reason.POOLS_FULL, message, write=write)
    return RestoreStep(decision=decision)


def not_now(moving: Moving) -> Decision | None:
    """Why no pod goes to another pool now.

    - more pools are full than a move can exclude: its replacement might land in one of the others,
      and moves would not come to an end;
    - one was moved a moment ago, or such moves failed: each failure doubles the rest;
    - the pools to avoid are in so many zones, or its owner's rules have so many terms, that its
      affinity would have too many.
    """
    candidate, now = moving.candidate, moving.snapshot.now
    if len(moving.avoid) > MOST:
        message = f"{len(moving.avoid)} pools are full, and a move can exclude {MOST}: none moves"
        return candidate.leave(Reason.POOL_TOO_FULL, message)
    until = _rests_until(candidate, now)
    if now < until:
        message = f"{moving.avoid[0]} has too many of its pods: none moves before {in_words(until)}"
        return candidate.wait(Reason.POOL_TOO_FULL, message, until=until)
    rules = [candidate.request(pod).rules for pod in moving.pods]
    number = max(len(moving.terms(own)) for own in rules)
    if number <= MOST_TERMS:
        return None
    zones = len({pool.zone for pool in moving.avoid})
    where = "one zone" if zones == 1 else f"{zones} zones"
    has_own = any(own.node_affinity.required is not None for own in rules)
    beside = " beside its own affinity" if has_own else ""
    message = (
        f"excluding pools in {where}{beside} takes {number} terms, and {MOST_TERMS} are the most"
    )
    return candidate.leave(Reason.POOL_TOO_FULL, message)


def _rests_until(candidate: Candidate, now: datetime) -> datetime:
    """When the next pod may go to another pool, after any move and after such ones that failed."""
    last = candidate.last_move
    cooldown = writes.cooldown_of(candidate.workload, names.POOL_COOLDOWN)
    until, rest = now, POOL_RESTS
    if cooldown is not None:
        until, rest = cooldown.until, max(POOL_RESTS, rest_after(cooldown.counts(now)))
    if last is None or last.at > now:
        return until
    return max(until, last.at + rest)
