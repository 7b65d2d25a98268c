"""The ways that break before they make: rationed, at once, by ordinal, at the last moment."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from evenkeel.decisions.drain import budgets, writes
from evenkeel.decisions.drain.census import Census, MovingPod
from evenkeel.decisions.drain.deadlines import EVICTION_OVERHEAD
from evenkeel.decisions.drain.refusal import tried_until
from evenkeel.decisions.drain.verdicts import PodPlan
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.ordinal import ordinal_of
from evenkeel.model.pod import Pod
from evenkeel.model.times import span
from evenkeel.model.way import Way


def of_moving(
    census: Census, movers: Sequence[MovingPod], in_turn: Sequence[MovingPod]
) -> Iterator[PodPlan]:
    """What becomes of the ``movers`` before their last moment; some of them go ``in_turn``.

    - at once: all go now, within their budgets;
    - rationed, by ordinal: see ``_within_budget``;
    - at the last moment, and those that have to wait for a turn: they wait.
    """
    turn = _within_budget(census, in_turn)
    for mover in movers:
        pod, route, due = mover.pod, mover.route, tried_until(mover.deadline)
        if route.way is Way.AT_ONCE:
            yield PodPlan(_go(census, mover, route.message), due)
        elif pod.uid in turn:
            message = f"its turn: {census.missing} of {census.size} are missing"
            yield PodPlan(_go(census, mover, message), due, needs_fresh=True)
        else:
            until = mover.stays_until
            wait = census.owner.decision(pod, Verb.WAIT, route.reason, route.message, until=until)
            yield PodPlan(wait, due)


def _go(census: Census, mover: MovingPod, message: str) -> Decision:
    return census.owner.decision(
        mover.pod,
        Verb.EVICT,
        mover.route.reason,
        message,
        warning=mover.route.warning,
        write=writes.evict(mover.pod),
    )


def taking_turns(census: Census, movers: Sequence[MovingPod]) -> Sequence[MovingPod]:
    """The pods that go one after the other, first to go first.

    - pods whose node dies before those under a hint;
    - under a hint: none once it has expired, nor while a budget counts the workload as in
      trouble.
    """
    taking = [mover for mover in movers if mover.route.way in (Way.RATIONED, Way.BY_ORDINAL)]
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
    - by ordinal: the first one, once all are available.
    """
    if not going:
        return ()
    broken = [mover.pod.uid for mover in going if not census.is_available(mover.pod)]
    whole = [mover.pod.uid for mover in going if census.is_available(mover.pod)]
    if broken and going[0].route.way is Way.BY_ORDINAL:
        return broken[:1]
    return {*broken, *whole[: max(0, _most_missing(census, going) - census.missing)]}


def _most_missing(census: Census, going: Sequence[MovingPod]) -> int:
    """How many pods may be missing at a time while some take turns."""
    if going[0].route.way is Way.BY_ORDINAL:
        return 1
    return budgets.ration(census.owner.deployment, census.size)


def evict_by(census: Census, in_turn: Sequence[MovingPod]) -> Mapping[str, datetime]:
    """By when the available pods whose turn it is are evicted by force, by uid.

    A budget or a policy may refuse all their evictions. Were they to wait for their last moment,
    all pods that take turns would go at once. So a pod on a dying node goes so early that there is
    a turn for each that is left. One that is moved alive has until its last moment: its eviction is
    refused until it has moved.
    """
    dying = [
        mover
        for mover in in_turn
        if mover.deadline.forced and census.is_available(mover.pod) and not mover.pod.is_moved_alive
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
        for each in census.owned
        if (made := each.metadata.creation_timestamp) is not None and each.ready_since is not None
    )
    start = max(timedelta(), min(times, default=timedelta()))
    return pod.grace + EVICTION_OVERHEAD + start + span(census.min_ready_seconds)
