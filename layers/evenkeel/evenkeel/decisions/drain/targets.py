"""Whether the replacement of a released pod is on the capacity type that it was released for."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

import msgspec

from evenkeel.decisions.drain.counts import Counts
from evenkeel.decisions.drain.movers import ReleasedPod
from evenkeel.model.capacity import Capacity
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool


def target_of(item: ReleasedPod) -> Capacity | None:
    """The capacity type that a released pod's replacement has to be on, if any.

    None also once its node dies: then a replacement on either type will do.
    """
    return None if item.deadline.forced else item.release.target


class Targets(msgspec.Struct, frozen=True, dict=True):
    """Where the owned pods of a workload are, and where its released pods' replacements have to be.

    Of several pods with one target the second needs one owned pod more there than the first, and so
    on.
    """

    counts: Counts

    def is_reached(self, item: ReleasedPod) -> bool:
        """Whether a released pod's replacement is available where it has to be."""
        return self._are_enough(self._available_in, item)

    def is_placed(self, item: ReleasedPod) -> bool:
        """Whether a released pod's replacement has a node where it has to be, Ready or not."""
        return self._are_enough(self._owned_in, item)

    def is_missed(self, item: ReleasedPod) -> bool:
        """Whether a released pod's replacement has a node, and not where it has to be.

        All replicas have a node whose pool is known, and none came to those on the target.
        """
        owned = len(self.counts.owned)
        if target_of(item) is None or owned < self.counts.replicas_to_keep:
            return False
        return self._owned_in.total() >= owned and not self.is_placed(item)

    def _are_enough(self, pods: Mapping[Pool | None, int], item: ReleasedPod) -> bool:
        """Whether a released pod's replacement is among these where it has to be, if anywhere."""
        if target_of(item) is None:
            return True
        there = sum(number for pool, number in pods.items() if item.release.takes(pool))
        return there >= self._needed_there[item.pod.uid]

    @cached_property
    def _owned_in(self) -> Counter[Pool | None]:
        """How many owned pods are in a pool, or on on-demand nodes, as far as that is known."""
        return self._count(self.counts.owned)

    @cached_property
    def _available_in(self) -> Counter[Pool | None]:
        """As ``_owned_in``, of those that are available."""
        return self._count(filter(self.counts.is_available, self.counts.owned))

    def _count(self, pods: Iterable[Pod]) -> Counter[Pool | None]:
        nodes, pools = (pod.spec.node_name for pod in pods), self.counts.nodes.pools
        return Counter(pools[node] for node in nodes if node in pools)

    @cached_property
    def _needed_there(self) -> Mapping[str, int]:
        """For each released pod with a target, by uid: how many owned pods must run there."""
        moves = defaultdict[object, list[ReleasedPod]](list)
        in_order = sorted(self.counts.released, key=lambda each: (each.release.since, each.pod.uid))
        for each in in_order:
            moves[target_of(each), each.release.avoid].append(each)
        found: dict[str, int] = {}
        for going in moves.values():
            there = min(each.release.there for each in going)
            found |= {each.pod.uid: there + place for place, each in enumerate(going, 1)}
        return found
