"""Pods of a workload that go one after the other: how many may be missing, and who goes next.

Ordinals, rationed pods and those that a quota lets go one by one are asked about here alike.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import timedelta

from evenkeel.decisions.drain.budgets import ration
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import EVICTION_OVERHEAD
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.model.pod import Pod
from evenkeel.model.times import span
from evenkeel.model.way import Way


def most_missing(census: Census, way: Way) -> int:
    """How many pods may be missing at a time while pods that go this way take turns.

    - by ordinal: one;
    - else the ReplicaSet's ration: its part of maxUnavailable, at least one.
    """
    if way is Way.BY_ORDINAL:
        return 1
    return ration(census.owner.deployment, census.count.spec_replicas)


def next_to_go(
    line: Sequence[MovingPod],
    serves: Callable[[Pod], bool],
    may_go: int,
    *,
    in_order: bool = False,
) -> Collection[str]:
    """The uids of the pods whose turn it is.

    ``line``: those that wait for it, first to go first. ``may_go``: so many more that serve may be
    missing now. A pod that does not serve costs nothing: all of them go, or with ``in_order`` the
    first of them alone, and none that serves.
    """
    serving = [mover.pod.uid for mover in line if serves(mover.pod)]
    idle = [mover.pod.uid for mover in line if not serves(mover.pod)]
    if idle and in_order:
        return idle[:1]
    return {*idle, *serving[: max(0, may_go)]}


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
    return pod.grace + EVICTION_OVERHEAD + start + span(census.owner.min_ready_seconds)
