"""Pods that take turns, and go before their replacements run: rationed, or by ordinal."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from evenkeel.decisions.drain import budgets, turns, verdicts
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model.ordinal import ordinal_of
from evenkeel.model.way import Way

TAKE_TURNS: Final = (Way.RATIONED, Way.BY_ORDINAL)


def decide(census: Census) -> Iterator[PodPlan]:
    """Evict the pods whose turn it is (see ``_next_to_go``); the others wait."""
    count, line = census.count, _line(census)
    waiting, turn = {each.pod.uid for each in line}, _next_to_go(census, line)
    message = f"its turn: {count.missing} of {count.spec_replicas} are missing" if turn else ""
    for mover in census.movers(*TAKE_TURNS):
        is_next = mover.pod.uid in turn
        yield PodPlan(
            verdicts.evicted(census, mover, message) if is_next else verdicts.waits(census, mover),
            mover.due(census.now, census.next_available_at),
            needs_fresh=is_next,
            awaits_pods=mover.pod.uid in waiting,
        )


def _line(census: Census) -> Sequence[MovingPod]:
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


def _next_to_go(census: Census, line: Sequence[MovingPod]) -> Collection[str]:
    """The uids of the pods of this line whose turn it is.

    - of a StatefulSet, whose ordinals are made in order, a pod that is not available goes alone;
    - while the controller has pods too many: no available one. It has chosen which it deletes, and
      deletes that many also when an eviction has left it none too many.
    """
    if not line:
        return ()
    way, count = line[0].route.way, census.count
    may_go = 0 if count.excess else turns.most_missing(census, way) - count.missing
    is_ordinal = way is Way.BY_ORDINAL
    return turns.next_to_go(line, census.is_available, may_go, in_order=is_ordinal)


def evict_by(census: Census) -> Mapping[str, datetime]:
    """By when the available pods whose turn it is are evicted by force, by uid.

    A budget or a policy may refuse all their evictions. Were they to wait for their last moment,
    all pods that take turns would go at once. So a pod on a dying node goes so early that there is
    a turn for each that is left. One that is moved alive has until its last moment: its eviction is
    refused until it has moved.
    """
    is_available = census.is_available
    dying = [
        mover
        for mover in _line(census)
        if mover.deadline.forced and is_available(mover.pod) and not mover.pod.is_moved_alive
    ]
    turn = _next_to_go(census, dying)
    if not turn:
        return {}
    at_a_time = turns.most_missing(census, dying[0].route.way)
    lead = (math.ceil(len(dying) / at_a_time) - 1) * turns.turn_length(census, dying[0].pod)
    return {mover.pod.uid: mover.evict_by - lead for mover in dying if mover.pod.uid in turn}
