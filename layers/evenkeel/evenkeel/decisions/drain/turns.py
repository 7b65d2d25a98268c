"""Pods of a workload that go one after the other: how many may be missing, and who goes next.

Ordinals, rationed pods, those that a quota lets go one by one, and released ones beside which no
second pod comes are asked about here alike.
"""

import math
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.drain.budgets import ration
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import A_FEW_SECONDS, EVICTION_OVERHEAD
from evenkeel.decisions.drain.movers import MovingPod, ReleasedPod
from evenkeel.model.pod import Pod
from evenkeel.model.times import earliest, span

A_MOMENT: Final = timedelta(milliseconds=1)
"""Just after a time its comparisons come out otherwise."""


def most_missing(census: Census, line: Sequence[ReleasedPod | MovingPod], takes: timedelta) -> int:
    """How many pods may be missing at a time while those in line take turns.

    - one; of a ReplicaSet its ration, if that is more: its part of maxUnavailable;
    - more where nodes die: as many as it takes for the last turn to begin by the last eviction
      deadline, as long as the minimum serves.

    ``takes``: how long a turn takes.
    """
    least = least_missing(census)
    number, left = _dying(line), _last_moment(census, line) - census.now
    in_time = math.ceil(number / (1 + max(left, timedelta()) // takes))
    return max(least, min(in_time, _spared(census)))


def least_missing(census: Census) -> int:
    """How many may be missing at a time in any case: one, or the ration of a Deployment's pods."""
    return ration(census.owner.deployment, census.count.spec_replicas)


def _dying(line: Sequence[ReleasedPod | MovingPod]) -> int:
    """How many of these are on nodes that die."""
    return sum(each.deadline.forced for each in line)


def _last_moment(census: Census, line: Sequence[ReleasedPod | MovingPod]) -> datetime:
    """The last eviction deadline of these; now where their nodes do not die."""
    by = (census.evict_by(each) for each in line if each.deadline.forced)
    return max(by, default=census.now)


def _spared(census: Census) -> int:
    """How many may be missing while the minimum serves."""
    return census.count.spec_replicas - census.minimum


def changes_at(
    census: Census, line: Sequence[ReleasedPod | MovingPod], takes: timedelta
) -> datetime | None:
    """When other pods may go next though nothing but time has changed.

    As many at a time would not do any more, also because a pod still stops; or a missing pod takes
    longer than a start took.
    """
    after = _late_after(census)
    made = (pod.metadata.creation_timestamp for pod in census.unavailable_owned)
    found = [at + after for at in made if at is not None]
    most, last = most_missing(census, line, takes), _last_moment(census, line)
    if most < min(_dying(line), _spared(census)):
        later = math.ceil(_dying(line) / most) - 1
        found.append(last - later * takes)
        if census.told_first is not None:
            began = census.told_first - turn_length(census, timedelta())
            found.append(began + (last - began) / (1 + later))
    due = earliest(*(at for at in found if at >= census.now))
    return None if due is None else due + A_MOMENT


def may_go(census: Census, line: Sequence[MovingPod]) -> int:
    """How many more pods that serve may be missing now.

    - None while the controller has pods too many. It has chosen which it deletes, and deletes that
      many also when an eviction has left it none too many.
    - A missing pod that has no place, or takes longer than a start took, holds nobody up. It costs
      one all the same of those that may be missing while the minimum serves.
    """
    count = census.count
    if count.excess:
        return 0
    most = most_missing(census, line, seen_length(census))
    return min(max(most, _spared(census)), most + _stalled(census)) - count.missing


def _stalled(census: Census) -> int:
    """So many of the missing pods have no place, or take longer than a start took before."""
    late = _late_after(census)
    starting = ((each, each.metadata.creation_timestamp) for each in census.unavailable_owned)
    return sum(
        (bool(each.status.lacks_node) and not census.takes_seat(each))
        or (made is not None and census.now - made > late)
        for each, made in starting
    )


def _late_after(census: Census) -> timedelta:
    """How long after it was made a pod counts as late. Both times are in whole seconds."""
    return _to_available(census) + A_FEW_SECONDS


def next_beside(census: Census) -> Collection[str]:
    """The uids of the released pods whose turn it is, where no second pod comes beside the first.

    None that the minimum needs.
    """
    line = _alone(census)
    if not line:
        return ()
    most = most_missing(census, line, seen_length(census))
    count = census.count
    spared = min(most, count.replicas_to_keep - census.minimum) - count.missing
    return next_to_go(line, census.is_available, spared)


def beside_changes_at(census: Census) -> datetime | None:
    """When others of these may go though nothing but time has changed."""
    line = _alone(census)
    return changes_at(census, line, seen_length(census)) if line else None


def _alone(census: Census) -> Sequence[ReleasedPod]:
    """The released pods in line, where no second pod comes beside the first; else none."""
    line = [each for each in census.line if isinstance(each, ReleasedPod)]
    return line if line and census.lacks_place_beside(line[0].pod) else ()


def next_to_go(
    line: Sequence[ReleasedPod | MovingPod],
    serves: Callable[[Pod], bool],
    may_go: int,
) -> Collection[str]:
    """The uids of the pods whose turn it is.

    ``line``: those that wait for it, first to go first. ``may_go``: so many more that serve may be
    missing now. A pod that does not serve costs nothing: all of them go.
    """
    serving = [mover.pod.uid for mover in line if serves(mover.pod)]
    idle = [mover.pod.uid for mover in line if not serves(mover.pod)]
    return {*idle, *serving[: max(0, may_go)]}


def _to_available(census: Census) -> timedelta:
    """The shortest time in which a pod became available. One that failed for a while tells more."""
    times = (
        each.ready_since - made
        for each in census.owned
        if (made := each.metadata.creation_timestamp) is not None and each.ready_since is not None
    )
    to_ready = max(timedelta(), min(times, default=timedelta()))
    return to_ready + span(census.owner.min_ready_seconds)


def seen_length(census: Census) -> timedelta:
    """How long a turn takes at least, as far as was seen. A pod that still stops takes longer.

    One that is there after its grace period stops no more: it is on a node that is dead.
    """
    so_far = timedelta()
    if census.told_first is not None:
        longest = max((pod.grace for pod in census.pods), default=so_far)
        so_far = min(census.now - census.told_first, longest)
    return turn_length(census, max(so_far, census.stops_in or timedelta()))


def turn_length(census: Census, stop: timedelta) -> timedelta:
    """How long a turn takes if all goes well: ``stop``, and the shortest time to available."""
    return stop + EVICTION_OVERHEAD + _to_available(census)
