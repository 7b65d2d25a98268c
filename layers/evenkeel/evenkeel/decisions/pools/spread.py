"""How many pods of a workload each pool of spot nodes has."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool


class Spread(msgspec.Struct, frozen=True):
    """The Ready pods of a workload by pool: None has those on on-demand nodes."""

    ready: Mapping[Pool | None, int]

    @property
    def survivors(self) -> int:
        """How many stay Ready if the pool goes that has most of them."""
        in_pools = [number for pool, number in self.ready.items() if pool is not None]
        return sum(self.ready.values()) - max(in_pools, default=0)


def spread_of(pods: Iterable[Pod], pools: Mapping[str, Pool | None]) -> Spread:
    """Count a workload's pods, owned and released. ``pools``: see ``pools_of``."""
    ready = Counter(
        pools[pod.spec.node_name]
        for pod in pods
        if pod.active and pod.ready and pod.spec.node_name in pools
    )
    return Spread(ready)
