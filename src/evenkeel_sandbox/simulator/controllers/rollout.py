"""A Deployment's arithmetic: how large each of its ReplicaSets should be next.

Pure functions of the Deployment and its ReplicaSets, after pkg/controller/deployment of
Kubernetes 1.36: rolling.go, recreate.go and the proportional scaling of sync.go.
"""

from collections.abc import Sequence

from evenkeel_sandbox.simulator.api.objects import Obj, annotations_of, at, scaled

REVISION = "deployment.kubernetes.io/revision"
"""Every Deployment has it, so that none is without annotations, into which JSON patches add."""
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"

type Sizes = list[tuple[Obj, int]]
"""ReplicaSets and the size that each should get."""


def size(replica_set: Obj) -> int:
    """How many pods a ReplicaSet should have."""
    return int(replica_set["spec"]["replicas"])


def available(replica_set: Obj) -> int:
    """How many available pods a ReplicaSet's status counts."""
    return int(at(replica_set, "status", "availableReplicas", default=0))


def actual(replica_set: Obj) -> int:
    """How many pods a ReplicaSet's status counts."""
    return int(at(replica_set, "status", "replicas", default=0))


def is_rolling(deployment: Obj) -> bool:
    """Whether the Deployment replaces its pods by a rolling update."""
    return bool(deployment["spec"]["strategy"]["type"] == "RollingUpdate")


def max_surge(deployment: Obj) -> int:
    """How many pods there may be beyond the wanted ones; a percentage rounds up."""
    if not is_rolling(deployment):
        return 0
    bounds = deployment["spec"]["strategy"]["rollingUpdate"]
    return scaled(bounds["maxSurge"], deployment["spec"]["replicas"], round_up=True)


def max_unavailable(deployment: Obj) -> int:
    """How many of the wanted pods may be missing; a percentage rounds down.

    One, where rounding made both bounds zero; never more than there are replicas.
    """
    replicas = int(deployment["spec"]["replicas"])
    if not is_rolling(deployment) or not replicas:
        return 0
    bounds = deployment["spec"]["strategy"]["rollingUpdate"]
    unavailable = scaled(bounds["maxUnavailable"], replicas, round_up=False)
    if not unavailable and not max_surge(deployment):
        unavailable = 1
    return min(unavailable, replicas)


def by_age(replica_sets: Sequence[Obj]) -> list[Obj]:
    """The oldest first."""
    return sorted(
        replica_sets, key=lambda rs: (rs["metadata"]["creationTimestamp"], rs["metadata"]["name"])
    )


def is_scaling_event(deployment: Obj, replica_sets: Sequence[Obj]) -> bool:
    """Whether the Deployment's replicas changed since its active ReplicaSets were sized."""
    wanted = str(deployment["spec"]["replicas"])
    return any(
        size(rs) and annotations_of(rs).get(DESIRED, wanted) != wanted for rs in replica_sets
    )


def scale(deployment: Obj, new: Obj | None, old: Sequence[Obj]) -> Sizes:
    """The sizes when only the number of replicas changed."""
    wanted = deployment["spec"]["replicas"]
    everything = [*by_age(old), *([new] if new is not None else [])]
    active = [rs for rs in everything if size(rs)]
    if not everything:
        return []
    if len(active) < 2:
        return [(active[0] if active else new if new is not None else everything[-1], wanted)]
    if new is not None and _is_saturated(new, wanted):
        return [(rs, 0) for rs in old if size(rs)]
    if not is_rolling(deployment):
        return []
    return _in_proportion(deployment, active)


def _is_saturated(new: Obj, wanted: int) -> bool:
    return (
        size(new) == wanted
        and annotations_of(new).get(DESIRED) == str(wanted)
        and available(new) == wanted
    )


def _in_proportion(deployment: Obj, active: list[Obj]) -> Sizes:
    wanted = deployment["spec"]["replicas"]
    allowed = wanted + max_surge(deployment) if wanted else 0
    to_add = allowed - sum(size(rs) for rs in active)
    newest_first = to_add > 0
    active = by_age(active)
    if newest_first:
        active.reverse()
    active.sort(key=size, reverse=True)
    sizes: dict[int, int] = {}
    added = 0
    for i, rs in enumerate(active):
        part = _fraction(deployment, rs) if to_add != added else 0
        left = to_add - added
        part = min(part, left) if to_add > 0 else max(part, left)
        sizes[i] = size(rs) + (part if to_add else 0)
        added += part if to_add else 0
    if to_add:
        sizes[0] = max(0, sizes[0] + to_add - added)
    return [(rs, sizes[i]) for i, rs in enumerate(active)]


def _fraction(deployment: Obj, rs: Obj) -> int:
    if not deployment["spec"]["replicas"]:
        return -size(rs)
    before = int(annotations_of(rs).get(MOST, 0)) or actual(deployment)
    if not before:
        return 0
    most = deployment["spec"]["replicas"] + max_surge(deployment)
    return int(size(rs) * most / before + 0.5) - size(rs)


def grow(deployment: Obj, new: Obj | None, old: Sequence[Obj]) -> int:
    """The size of the new ReplicaSet, as far as the old ones leave room."""
    wanted = int(deployment["spec"]["replicas"])
    current = size(new) if new is not None else 0
    if not is_rolling(deployment) or current > wanted:
        return wanted
    room = wanted + max_surge(deployment) - sum(size(rs) for rs in old) - current
    return current + max(0, min(room, wanted - current))


def shrink(deployment: Obj, new: Obj, old: Sequence[Obj]) -> Sizes:
    """The sizes of the old ReplicaSets: first without the unavailable, then as the bounds allow."""
    replicas = deployment["spec"]["replicas"]
    at_least = replicas - max_unavailable(deployment)
    total = sum(size(rs) for rs in old) + size(new)
    spare = total - at_least - (size(new) - available(new))
    if spare <= 0 or not any(size(rs) for rs in old):
        return []
    sizes = {i: size(rs) for i, rs in enumerate(by_age(old))}
    ordered = by_age(old)
    for i, rs in enumerate(ordered):
        unhealthy = max(0, min(spare, sizes[i] - available(rs)))
        sizes[i] -= unhealthy
        spare -= unhealthy
    going = available(new) + sum(available(rs) for rs in old) - at_least
    for i in range(len(ordered)):
        less = max(0, min(sizes[i], going))
        sizes[i] -= less
        going -= less
    return [(rs, sizes[i]) for i, rs in enumerate(ordered) if sizes[i] != size(rs)]
