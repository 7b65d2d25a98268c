"""An autoscaler: it makes nodes for pods that no node has room for."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any, Final

from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.pool import Pool
from evenkeel_sandbox.simulator.api.objects import Obj, condition_of, is_leaving, node_of, uid_of
from evenkeel_sandbox.simulator.api.watch import in_order
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.placement import Needs, Room, refusal
from evenkeel_sandbox.storms.new_nodes import empty, named, shapes
from evenkeel_sandbox.storms.starts import kind_of

LOOK: Final = timedelta(seconds=1)
MADE: Final = "scaled-"
"""With this the names of its nodes begin."""

SETTLING: Final = timedelta(seconds=15)
"""So long the pods that a new node is for may take to get there: the scheduler lets them rest."""

type Join = Callable[[Sequence[Mapping[str, Any]]], None]


class Autoscaler:
    """Makes on-demand nodes like those that there were at first, one for as many pods as fit.

    A node is there so long after its first pod was found no place: as long as nodes of its type and
    zone take by ``after_of``, else ``after``. Where a zone had only spot nodes of a machine, system
    or device it makes on-demand nodes of their sizes. It removes none.
    """

    def __init__(
        self,
        clock: SimulatedClock,
        cluster: SimulatedCluster,
        labels: CapacityLabels,
        join: Join,
        *,
        after: timedelta,
        after_of: Mapping[Pool, timedelta] = MappingProxyType({}),
    ) -> None:
        """Look around every second from now on. ``join`` lets nodes come. ``made`` counts them."""
        self.made = 0
        self._clock = clock
        self._cluster = cluster
        self._join = join
        self._after = after
        self._after_of = after_of
        self._numbers = count(1)
        self._shapes = shapes(cluster.objects("Node"), labels)
        self._coming: list[Room] = []
        self._planned: set[str] = set()
        clock.call_in(LOOK, self._look)

    def _look(self) -> None:
        for pod in self._waiting():
            needs = Needs.of(pod)
            rooms = [*self._coming, *map(empty, self._offers(pod))]
            clauses = self._cluster.clauses_of(pod)
            there = [*rooms, *self._cluster.rooms]
            fitting = (r for r in rooms if not refusal(pod, needs, r, there, clauses=clauses))
            room = next(fitting, None)
            if room is None:
                continue
            if room not in self._coming:
                self._order(room)
            room.add(pod)
            self._planned.add(uid_of(pod))
        self._clock.call_in(LOOK, self._look)

    def _offers(self, pod: Obj) -> Sequence[Obj]:
        """The nodes that may be made for a pod, in the order in which they are tried."""
        del pod
        return self._shapes

    def _order(self, room: Room) -> None:
        """Have a node come."""
        self._coming.append(room)
        after = self._after_of.get(kind_of(room.node), self._after)
        self._clock.call_in(after, partial(self._add, room))

    def _give_up(self, room: Room) -> None:
        """A node does not come after all: its pods are found another."""
        self._coming.remove(room)
        self._planned.difference_update(map(uid_of, room.pods.values()))

    def _waiting(self) -> Sequence[Obj]:
        """The pods that the scheduler found no node for, and that no coming node is for."""
        return in_order(
            pod
            for pod in self._cluster.server.store.all("Pod")
            if not (node_of(pod) or is_leaving(pod) or uid_of(pod) in self._planned)
            and (condition_of(pod, "PodScheduled") or {}).get("reason") == "Unschedulable"
        )

    def _add(self, room: Room) -> None:
        """A node is there; pods that it was for and that others kept out are found another."""
        if room not in self._coming:
            return
        self._coming.remove(room)
        pods = {uid_of(pod) for pod in room.pods.values()}
        self._clock.call_in(SETTLING, lambda: self._planned.difference_update(pods))
        self.made += 1
        self._join([named(room.node, f"{MADE}{next(self._numbers)}")])
