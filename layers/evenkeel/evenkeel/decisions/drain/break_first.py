"""Pods that take turns, and go before their replacements run: rationed, or by ordinal."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from evenkeel.decisions.drain import budgets, seats, turns, verdicts
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import A_FEW_SECONDS
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model.ordinal import ordinal_of
from evenkeel.model.way import Way

TAKE_TURNS: Final = (Way.RATIONED, Way.BY_ORDINAL)


def decide(census: Census) -> Iterator[PodPlan]:
    """Evict the pods whose turn it is (see ``_next_to_go``); the others wait."""
    count, unplaced = census.count, seats.awaited(census)
    line = sorted(_line(census), key=lambda each: each.pod.uid in unplaced)
    awaited = _awaited(census, line)
    waiting, turn = {each.pod.uid for each in line}, _next_to_go(census, line, awaited)
    if awaited:
        yield PodPlan(due=seats.turns_begin_by(census, line))
    yield PodPlan(due=turns.changes_at(census, line, turns.seen_length(census)))
    message = f"its turn: {count.missing} of {count.spec_replicas} are missing" if turn else ""
    for mover in census.movers(*TAKE_TURNS):
        is_next = mover.pod.uid in turn
        waits = verdicts.awaits_seat if mover.pod.uid in awaited else verdicts.waits
        yield PodPlan(
            verdicts.evicted(census, mover, message) if is_next else waits(census, mover),
            mover.due(census.now, census.next_available_at),
            needs_fresh=is_next,
            awaits_pods=mover.pod.uid in waiting,
        )


def _awaited(census: Census, line: Sequence[MovingPod]) -> Collection[str]:
    """The uids of the pods that wait for their seats; none once turns have to begin."""
    return seats.awaited(census) if census.now < seats.turns_begin_by(census, line) else ()


def _line(census: Census) -> Sequence[MovingPod]:
    """The pods that go one after the other, first to go first.

    Under a hint none once it has expired, nor while a budget counts the workload as in trouble.
    """
    taking = census.movers(*TAKE_TURNS)
    held = bool(taking) and budgets.hold_now(census.budgets) is not None
    going = (
        mover
        for mover in taking
        if mover.deadline.forced or (census.now < mover.deadline.at and not held)
    )
    return sorted(going, key=census.turn_of)


def _next_to_go(
    census: Census, line: Sequence[MovingPod], awaited: Collection[str] = ()
) -> Collection[str]:
    """The uids of the pods of this line whose turn it is; not those whose seats are ``awaited``."""
    if not line:
        return ()
    may_go = turns.may_go(census, line)
    if census.owner.makes_in_order:
        line = _next_in_order(census, line)
    seated = [each for each in line if each.pod.uid not in awaited]
    return turns.next_to_go(seated, census.is_available, may_go)


def _next_in_order(census: Census, line: Sequence[MovingPod]) -> Sequence[MovingPod]:
    """The one that may be next, or none, where the controller makes one after the other.

    It makes none while one stops, nor any above one that is not available; those that were made
    before start meanwhile. So a pod that is not available goes alone, and one that is goes only if
    all are made and those that are not available are above it.
    """
    idle = [each for each in line if not census.is_available(each.pod)]
    if idle:
        return idle[:1]
    if census.told_first is not None or len(census.owned) < census.count.spec_replicas:
        return ()
    lowest = min((ordinal_of(pod) or 0 for pod in census.unavailable_owned), default=math.inf)
    return [each for each in line if (ordinal_of(each.pod) or 0) < lowest][:1]


def forced_by(census: Census) -> Mapping[str, datetime]:
    """By when available pods whose turn it is go by force although nothing can ever let them go.

    A policy may deny all evictions, a budget demand all pods, or two budgets select them, under
    which Kubernetes evicts none. Were they to wait for their last moment, all pods that take turns
    would go at once. So one goes so early that there is a turn for each that is left, but not
    before its eviction was tried for a few seconds. A budget that may allow it later is never
    overruled before a pod's own last moment. One that is moved alive has until then: its eviction
    is refused until it has moved.
    """
    if len(census.budgets) == 1 and census.minimum < census.count.spec_replicas:
        return {}
    dying = [
        mover
        for mover in _line(census)
        if mover.deadline.forced and census.is_available(mover.pod) and not mover.pod.is_moved_alive
    ]
    turn = _next_to_go(census, dying, _awaited(census, dying))
    if not turn:
        return {}
    longest = max(mover.pod.grace for mover in dying)
    takes = turns.turn_length(census, census.stops_in or longest)
    rounds = math.ceil(len(dying) / turns.most_missing(census, dying, turns.seen_length(census)))
    early, back_at, found = (rounds - 1) * takes, census.last_available_at, dict[str, datetime]()
    for mover in dying:
        if mover.pod.uid in turn:
            began = max(mover.notice.since, back_at or mover.notice.since)
            found[mover.pod.uid] = max(mover.evict_by - early, began + A_FEW_SECONDS)
    return found
