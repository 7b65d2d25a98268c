"""How many pods of a workload each pool of spot nodes has, and how many one is to have at most."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from evenkeel.model.annotations import ONE_POOL_AT_MOST
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from evenkeel.model.workload import Workload


class Spread(msgspec.Struct, frozen=True):
    """A workload's pods by pool.

    ``ready`` are those that are Ready, with None for on-demand nodes. ``held`` are those that are
    not being handed over.
    """

    ready: Mapping[Pool | None, int]
    held: Mapping[Pool, int]

    @property
    def survivors(self) -> int:
        """How many stay Ready if the pool goes that has most of them."""
        in_pools = [number for pool, number in self.ready.items() if pool is not None]
        return sum(self.ready.values()) - max(in_pools, default=0)

    def full(self, goal: int) -> Sequence[Pool]:
        """The pools that have as many as one is to have at most, the fullest first."""
        full = (pool for pool, number in self.held.items() if number >= goal)
        return sorted(full, key=lambda pool: (-self.held[pool], pool))


def spread_of(pods: Iterable[Pod], pools: Mapping[str, Pool | None]) -> Spread:
    """Count a workload's pods, owned and released. ``pools``: see ``pools_of``."""
    ready, held = Counter[Pool | None](), Counter[Pool]()
    for pod in pods:
        if not pod.active or pod.spec.node_name not in pools:
            continue
        pool = pools[pod.spec.node_name]
        if pod.ready:
            ready[pool] += 1
        if pool is not None and not pod.released:
            held[pool] += 1
    return Spread(ready, held)


def goal_of(
    workload: Workload,
    of_pods: Mapping[str, str] | None,
    of_namespace: Mapping[str, str] | None,
) -> int | None:
    """How many of the wanted pods one pool is to have at most; None if nobody says so.

    The workload is a ReplicaSet's Deployment, where it has one. The annotations of its pods'
    template come before its own, and these before its namespace's. The first that have the key
    count, even with a value that means nothing.
    """
    places = (of_pods, workload.metadata.annotations, of_namespace)
    said = next((place for place in places if ONE_POOL_AT_MOST.key in (place or {})), None)
    at_most = ONE_POOL_AT_MOST.of(said)
    if at_most is None:
        return None
    return at_most.of(workload.at_a_time)
