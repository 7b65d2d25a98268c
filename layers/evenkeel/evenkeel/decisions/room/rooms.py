"""On which nodes a pod would find room: an estimate from requests and allocatable.

It leaves out what only the scheduler knows: host ports, affinity between pods, spread. A handover
that it was wrong about is rolled back.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from evenkeel.decisions.placement.clauses import bears_spot
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.decisions.room.rules import NodeRequest, accepts
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import Capacity
from evenkeel.model.node import Node
from evenkeel.model.quantity import number

_ROUNDING: Final = 1e-6


class Rooms:
    """The room on nodes that take pods; what is planned takes its part of it."""

    def __init__(self, fleet: Fleet) -> None:
        """Look at the nodes that are ready, schedulable, not doomed, and in no shifted zone.

        Those of pools that lost a node lately take pods, but have no room.
        """
        self._lost = fleet.lost
        self._nodes: dict[Capacity, list[Node]] = {capacity: [] for capacity in Capacity}
        self._free: dict[str, dict[str, float]] = {}
        self._refused: dict[tuple[Capacity, bytes], int] = {}
        self.labels = fleet.labels
        self._borne = {Capacity.SPOT: bears_spot(fleet.labels), Capacity.ON_DEMAND: ()}
        self._taking: dict[tuple[Capacity, bytes], Sequence[Node]] = {}
        for node in fleet.nodes.values():
            if not node.ready or node.spec.unschedulable or node.name in fleet.doomed:
                continue
            if fleet.is_shifted(node):
                continue
            self._nodes[fleet.labels.of(node)].append(node)
            used = fleet.used.get(node.name, {})
            self._free[node.name] = {
                name: number(quantity) - used.get(name, 0.0)
                for name, quantity in node.status.allocatable.items()
            }

    def has(self, request: NodeRequest, capacity: Capacity) -> bool:
        """Whether a node of this capacity type has room for a pod."""
        return self._find(request, capacity) is not None

    def take(self, request: NodeRequest, capacity: Capacity) -> bool:
        """As ``has``, and from now on the room is taken."""
        return self.take_all(request, capacity, 1)

    def take_all(self, request: NodeRequest, capacity: Capacity, number: int) -> bool:
        """As ``take``, for so many pods alike: all of them or none."""
        taken: list[str] = []
        for _ in range(number):
            name = self.place(request, capacity)
            if name is None:
                self._give_back(request, capacity, taken)
                return False
            taken.append(name)
        return True

    def place(self, request: NodeRequest, capacity: Capacity) -> str | None:
        """As ``take``: the name of the node whose room is taken; None without one."""
        name = self._find(request, capacity)
        if name is not None:
            self._add(name, request, -1)
        return name

    def _give_back(self, request: NodeRequest, capacity: Capacity, taken: Sequence[str]) -> None:
        for name in taken:
            self._add(name, request, 1)
        if taken:
            del self._refused[capacity, request.key]  # there is some again

    def _add(self, name: str, request: NodeRequest, times: int) -> None:
        """So many times what a pod asks for is free more on a node, or less."""
        free = self._free[name]
        for resource, amount in request.resources.items():
            free[resource] = free.get(resource, 0.0) + times * amount

    def taking(self, rules: NewPodSpec, capacity: Capacity) -> Sequence[Node]:
        """The nodes of this capacity type that take pods with these rules, full ones too."""
        request = NodeRequest(resources={}, rules=rules)
        key = (capacity, request.key)
        if key not in self._taking:
            borne = self._borne[capacity]
            found = [node for node in self._nodes[capacity] if accepts(request, node, borne)]
            self._taking[key] = found
        return self._taking[key]

    def accepting(self, requests: Iterable[NodeRequest]) -> Sequence[Node]:
        """The nodes that take a pod of one of these, full ones too."""
        asked = {each.key: each for each in requests}.values()
        return [
            node
            for capacity, nodes in self._nodes.items()
            for node in nodes
            if any(accepts(each, node, self._borne[capacity]) for each in asked)
        ]

    def _find(self, request: NodeRequest, capacity: Capacity) -> str | None:
        """The first node with room.

        Nodes that had none are not tried again: within one plan, room only shrinks.
        """
        key = (capacity, request.key)
        nodes, borne = self._nodes[capacity], self._borne[capacity]
        for position in range(self._refused.get(key, 0), len(nodes)):
            node = nodes[position]
            if self._fits(request, node) and accepts(request, node, borne):
                self._refused[key] = position
                return node.name
        self._refused[key] = len(nodes)
        return None

    def _fits(self, request: NodeRequest, node: Node) -> bool:
        free = self._free[node.name]
        return node.name not in self._lost and all(
            amount <= free.get(resource, 0.0) + _ROUNDING
            for resource, amount in request.resources.items()
        )
