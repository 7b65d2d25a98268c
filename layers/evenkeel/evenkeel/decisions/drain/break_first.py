"""Pods that take turns, and go before their replacements run: rationed, or by ordinal."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.drain import budgets, verdicts
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import EVICTION_OVERHEAD
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model.ordinal import ordinal_of
from evenkeel.model.pod import Pod
from evenkeel.model.times import span
from evenkeel.model.way import Way

TAKE_TURNS: Final = (Way.RATIONED, Way.BY_ORDINAL)


def decide(census: Census) -> Iterator[PodPlan]:
    """Evict the pods whose turn it is (see ``_within_budget``); the others wait."""
    counts, queue = census.counts, _queue(census)
    waiting, turn = {each.pod.uid for each in queue}, _within_budget(census, queue)
    message = f"its turn: {counts.missing} of {counts.spec_replicas} are missing" if turn else ""
    for mover in census.movers(*TAKE_TURNS):
        is_next = mover.pod.uid in turn
        yield PodPlan(
            verdicts.evicted(census, mover, message) if is_next else verdicts.waits(census, mover),
            mover.due(census.now, counts.next_available_at),
            needs_fresh=is_next,
            awaits_pods=mover.pod.uid in waiting,
        )


def _queue(census: Census) -> Sequence[MovingPod]:
    """The pods that go one after the other, first to go first.

    - pods whose node dies before those under a hint;
    - under a hint: none once it has expired, nor while a budget counts the workload as in
      trouble.
    """
    taking = census.movers(*TAKE_TURNS)
    held = bool(taking) and budgets.hold_now(census.budgets) is not None
    going = (
        mover
        for mover in taking
        if mover.deadline.forced or (census.now < mover.deadline.at and not held)
    )
    return sorted(going, key=_rank)


def _rank(mover: MovingPod) -> tuple[bool, datetime, int, str]:
    deadline, pod = mover.deadline, mover.pod
    return not deadline.forced, deadline.at, -(ordinal_of(pod) or 0), pod.uid


def _within_budget(census: Census, going: Sequence[MovingPod]) -> Collection[str]:
    """The uids of the pods whose turn it is, of those that take turns.

    - pods that are not available cost nothing: all of them under a ration; of a StatefulSet, whose
      ordinals are made in order, the first one alone;
    - rationed: as many available ones as maxUnavailable (at least one) leaves room for;
    - by ordinal: the first one, once all are available;
    - while the controller has pods too many: no available one. It has chosen which it deletes, and
      deletes that many also when an eviction has left it none too many.
    """
    if not going:
        return ()
    counts = census.counts
    broken = [mover.pod.uid for mover in going if not counts.is_available(mover.pod)]
    whole = [mover.pod.uid for mover in going if counts.is_available(mover.pod)]
    if broken and going[0].route.way is Way.BY_ORDINAL:
        return broken[:1]
    may_go = 0 if counts.excess else max(0, _most_missing(census, going) - counts.missing)
    return {*broken, *whole[:may_go]}


def _most_missing(census: Census, going: Sequence[MovingPod]) -> int:
    """How many pods may be missing at a time while some take turns."""
    if going[0].route.way is Way.BY_ORDINAL:
        return 1
    return budgets.ration(census.owner.deployment, census.counts.spec_replicas)


def evict_by(census: Census) -> Mapping[str, datetime]:
    """By when the available pods whose turn it is are evicted by force, by uid.

    A budget or a policy may refuse all their evictions. Were they to wait for their last moment,
    all pods that take turns would go at once. So a pod on a dying node goes so early that there is
    a turn for each that is left. One that is moved alive has until its last moment: its eviction is
    refused until it has moved.
    """
    is_available = census.counts.is_available
    dying = [
        mover
        for mover in _queue(census)
        if mover.deadline.forced and is_available(mover.pod) and not mover.pod.is_moved_alive
    ]
    turn = _within_budget(census, dying)
    if not turn:
        return {}
    later = math.ceil(len(dying) / _most_missing(census, dying)) - 1
    lead = later * turn_length(census, dying[0].pod)
    return {mover.pod.uid: mover.evict_by - lead for mover in dying if mover.pod.uid in turn}


def turn_length(census: Census, pod: Pod) -> timedelta:
    """How long a turn takes if all goes well: grace period, and the shortest time to available.

    A pod that was not Ready for a while tells a longer time than it took.
    """
    times = (
        each.ready_since - made
        for each in census.counts.owned
        if (made := each.metadata.creation_timestamp) is not None and each.ready_since is not None
    )
    start = max(timedelta(), min(times, default=timedelta()))
    return pod.grace + EVICTION_OVERHEAD + start + span(census.owner.min_ready_seconds)
