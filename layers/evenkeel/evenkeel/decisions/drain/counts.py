"""Counting the pods of one workload: how many there are, and how many are available."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property

import msgspec

from evenkeel.decisions.drain.deadlines import released_deadline
from evenkeel.decisions.drain.movers import ReleasedPod
from evenkeel.decisions.drain.nodes import Nodes
from evenkeel.decisions.drain.owner import Owner
from evenkeel.model.pod import Pod, available_since, next_available_at
from evenkeel.model.release import Release
from evenkeel.model.times import span

ON_ITS_WAY = timedelta(minutes=5)
"""A pod younger than this that is not available yet is taken to be about to be."""


class Counts(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The pods of one workload at one time, and how many of them there are of each kind.

    - ``owner`` has no controller once that is known to be gone.
    - ``pods``: the active pods of the controller; terminating and finished ones never count.
    - ``nodes``: what is known of the nodes that they are on.
    - ``most_seen``: the most of them that were seen at a time, where the controller's kind does not
      say how many it asks for.
    """

    now: datetime
    owner: Owner
    pods: Sequence[Pod] = ()
    nodes: Nodes = Nodes()
    most_seen: int = 0

    @cached_property
    def spec_replicas(self) -> int:
        """How many pods the controller asks for; as many as there were where it does not say."""
        controller = self.owner.controller
        asked = controller.replicas if controller is not None else None
        return max(len(self.pods), self.most_seen) if asked is None else asked

    @cached_property
    def replicas_to_keep(self) -> int:
        """As ``spec_replicas``, but 0 of a ReplicaSet that is gone or going."""
        replica_set = self.owner.replica_set
        if self.owner.hands_over and (replica_set is None or replica_set.leaving):
            return 0
        return self.spec_replicas

    @cached_property
    def owned(self) -> Sequence[Pod]:
        """The pods that have a controller."""
        return [pod for pod in self.pods if pod.controller is not None]

    @cached_property
    def released(self) -> Sequence[ReleasedPod]:
        """The pods released from a ReplicaSet, but for ``unreadable`` ones."""
        found = []
        for pod, release in self._bearing:
            if release is not None:
                deadline = released_deadline(release, self.nodes.dooms.get(pod.spec.node_name))
                found.append(ReleasedPod(pod, release, deadline))
        return found

    @property
    def unreadable(self) -> Sequence[Pod]:
        """Released pods whose annotation cannot be read, or cannot be true; or in part alone."""
        return [pod for pod, release in self._bearing if release is None]

    @cached_property
    def _bearing(self) -> Sequence[tuple[Pod, Release | None]]:
        """The pods that bear a release, each with what is believed of it."""
        if not self.owner.hands_over:
            return []
        bearing = [pod for pod in self.pods if pod.released or pod.is_released_in_part]
        return [
            (pod, None if pod.is_released_in_part else pod.believed_release(self.now))
            for pod in bearing
        ]

    def is_available(self, pod: Pod) -> bool:
        """Whether one of these pods counts as available to its controller."""
        return pod.uid in self._available

    @cached_property
    def _available(self) -> frozenset[str]:
        return frozenset(self.available_of(self.pods, self.owner.min_ready_seconds))

    def available_of(self, pods: Iterable[Pod], min_ready_seconds: int) -> Iterator[str]:
        """The uids of those that are available, and did not go with their node."""
        for pod in pods:
            if pod.available(self.now, min_ready_seconds) and not self.nodes.is_lost(pod):
                yield pod.uid

    @property
    def available(self) -> int:
        """How many of all pods are available."""
        return len(self._available)

    @cached_property
    def available_owned(self) -> int:
        """Available pods that the ReplicaSet owns."""
        return len(self.owned) - len(self.unavailable_owned)

    @cached_property
    def unavailable_owned(self) -> Sequence[Pod]:
        """Owned pods that are not available."""
        return [pod for pod in self.owned if not self.is_available(pod)]

    @property
    def available_since(self) -> Sequence[datetime]:
        """When each available pod became so, in order."""
        there = (pod for pod in self.pods if self.is_available(pod))
        return available_since(there, self.owner.min_ready_seconds)

    @cached_property
    def available_released(self) -> int:
        """Available pods that were released from it."""
        return sum(self.is_available(item.pod) for item in self.released)

    @property
    def excess(self) -> int:
        """How many owned pods the controller has too many: it takes as many away.

        Any of them. It prefers those that are not Ready, but it chooses long before it deletes
        where its client is slow: one that it chose may be available by now.
        """
        return max(0, len(self.owned) - self.spec_replicas)

    @property
    def missing(self) -> int:
        """How many replicas are not available now, or will not be: see ``excess``."""
        return max(0, self.spec_replicas - self.available + self.excess)

    @cached_property
    def on_their_way(self) -> Sequence[Pod]:
        """Owned pods that are about to be available."""
        return [pod for pod in self.unavailable_owned if self.is_on_its_way(pod)]

    def is_on_its_way(self, pod: Pod) -> bool:
        """Whether a pod that is not available is young enough to be about to be."""
        created = pod.metadata.creation_timestamp
        young = created is not None and self.now - created < ON_ITS_WAY
        return young and not self.nodes.is_lost(pod)

    @cached_property
    def next_available_at(self) -> datetime | None:
        """When the next ready pod becomes available by time alone (minReadySeconds)."""
        return next_available_at(self.pods, self.owner.min_ready_seconds, self.now)

    @property
    def last_available_at(self) -> datetime | None:
        """When the last of the available owned pods became available; None if none is."""
        since = (pod.ready_since for pod in self.owned if self.is_available(pod))
        last = max((time for time in since if time is not None), default=None)
        return None if last is None else last + span(self.owner.min_ready_seconds)
