"""The pods as the extender counts them: on which node how many of each workload are."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final, NamedTuple

from evenkeel.flows.scheduling.fleet import Fleet, Load
from evenkeel.model.capacity import Capacity
from evenkeel.model.pod import Pod

_NONE: Final[Mapping[str, int]] = {}


class _Seen(NamedTuple):
    """A pod that runs or will: its node (empty without one yet), its workload, what it asks for."""

    node: str
    controller_key: str
    load: Load


class Population:
    """All pods that have not ended. Not safe for several threads: who owns it locks."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._seen: dict[str, _Seen] = {}
        self._nodes_of: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._promised: dict[str, str] = {}  # the workload, by the pod's uid
        self._promised_of: defaultdict[str, set[str]] = defaultdict(set)

    def nodes_of(self, controller_key: str) -> Mapping[str, int]:
        """How many pods of a workload are on which nodes."""
        return self._nodes_of.get(controller_key, _NONE)

    def on_demand_of(self, controller_key: str, but: str) -> int:
        """How many pods of a workload are on on-demand nodes, or will be; ``but`` is not counted.

        A pod that was promised to on-demand and has no node yet will go to no other.
        """
        on_demand = self._fleet.of[Capacity.ON_DEMAND]
        there = self._nodes_of.get(controller_key, _NONE)
        waiting = self._promised_of.get(controller_key, set()) - {but}
        return len(waiting) + sum(count for node, count in there.items() if node in on_demand)

    def promise(self, uid: str, controller_key: str) -> bool:
        """A pod that waits for its node will go to on-demand; whether that is news."""
        is_new = uid not in self._promised
        self._promised[uid] = controller_key
        self._promised_of[controller_key].add(uid)
        return is_new

    def is_waiting(self, uid: str, controller_key: str) -> bool:
        """Whether a pod of this workload waits for its node."""
        seen = self._seen.get(uid)
        return seen is not None and not seen.node and seen.controller_key == controller_key

    def see(self, pod: Pod) -> None:
        """A pod is so. One that has ended, or is told to go, holds no place of a floor."""
        self.lose(pod.uid, but_promised=pod.active and not pod.spec.node_name)
        if pod.finished:
            return
        requests = pod.requests
        load = Load(*(requests.get(each, 0.0) for each in Load._fields))
        key = "" if pod.leaving or pod.released else pod.controller_key
        seen = self._seen[pod.uid] = _Seen(pod.spec.node_name, key, load)
        if seen.node:
            self._fleet.add(seen.node, load)
            if key:
                self._nodes_of[key][seen.node] += 1

    def lose(self, uid: str, *, but_promised: bool = False) -> None:
        """A pod is gone."""
        if not but_promised:
            self._keep_promise(uid)
        seen = self._seen.pop(uid, None)
        if seen is None or not seen.node:
            return
        self._fleet.add(seen.node, Load(-seen.load.cpu, -seen.load.memory))
        there = self._nodes_of.get(seen.controller_key)
        if there is not None:
            there[seen.node] -= 1
            if not there[seen.node]:
                del there[seen.node]
            if not there:
                del self._nodes_of[seen.controller_key]

    def _keep_promise(self, uid: str) -> None:
        controller_key = self._promised.pop(uid, "")
        others = self._promised_of.get(controller_key, set())
        others.discard(uid)
        if not others:
            self._promised_of.pop(controller_key, None)
