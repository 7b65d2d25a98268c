"""An autoscaler: it makes nodes for pods that no node has room for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any, Final

from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel_sandbox.simulation import nodes_of
from evenkeel_sandbox.simulator.api.objects import Obj, condition_of, is_leaving, node_of, uid_of
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.placement import Needs, Room, refusal

LOOK: Final = timedelta(seconds=1)
SETTLING: Final = timedelta(seconds=15)
"""So long the pods that a new node is for may take to get there: the scheduler lets them rest."""

type Join = Callable[[Sequence[Mapping[str, Any]]], None]


class Autoscaler:
    """Makes on-demand nodes like those that there were at first, one for as many pods as fit.

    A node is there so long after its first pod was found no place. Where there were only spot nodes
    it makes on-demand nodes of their sizes. It removes none.
    """

    def __init__(
        self,
        clock: SimulatedClock,
        cluster: SimulatedCluster,
        labels: CapacityLabels,
        join: Join,
        *,
        after: timedelta,
    ) -> None:
        """Look around every second from now on. ``join`` lets nodes come. ``made`` counts them."""
        self.made = 0
        self._clock = clock
        self._cluster = cluster
        self._join = join
        self._after = after
        self._numbers = count(1)
        self._shapes = _shapes(cluster, labels)
        self._coming: list[Room] = []
        self._planned: set[str] = set()
        clock.call_in(LOOK, self._look)

    def _look(self) -> None:
        for pod in self._waiting():
            needs = Needs.of(pod)
            rooms = [*self._coming, *(_empty(shape) for shape in self._shapes)]
            room = next((each for each in rooms if not refusal(pod, needs, each, rooms, ())), None)
            if room is None:
                continue
            if room not in self._coming:
                self._coming.append(room)
                self._clock.call_in(self._after, partial(self._add, room))
            room.add(pod)
            self._planned.add(uid_of(pod))
        self._clock.call_in(LOOK, self._look)

    def _waiting(self) -> Iterator[Obj]:
        """The pods that the scheduler found no node for, and that no coming node is for."""
        for pod in self._cluster.objects("Pod"):
            if node_of(pod) or is_leaving(pod) or uid_of(pod) in self._planned:
                continue
            if (condition_of(pod, "PodScheduled") or {}).get("reason") == "Unschedulable":
                yield pod

    def _add(self, room: Room) -> None:
        """A node is there; pods that it was for and that others kept out are found another."""
        self._coming.remove(room)
        pods = {uid_of(pod) for pod in room.pods.values()}
        self._clock.call_in(SETTLING, lambda: self._planned.difference_update(pods))
        self.made += 1
        self._join([_named(room.node, f"scaled-{next(self._numbers)}")])


def _empty(node: Obj) -> Room:
    room = Room(node)
    room.renew(node)
    return room


def _shapes(cluster: SimulatedCluster, labels: CapacityLabels) -> Sequence[Obj]:
    """A node of each kind that may be made, without what was its own."""
    spot = {node.name for node in nodes_of(cluster) if labels.call_spot(node)}
    nodes = [node for node in cluster.objects("Node") if not node["spec"].get("unschedulable")]
    own = [node for node in nodes if node["metadata"]["name"] not in spot]
    found = [_shape(node, labels) for node in own or nodes]
    return list({repr(each): each for each in found}.values())


def _shape(node: Obj, labels: CapacityLabels) -> Obj:
    its = {**node["metadata"].get("labels", {}), "kubernetes.io/hostname": ""}
    its |= {key: "on-demand" for key in labels.keys if key in its}
    taints = [each for each in node["spec"].get("taints", ()) if not _is_passing(each)]
    status = {key: node["status"].get(key, {}) for key in ("capacity", "allocatable")}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"labels": its},
        "spec": {"taints": taints},
        "status": status,
    }


def _is_passing(taint: Mapping[str, Any]) -> bool:
    """Whether a taint says how a node is at the moment."""
    return taint["key"].startswith("node.kubernetes.io/") or taint["key"] in names.DRAINING_TAINTS


def _named(shape: Obj, name: str) -> dict[str, Any]:
    zone = shape["metadata"]["labels"].get(names.ZONE, "zone")
    labels = {**shape["metadata"]["labels"], "kubernetes.io/hostname": name}
    return {
        **shape,
        "metadata": {"name": name, "labels": labels},
        "spec": {**shape["spec"], "providerID": f"aws:///{zone}/i-{name}"},
    }
