"""On which nodes a pod would find room: an estimate from requests and allocatable.

It leaves out what only the scheduler knows: host ports, affinity between pods, spread. A handover
that it was wrong about is rolled back.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from evenkeel.decisions.placement.clauses import bears_spot
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.decisions.room.rules import NodeRequest, accepts, obstacle
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import Capacity
from evenkeel.model.node import Node
from evenkeel.model.quantity import number

_ROUNDING: Final = 1e-6

MOST_NAMED: Final = 3
"""So many obstacles are named at most, the most frequent ones."""


class Shortage(msgspec.Struct, frozen=True):
    """Why no node has a place for a pod; ``obstacles`` keep it off every node that there is."""

    says: str
    obstacles: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether nodes are there and none would take it, however much room they had.

        Without any node that cannot be told.
        """
        return bool(self.obstacles)

    def of(self, pod: str) -> str:
        """The same in a sentence about this pod."""
        why = f": {self.obstacles}" if self.obstacles else ""
        return f"{self.says} {pod}{why}"


class Rooms:
    """The room on nodes that take pods; what is planned takes its part of it."""

    def __init__(self, fleet: Fleet, *, are_full: bool = False) -> None:
        """``are_full``: no node has room.

        Counted are nodes that an EC2 instance runs and that are ready, schedulable and not
        doomed. A node of a pool that lost one lately takes
        pods, but has no room. One whose capacity type is unknown takes no pod that needs a type.
        """
        spot = bears_spot(fleet.labels)
        self._are_full = are_full
        self._lost = fleet.lost
        self._nodes: dict[Capacity | None, list[Node]] = {each: [] for each in (*Capacity, None)}
        self._free: dict[str, dict[str, float]] = {}
        self._refused: dict[tuple[Capacity | None, bytes], int] = {}
        self.labels = fleet.labels
        self._borne = {Capacity.SPOT: spot, Capacity.ON_DEMAND: (), None: ()}
        self._taking: dict[tuple[Capacity, bytes], Sequence[Node]] = {}
        self._fleet = fleet
        self._shortages: dict[tuple[tuple[Capacity, ...], bytes], Shortage] = {}
        for node in fleet.nodes.values():
            if not node.ready or node.spec.unschedulable or node.name in fleet.doomed:
                continue
            if node.name in fleet.elsewhere:
                continue
            is_told = fleet.labels.doubt_about(node) is None
            self._nodes[fleet.capacities[node.name] if is_told else None].append(node)
            used = fleet.used.get(node.name, {})
            self._free[node.name] = {
                name: number(quantity) - used.get(name, 0.0)
                for name, quantity in node.status.allocatable.items()
            }

    def has(self, request: NodeRequest, capacity: Capacity) -> bool:
        """Whether a node of this capacity type has room for a pod."""
        return self._find(request, capacity) is not None

    def take(self, request: NodeRequest, capacity: Capacity, number: int = 1) -> bool:
        """As ``has``, and from now on the room is taken: of ``number`` pods alike all or none."""
        taken: list[str] = []
        for _ in range(number):
            name = self.place(request, capacity)
            if name is None:
                for each in taken:
                    self._add(each, request, 1)
                if taken:
                    del self._refused[capacity, _key(request)]  # there is some again
                return False
            taken.append(name)
        return True

    def place(self, request: NodeRequest, capacity: Capacity | None) -> str | None:
        """As ``take``: the name of the node whose room is taken; None without one.

        ``capacity`` None: a node whose labels tell none.
        """
        name = self._find(request, capacity)
        if name is not None:
            self._add(name, request, -1)
        return name

    def _add(self, name: str, request: NodeRequest, times: int) -> None:
        """So many times what a pod asks for is free more on a node, or less."""
        free = self._free[name]
        for resource, amount in request.resources.items():
            free[resource] = free.get(resource, 0.0) + times * amount

    def taking(self, rules: NewPodSpec, capacity: Capacity) -> Sequence[Node]:
        """The nodes of this capacity type that take pods with these rules, full ones too."""
        request = NodeRequest(resources={}, rules=rules)
        key = (capacity, _key(request))
        if key not in self._taking:
            borne = self._borne[capacity]
            found = [node for node in self._nodes[capacity] if accepts(request, node, borne)]
            self._taking[key] = found
        return self._taking[key]

    def shortage(self, request: NodeRequest, *capacities: Capacity) -> Shortage:
        """Why no node, or none of these capacity types, has a place for a pod; it was asked before.

        A node that is not Ready, cordoned or doomed tells what others of its pool would take.
        """
        alike = msgspec.structs.replace(request, resources={})
        key = (capacities, _key(alike))
        if key not in self._shortages:
            self._shortages[key] = self._shortage(alike, capacities)
        return self._shortages[key]

    def _shortage(self, request: NodeRequest, capacities: Sequence[Capacity]) -> Shortage:
        which = "".join(f"{each} " for each in capacities)
        found = Counter[str]()
        for name, node in self._fleet.nodes.items():
            capacity = self._fleet.capacities[name]
            if capacity in (capacities or Capacity):
                found[obstacle(request, node, self._borne[capacity])] += 1
        if not found:
            return Shortage(f"there is no {which}node to tell whether one takes")
        if "" in found:
            return Shortage(f"no {which}node has room for")
        named = [
            f"{what} ({count} {'node' if count == 1 else 'nodes'})"
            for what, count in found.most_common(MOST_NAMED)
        ]
        if more := len(found) - len(named):
            named.append("1 other thing" if more == 1 else f"{more} other things")
        return Shortage(f"no {which}node takes", ", ".join(named))

    def accepting(self, requests: Iterable[NodeRequest]) -> Sequence[Node]:
        """The nodes that take a pod of one of these, full ones too."""
        asked = {_key(each): each for each in requests}.values()
        return [
            node
            for capacity, nodes in self._nodes.items()
            for node in nodes
            if any(accepts(each, node, self._borne[capacity]) for each in asked)
        ]

    def _find(self, request: NodeRequest, capacity: Capacity | None) -> str | None:
        """The first node with room.

        Nodes that had none are not tried again: within one plan, room only shrinks.
        """
        key = (capacity, _key(request))
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
        if self._are_full or node.name in self._lost:
            return False
        return all(
            amount <= free.get(resource, 0.0) + _ROUNDING
            for resource, amount in request.resources.items()
        )


def _key(request: NodeRequest) -> bytes:
    """Equal for pods that ask for the same."""
    return msgspec.json.encode((request.resources, request.rules, request.volumes))
