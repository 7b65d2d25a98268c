"""Which pods are released next: the order, and how many at once.

The ReplicaSet controller works ReplicaSet by ReplicaSet at its own rate. Were all pods released
at once, single replicas would queue behind the big Deployments, so releases come in rounds.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from operator import itemgetter

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.pod_plan import Candidate
from evenkeel.model import names
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import OwnerReference
from evenkeel.model.notice import NoticeKind
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import Release, ReleaseReason

type MayGo = Callable[[Pod], bool]
"""Whether a pod may be released now, as far as it alone is concerned."""

type _Rank = tuple[bool, bool, int, int, int, datetime, str, str]


class Waiting(msgspec.Struct, frozen=True):
    """A pod that waits for its release, and the census that this is decided on."""

    replica_set: Controller
    deployment: OwnerReference
    census: Census
    candidate: Candidate


class Ranking(msgspec.Struct, frozen=True):
    """The pods of one ReplicaSet that may be released, ranked, first to go first.

    ``saves_from_zero``: no pod of the workload is ready off doomed nodes, and none is released yet.
    """

    waiting: Sequence[tuple[_Rank, Waiting]]
    saves_from_zero: bool


WIDEST = 4
"""The window grows up to this many times its setting."""

LARGEST_ROUND = 4
"""So many pods of a workload are released in a round at most; a power of two."""

AHEAD = 20.0
"""Seconds of the ReplicaSet controller's work that may wait for it.

It takes ReplicaSet by ReplicaSet, each with all that it lacks, and updates the status of each: the
longer its queue, the more it makes, and the longer a new release waits.
"""


def _anybody(_: Pod) -> bool:
    return True


def window(setting: int, made_per_second: float, *, zeros_wait: bool) -> int:
    """How many replacements may be pending at a time.

    As many as set, while a workload waits that would otherwise reach zero: it must not queue
    behind the others. After that more, in proportion to the rate seen.
    """
    if zeros_wait:
        return setting
    return round(min(max(setting, AHEAD * made_per_second), WIDEST * setting))


def would_reach_zero(rankings: Iterable[Ranking], may_go: MayGo = _anybody) -> bool:
    """Whether some workload has no ready pod off doomed nodes, and no release yet."""
    return any(
        ranking.saves_from_zero and any(may_go(each.candidate.pod) for _, each in ranking.waiting)
        for ranking in rankings
    )


def only(ranking: Ranking, may_go: MayGo) -> Ranking:
    """A ranking of those pods that may go, in the same order."""
    waiting = [each for each in ranking.waiting if may_go(each[1].candidate.pod)]
    return msgspec.structs.replace(ranking, waiting=waiting)


def only_from_zero(rankings: Iterable[Ranking]) -> Sequence[Ranking]:
    """The first pod of each workload that would reach zero, and no others."""
    return [
        msgspec.structs.replace(ranking, waiting=ranking.waiting[:1])
        for ranking in rankings
        if ranking.saves_from_zero
    ]


def next_released(
    rankings: Iterable[Ranking], room: int, may_go: MayGo = _anybody
) -> Iterator[Waiting]:
    """The pods that are released next, first to go first, at most ``room``.

    - pods on nodes that die before those under a hint;
    - then one pod of every workload that would otherwise reach zero;
    - then by priority;
    - then in rounds of 2, 4, 4 ... per workload;
    - then fewest ready replicas off doomed nodes; earliest deadline;
    - and of those alike a round of one ReplicaSet at a time: with few pods to make per ReplicaSet
      its controller would spend half its writes on status updates.
    """
    ranked = heapq.merge(*(ranking.waiting for ranking in rankings), key=itemgetter(0))
    going = (each for _, each in ranked if may_go(each.candidate.pod))
    return itertools.islice(going, room)


def rank(census: Census, candidates: Sequence[Candidate]) -> Ranking:
    """Rank the candidates of one ReplicaSet."""
    is_zero = not census.released and census.ready_off_doomed == 0
    return Ranking(
        waiting=list(_ranked(census, candidates, is_zero=is_zero)),
        saves_from_zero=is_zero and any(each.deadline.forced for each in candidates),
    )


def waiting_of(census: Census, candidate: Candidate) -> Waiting | None:
    """A pod that waits for its release; None where no Deployment could have it meanwhile."""
    replica_set = census.owner.replica_set
    deployment = replica_set.deployment if replica_set is not None else None
    if replica_set is None or deployment is None:
        return None
    return Waiting(replica_set, deployment, census, candidate)


def _ranked(
    census: Census, candidates: Sequence[Candidate], *, is_zero: bool
) -> Iterator[tuple[_Rank, Waiting]]:
    placed = sum(not census.nodes.is_doomed(pod) for pod in census.owned)
    ahead = census.pending_replacements + placed
    ready = census.ready_off_doomed
    for position, candidate in enumerate(sorted(candidates, key=_within_workload)):
        each = waiting_of(census, candidate)
        if each is None:
            return
        is_first_of_zero = is_zero and position == 0
        pod = candidate.pod
        rank = (
            not candidate.deadline.forced,
            not is_first_of_zero,
            -pod.spec.priority,
            _round_of(ahead + position),
            ready,
            candidate.deadline.at,
            each.replica_set.uid,
            pod.uid,
        )
        yield rank, each


def _round_of(earlier: int) -> int:
    """The round of the next pod of a workload of which so many have their place, or will soon.

    One, two, four, and on in fours: were they to double on, some workloads would have sixteen
    replacements more than others when the time is up.
    """
    doubled = 2 * LARGEST_ROUND - 1
    if earlier < doubled:
        return (1 + earlier).bit_length() - 1
    return LARGEST_ROUND.bit_length() + (earlier - doubled) // LARGEST_ROUND


def _within_workload(candidate: Candidate) -> tuple[bool, int, datetime, str]:
    """The order within one workload: the same keys as far as its pods can differ in them."""
    pod = candidate.pod
    return not candidate.deadline.forced, -pod.spec.priority, candidate.deadline.at, pod.uid


def release(
    waiting: Waiting,
    now: datetime,
    reason: ReleaseReason | None = None,
    *,
    why: Reason = Reason.NODE_DOOMED,
    asked_by: str = "",
) -> Decision:
    """The decision that releases a pod whose turn it is, which may be long after its census.

    ``reason`` None: its node's notice. ``asked_by``: who asked for its eviction.
    """
    replica_set, census, candidate = waiting.replica_set, waiting.census, waiting.candidate
    pod = candidate.pod
    value = Release(
        reason=reason or _reason(waiting),
        asked_by=asked_by,
        deadline=candidate.deadline.at,
        since=now,
        wanted=census.count.next_promise,
        controller=replica_set.name,
        controller_uid=replica_set.uid,
        do_not_disrupt=pod.metadata.annotations.get(names.DO_NOT_DISRUPT),
    )
    asks = f"{asked_by} asks to evict it: " if asked_by else ""
    return Decision.about(
        pod,
        Verb.RELEASE,
        why,
        f"{asks}{replica_set.name} makes its replacement while it goes on serving; "
        f"{value.wanted} are to stay available",
        workload=census.owner.workload,
        until=candidate.deadline.at,
        write=writes.release_patch(pod, value, waiting.deployment),
    )


def _reason(waiting: Waiting) -> ReleaseReason:
    """What the notice of the pod's node says."""
    if waiting.candidate.deadline.forced:
        return ReleaseReason.INTERRUPTION
    notice = waiting.census.nodes.dooms.get(waiting.candidate.pod.spec.node_name)
    is_drain = notice is not None and notice.kind is NoticeKind.DRAIN
    return ReleaseReason.DRAIN if is_drain else ReleaseReason.REBALANCE
