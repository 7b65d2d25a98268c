"""Workloads whose last count is low. When they are whole again is counted, whoever makes them so.

The drain does not wait for that: it may evict a pod without waiting for its successor, and end. So
the reconciler's Lease keeps the low counts, and a later run looks: a pod tells when it became
available.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from evenkeel.errors import NotFoundError
from evenkeel.flows import selections
from evenkeel.flows.reads import items_of
from evenkeel.model.controllers import kinds
from evenkeel.model.controllers.replicated import Replicated
from evenkeel.model.deployment import Deployment
from evenkeel.model.deployments import DEPLOYMENTS
from evenkeel.model.meta import Reference
from evenkeel.model.pod import Pod, available_since
from evenkeel.model.pod_count import PodCount, low_counts_in, noted, since
from evenkeel.model.request import Get
from evenkeel.ports import Clock, Cluster, Recorder

type Owner = Deployment | Replicated

KINDS: Final[Mapping[str, type[Owner]]] = {
    kind.resource.kind: kind
    for kind in (*DEPLOYMENTS.values(), *kinds.KINDS.values())
    if issubclass(kind, Deployment | Replicated)
}
"""The kinds of workloads that say how many pods they want, by the kind that a count names."""


class LowCounts:
    """Outlives invocations, as the Lease does that it is read from and noted on."""

    def __init__(self, cluster: Cluster, clock: Clock, recorder: Recorder) -> None:
        """``recorder`` gets the counts of workloads that are whole again."""
        self._cluster = cluster
        self._clock = clock
        self._recorder = recorder
        self._low: dict[Reference, PodCount] = {}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._low)

    @property
    def note(self) -> str:
        """What the Lease is to keep."""
        return noted(self._low.values())

    def read(self, note: str | None) -> None:
        """Take what the Lease has, which is what the last holder knew."""
        self._low = dict(low_counts_in(note, self._clock.now()))

    def of(self, workload: Reference) -> PodCount | None:
        """The last count of a workload, if that is low."""
        return self._low.get(workload)

    def take(self, count: PodCount) -> None:
        """A workload was counted."""
        self._low.pop(count.workload, None)
        if not count.is_whole:
            self._low[count.workload] = count

    def close(self) -> bool:
        """Record a count of each workload that is whole again, or gone. Whether there was any.

        What cannot be read stays as it is. Raises ClusterError where the API server refuses a list.
        """
        found = list(self._closing(self._clock.now()))
        for count in found:
            self._recorder.counted_pods(count)
            self.take(count)
        return bool(found)

    def _closing(self, now: datetime) -> Iterator[PodCount]:
        low = [count for key, count in self._low.items() if key.kind in KINDS]
        asked = [Get(KINDS[w.kind], w.name, w.namespace) for w in (count.workload for count in low)]
        there = list[tuple[PodCount, Owner]]()
        for count, reply in zip(low, self._cluster.perform(asked), strict=True):
            if isinstance(reply.result, Deployment | Replicated):
                there.append((count, reply.result))
            elif isinstance(reply.error, NotFoundError):
                gone = PodCount(at=now, workload=count.workload, available=0, wanted=0)
                yield from since(count, gone, ())
        lists = [
            selections.pods_selected(owner.namespace, owner.spec.selector) for _, owner in there
        ]
        listed = items_of(self._cluster.perform(lists))
        for (count, owner), pods in zip(there, listed, strict=True):
            yield from counts_since(count, owner, pods, now)


def counts_since(
    low: PodCount, owner: Owner, pods: Iterable[Pod], now: datetime
) -> Iterator[PodCount]:
    """The counts of a workload after a low one up to now, if it has more pods than then."""
    settles, wanted = owner.spec.min_ready_seconds, owner.spec.replicas
    there = available_since((pod for pod in pods if pod.available(now, settles)), settles)
    count = PodCount(
        at=now,
        workload=low.workload,
        available=len(there),
        wanted=wanted,
        generation=owner.metadata.generation,
    )
    if count.is_whole or (low.available is not None and len(there) > low.available):
        yield from since(low, count, there)
