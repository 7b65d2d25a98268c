"""Which pods a ReplicaSet deletes when it has too many.

The order of ActivePodsWithRanks in pkg/controller/controller_utils.go of Kubernetes 1.36.
"""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from evenkeel.model.names import POD_DELETION_COST
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    annotations_of,
    at,
    is_active,
    is_ready,
    node_of,
    parse_time,
    phase_of,
    ready_since,
    uid_of,
)

PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def surplus(pods: Sequence[Obj], related: Iterable[Obj], count: int, now: datetime) -> list[Obj]:
    """The ``count`` pods to delete; ``related`` are the pods of all the workload's ReplicaSets."""
    if count >= len(pods):
        return list(pods)
    crowd = Counter(node_of(pod) for pod in related if is_active(pod))

    def compare(one: Obj, other: Obj) -> int:
        first, second = _rank(one, crowd), _rank(other, crowd)
        if first != second:
            return -1 if first < second else 1
        mine, its = ready_since(one), ready_since(other)
        if mine is not None and its is not None and mine != its:
            return _younger(mine, its, one, other, now)
        restarts = _restarts(other) - _restarts(one)
        if restarts:
            return restarts
        mine, its = _created(one), _created(other)
        return 0 if mine == its else _younger(mine, its, one, other, now)

    return sorted(pods, key=functools.cmp_to_key(compare))[:count]


def _rank(pod: Obj, crowd: Counter[str]) -> tuple[bool, int, bool, int, int]:
    """What comes before all ages; the lower goes first.

    Not scheduled; pending before running; not ready; a low deletion cost; a crowded node.
    """
    return (
        bool(node_of(pod)),
        PHASES.get(phase_of(pod), 2),
        is_ready(pod),
        _cost(pod),
        -crowd[node_of(pod)],
    )


def _cost(pod: Obj) -> int:
    try:
        return int(annotations_of(pod).get(POD_DELETION_COST, "0"))
    except ValueError:
        return 0


def _younger(mine: datetime, its: datetime, one: Obj, other: Obj, now: datetime) -> int:
    """The younger first, on a logarithmic scale; equals in the order of their uids."""
    difference = _magnitude(mine, now) - _magnitude(its, now)
    if difference == 0:
        return -1 if uid_of(one) < uid_of(other) else 1
    return difference


def _magnitude(since: datetime, now: datetime) -> int:
    age = (now - since).total_seconds() * 1e9
    return int(math.log2(age)) if age > 0 else -1


def _restarts(pod: Obj) -> int:
    statuses = at(pod, "status", "containerStatuses", default=())
    return max((status.get("restartCount", 0) for status in statuses), default=0)


def _created(pod: Obj) -> datetime:
    return parse_time(pod["metadata"]["creationTimestamp"])
