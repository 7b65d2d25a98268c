"""The pods as the extender counts them: how many of each workload are on which node."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final, NamedTuple

from evenkeel.model.capacity import Capacity
from evenkeel.model.pod import Pod
from evenkeel_extender.node_scores import Load, NodeScores

_NONE: Final[Mapping[str, int]] = {}


class _Seen(NamedTuple):
    """A pod that has not ended: its node (empty before it has one), workload, and requests."""

    node: str
    controller_key: str
    load: Load


class PodCounts:
    """All pods that have not ended. Not safe for several threads: its owner locks."""

    def __init__(self, scores: NodeScores) -> None:
        self._scores = scores
        self._seen: dict[str, _Seen] = {}
        self._nodes_of: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._reserved: dict[str, str] = {}  # the workload, by the pod's uid
        self._reserved_of: defaultdict[str, set[str]] = defaultdict(set)

    def nodes_of(self, controller_key: str) -> Mapping[str, int]:
        """How many pods of a workload are on which nodes."""
        return self._nodes_of.get(controller_key, _NONE)

    def on_demand_of(self, controller_key: str, but: str) -> int:
        """How many pods of a workload are on on-demand nodes, or will be; without the pod ``but``.

        A pod with a reservation that has no node yet will go to no other node.
        """
        on_demand = self._scores.of[Capacity.ON_DEMAND]
        there = self._nodes_of.get(controller_key, _NONE)
        waiting = self._reserved_of.get(controller_key, set()) - {but}
        return len(waiting) + sum(count for node, count in there.items() if node in on_demand)

    def reserve(self, uid: str, controller_key: str) -> bool:
        """Count a pod that waits for its node as on on-demand; whether it did not count before."""
        is_new = uid not in self._reserved
        self._reserved[uid] = controller_key
        self._reserved_of[controller_key].add(uid)
        return is_new

    def is_waiting(self, uid: str, controller_key: str) -> bool:
        """Whether a pod of this workload waits for its node."""
        seen = self._seen.get(uid)
        return seen is not None and not seen.node and seen.controller_key == controller_key

    def see(self, pod: Pod) -> None:
        """A pod is so. One that has ended, or is being deleted, holds no place of a floor."""
        self.lose(pod.uid, is_reserved=pod.active and not pod.spec.node_name)
        if pod.finished:
            return
        requests = pod.spec.requests
        load = Load(*(requests.get(each, 0.0) for each in Load._fields))
        key = "" if pod.leaving or pod.released else pod.controller_key
        seen = self._seen[pod.uid] = _Seen(pod.spec.node_name, key, load)
        if seen.node:
            self._scores.add(seen.node, load)
            if key:
                self._nodes_of[key][seen.node] += 1

    def lose(self, uid: str, *, is_reserved: bool = False) -> None:
        """A pod is gone. ``is_reserved``: its reservation stays, if it has one."""
        if not is_reserved:
            self._unreserve(uid)
        seen = self._seen.pop(uid, None)
        if seen is None or not seen.node:
            return
        self._scores.add(seen.node, Load(-seen.load.cpu, -seen.load.memory))
        there = self._nodes_of.get(seen.controller_key)
        if there is not None:
            there[seen.node] -= 1
            if not there[seen.node]:
                del there[seen.node]
            if not there:
                del self._nodes_of[seen.controller_key]

    def _unreserve(self, uid: str) -> None:
        controller_key = self._reserved.pop(uid, "")
        others = self._reserved_of.get(controller_key, set())
        others.discard(uid)
        if not others:
            self._reserved_of.pop(controller_key, None)
