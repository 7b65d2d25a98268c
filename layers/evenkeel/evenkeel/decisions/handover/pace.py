"""Whose turn it is to be released: the order, and how many at once.

The ReplicaSet controller works ReplicaSet by ReplicaSet at its own rate. Whatever is released
at once queues single replicas behind the big Deployments, so releases come in rounds.
"""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from evenkeel.decisions import writes
from evenkeel.decisions.handover.census import Census
from evenkeel.decisions.plan import Candidate
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.release import Release, ReleaseReason
from evenkeel.model.workload import ReplicaSet

type _Rank = tuple[bool, bool, int, int, int, datetime, str]


type Waiting = tuple[Census, Sequence[Candidate]]
"""The census of a ReplicaSet, and its pods that may be released when their turn comes."""


class Turn(msgspec.Struct, frozen=True):
    """A candidate and the ReplicaSet's census that its release is decided on."""

    census: Census
    candidate: Candidate


def room(censuses: Sequence[Census], window: int) -> int:
    """How many more pods may be released, counted from the objects alone."""
    return max(0, window - sum(census.not_made_anew for census in censuses))


def turns(queues: Sequence[Waiting], room_left: int) -> Sequence[Turn]:
    """The candidates whose turn it is, first to go first, at most ``room_left``.

    - those on nodes that die before those under a mere hint;
    - then one pod of every workload that would otherwise reach zero;
    - then by priority;
    - then in rounds of 2, 4, 8 ... per workload;
    - then fewest ready replicas off doomed nodes; earliest deadline; uid.
    """
    ranked = heapq.merge(*(_ranked(census, candidates) for census, candidates in queues))
    return [turn for _, turn in itertools.islice(ranked, room_left)]


def _ranked(census: Census, candidates: Sequence[Candidate]) -> Iterator[tuple[_Rank, Turn]]:
    placed = len(census.off_doomed)
    ahead = len(census.released) + placed
    ready = census.ready_off_doomed
    ordered = sorted(candidates, key=_within_workload)
    for position, candidate in enumerate(ordered):
        would_reach_zero = ahead + position == 0
        pod = candidate.pod
        rank = (
            not candidate.deadline.forced,
            not would_reach_zero,
            -pod.spec.priority,
            (1 + ahead + position).bit_length() - 1,
            ready,
            candidate.deadline.at,
            pod.uid,
        )
        yield rank, Turn(census, candidate)


def _within_workload(candidate: Candidate) -> tuple[bool, int, datetime, str]:
    """The order within one workload: the same keys as far as its pods can differ in them."""
    pod = candidate.pod
    return not candidate.deadline.forced, -pod.spec.priority, candidate.deadline.at, pod.uid


def release(turn: Turn, replica_set: ReplicaSet) -> Decision:
    """The decision that releases a pod whose turn it is."""
    census, candidate = turn.census, turn.candidate
    pod = candidate.pod
    hint = not candidate.deadline.forced
    value = Release(
        reason=ReleaseReason.REBALANCE if hint else ReleaseReason.INTERRUPTION,
        deadline=candidate.deadline.at,
        since=census.now,
        wanted=census.worth_keeping,
        controller=replica_set.name,
        controller_uid=replica_set.uid,
        do_not_disrupt=pod.metadata.annotations.get(names.DO_NOT_DISRUPT),
    )
    return Decision(
        verb=Verb.RELEASE,
        subject=pod.reference,
        workload=census.owner.workload,
        node=pod.spec.node_name,
        reason="NodeDoomed",
        message=f"{replica_set.name} makes its replacement while it goes on serving; "
        f"{value.wanted} are to stay available",
        until=candidate.deadline.at,
        write=writes.release_patch(pod, value),
    )
