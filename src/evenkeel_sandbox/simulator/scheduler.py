"""The scheduler: one pod after the other, the most important first.

It does not preempt: nothing here needs pods to be killed for others. A pod that finds no node
waits until something that could help has changed, and at least its back-off (1 s, doubled up
to 10 s). Of a gang it binds the minimum at once or none.
"""

import functools
import heapq
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from evenkeel_sandbox.simulator import gangs
from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    at,
    condition_of,
    is_finished,
    is_leaving,
    key_of,
    labels_of,
    node_of,
    uid_of,
)
from evenkeel_sandbox.simulator.mounts import Unmountable, mounts_of
from evenkeel_sandbox.simulator.placement import (
    Clause,
    Needs,
    Room,
    anti_affinity,
    closed_to,
    refusal,
    scores,
)
from evenkeel_sandbox.simulator.spread import is_spread, spreads_of
from evenkeel_sandbox.simulator.world import World

ONE_POD = timedelta(seconds=0.003)
"""How long it takes for one pod."""

FIRST_BACK_OFF = timedelta(seconds=1)
LONGEST_BACK_OFF = timedelta(seconds=10)
GATHER = timedelta(milliseconds=10)
"""How long changes are gathered before the pods that found no node are looked at again."""


class Scheduler:
    """Binds pending pods to nodes."""

    def __init__(self, world: World) -> None:
        """Begin to observe nodes and pods."""
        self._world = world
        self._rooms: dict[str, Room] = {}
        self._shy: dict[Key, Obj] = {}
        self._active: dict[Key, int] = {}
        self._ranked: list[tuple[int, int, Key]] = []
        self._failed: dict[Key, datetime] = {}
        self._backoff: set[Key] = set()
        self._uneven: set[Key] = set()
        self._attempts: dict[str, int] = {}
        self._arrivals = 0
        self._due = False
        self._gathering = False
        world.store.observe("Node", self._node_changed)
        world.store.observe("Pod", self._pod_changed)
        for kind in ("PersistentVolume", "PersistentVolumeClaim", "PodGroup"):
            world.store.observe(kind, lambda _old, _new: self._look_again())

    def _node_changed(self, old: Obj | None, new: Obj | None) -> None:
        name = (new or old or {})["metadata"]["name"]
        if new is None:
            self._rooms.pop(name, None)
            return
        if name not in self._rooms:
            self._rooms[name] = Room(new)
            for pod in self._world.store.pods_on(name):
                if not is_finished(pod):
                    self._rooms[name].add(pod)
        self._rooms[name].renew(new)
        if old is None or _offer(old) != _offer(new):
            self._look_again()

    def _pod_changed(self, old: Obj | None, new: Obj | None) -> None:
        key = key_of(new or old or {})
        if old is not None and (new is None or (is_finished(new) and not is_finished(old))):
            self._forget(key, old)
            return
        if new is None:
            return
        node = node_of(new)
        if not node:
            self._enqueue(key, old, new)
            return
        self._active.pop(key, None)
        self._failed.pop(key, None)
        if is_finished(new):
            return
        if node in self._rooms:
            self._rooms[node].add(new)
        if anti_affinity(new):
            self._shy[key] = new
        if (old is not None and node_of(old) and labels_of(old) != labels_of(new)) or (
            self._uneven and (old is None or not node_of(old) or is_leaving(new))
        ):
            self._look_again()

    def _forget(self, key: Key, old: Obj) -> None:
        self._active.pop(key, None)
        self._failed.pop(key, None)
        self._uneven.discard(key)
        self._attempts.pop(uid_of(old), None)
        self._shy.pop(key, None)
        if node_of(old) in self._rooms:
            self._rooms[node_of(old)].remove(old)
        if node_of(old):
            self._look_again()

    def _enqueue(self, key: Key, old: Obj | None, new: Obj) -> None:
        if is_leaving(new) or new["spec"].get("schedulingGates"):
            self._active.pop(key, None)
            self._failed.pop(key, None)
        elif old is None or (key not in self._active and key not in self._failed):
            self._activate(key)
            if old is None and gangs.group_of(new):
                self._look_again()

    def _activate(self, key: Key) -> None:
        self._failed.pop(key, None)
        self._uneven.discard(key)
        self._arrivals += 1
        if key not in self._active:
            self._active[key] = self._arrivals
            heapq.heappush(self._ranked, (*self._rank(key), key))
        if not self._due:
            self._due = True
            self._world.clock.call_in(ONE_POD, self._schedule_one)

    def _look_again(self) -> None:
        """Let the pods that found no node try once more, when their back-off is over."""
        if self._failed and not self._gathering:
            self._gathering = True
            self._world.clock.call_in(GATHER, self._reactivate)

    def _reactivate(self) -> None:
        self._gathering = False
        now = self._world.now()
        for key, free_at in list(self._failed.items()):
            if free_at <= now:
                self._activate(key)
            elif key not in self._backoff:
                self._backoff.add(key)
                self._world.clock.call_at(free_at, functools.partial(self._rested, key))

    def _rested(self, key: Key) -> None:
        self._backoff.discard(key)
        if key in self._failed:
            self._activate(key)

    def _schedule_one(self) -> None:
        self._due = False
        if not self._active:
            return
        key = self._next()
        pod = self._world.store.get("Pod", key)
        if pod is not None and not node_of(pod) and not is_leaving(pod):
            self._place(key, pod)
        if self._active:
            self._due = True
            self._world.clock.call_in(ONE_POD, self._schedule_one)

    def _next(self) -> Key:
        """Take the first of the active; what is no longer active is left in the heap till then."""
        while True:
            _, arrival, key = heapq.heappop(self._ranked)
            if self._active.get(key) == arrival:
                del self._active[key]
                return key

    def _rank(self, key: Key) -> tuple[int, int]:
        pod = self._world.store.get("Pod", key)
        return -int(at(pod or {}, "spec", "priority", default=0)), self._active[key]

    def _place(self, key: Key, pod: Obj) -> None:
        """Bind a pod, and with it those of its gang that have to find nodes at once."""
        found: list[tuple[Obj, str]] = []
        why = Counter({"node(s) for a gang that is not complete": len(self._rooms)})
        for each in gangs.together(self._world.store, pod):
            chosen = self._choose(each)
            if isinstance(chosen, Counter):
                why = chosen
                found = self._take_back(found)
                break
            self._rooms[chosen].add(each)
            found.append((each, chosen))
        if not found:
            self._fail(key, pod, why)
            return
        self._take_back(found)
        for each, chosen in found:
            self._attempts.pop(uid_of(each), None)
            self._world.server.bind(key_of(each), chosen, uid_of(each))

    def _take_back(self, found: list[tuple[Obj, str]]) -> list[tuple[Obj, str]]:
        """Free what was booked for these pods; nothing is left."""
        for each, chosen in found:
            self._rooms[chosen].remove(each)
        return []

    def _choose(self, pod: Obj) -> str | Counter[str]:
        """The node for a pod, or how many nodes there are that will not do, and why."""
        rooms, needs = self._rooms.values(), Needs.of(pod)
        shy = [
            (other, self._rooms[node_of(other)].node)
            for other in self._shy.values()
            if node_of(other) in self._rooms
        ]
        closed = set(closed_to(pod, shy))
        clauses = self.clauses_of(pod)
        why: Counter[str] = Counter()
        for each in clauses:
            if isinstance(each, Unmountable) and each.comes_first:
                why[each.why] = 0
                return why
        fitting: list[Room] = []
        for room in rooms:
            if reason := refusal(pod, needs, room, rooms, closed, clauses):
                why[reason] += 1
            else:
                fitting.append(room)
        if not fitting:
            return why
        ranked = scores(pod, needs, fitting)
        best = max(ranked)
        winners = [room for room, score in zip(fitting, ranked, strict=True) if score == best]
        chosen: str = self._world.rng.choice(winners).node["metadata"]["name"]
        return chosen

    @property
    def rooms(self) -> Sequence[Room]:
        """The nodes, each with what is on it."""
        return [*self._rooms.values()]

    def clauses_of(self, pod: Obj) -> Sequence[Clause]:
        """What a pod's spreads and volumes say of nodes, with the pods that are there."""
        rooms = self._rooms.values()
        return [*spreads_of(pod, rooms), *mounts_of(pod, self._world.store.get, rooms)]

    def _fail(self, key: Key, pod: Obj, why: Counter[str]) -> None:
        attempts = self._attempts.get(uid_of(pod), 0)
        self._attempts[uid_of(pod)] = attempts + 1
        back_off = min(FIRST_BACK_OFF * 2 ** min(attempts, 10), LONGEST_BACK_OFF)
        self._failed[key] = self._world.now() + back_off
        if is_spread(pod):
            self._uneven.add(key)
        told = (f"{count} {reason}" if count else reason for reason, count in sorted(why.items()))
        reasons = ", ".join(told)
        message = f"0/{len(self._rooms)} nodes are available: {reasons}."
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
        }
        known = condition_of(pod, "PodScheduled")
        if known is None or known.get("message") != message:
            self._world.server.set_condition(key, condition)
            self._world.record(pod, "FailedScheduling", message)


def _offer(node: Obj) -> tuple[object, ...]:
    """What of a node matters to a pod that waits for one."""
    return (
        node["metadata"].get("labels"),
        node["spec"].get("taints"),
        node["spec"].get("unschedulable"),
        at(node, "status", "allocatable"),
    )
