"""How many pods of a workload each pool of spot nodes has."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool


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
