"""On which nodes a pod would find room: an estimate from requests and allocatable.

It leaves out what only the scheduler knows: host ports, affinity between pods, spread, volumes. A
move that it was wrong about is rolled back.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from evenkeel.decisions.placement.clauses import bears_spot
from evenkeel.decisions.restore.snapshot import Fleet
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec, NodeRequirement, NodeSelectorTerm, Toleration
from evenkeel.model.capacity import Capacity
from evenkeel.model.meta import label_holds
from evenkeel.model.node import Node, Taint
from evenkeel.model.quantity import number

KEEPING_OFF: Final = ("NoSchedule", "NoExecute")

_ROUNDING: Final = 1e-6


class NodeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a pod asks of its node. ``zone``: it has to be there, because its volumes are."""

    resources: Mapping[str, float]
    rules: NewPodSpec
    zone: str = ""

    @property
    def key(self) -> bytes:
        """Equal for pods that ask for the same."""
        return msgspec.json.encode((self.resources, self.rules, self.zone))


class Rooms:
    """The room on nodes that take pods; what is planned takes its part of it."""

    def __init__(self, fleet: Fleet) -> None:
        """Look at the nodes that are ready, schedulable and not doomed.

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
            name = self._find(request, capacity)
            if name is None:
                self._give_back(request, capacity, taken)
                return False
            self._add(name, request, -1)
            taken.append(name)
        return True

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
            found = [node for node in self._nodes[capacity] if _accepts(request, node, borne)]
            self._taking[key] = found
        return self._taking[key]

    def _find(self, request: NodeRequest, capacity: Capacity) -> str | None:
        """The first node with room.

        Nodes that had none are not tried again: within one plan, room only shrinks.
        """
        key = (capacity, request.key)
        nodes, borne = self._nodes[capacity], self._borne[capacity]
        for position in range(self._refused.get(key, 0), len(nodes)):
            node = nodes[position]
            if self._fits(request, node) and _accepts(request, node, borne):
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


def _accepts(request: NodeRequest, node: Node, borne: Sequence[Toleration]) -> bool:
    """Whether a node is one that the pod may go to, by its rules and the node's taints.

    ``borne``: what placement lets it tolerate besides.
    """
    rules, labels = request.rules, node.metadata.labels
    if request.zone and labels.get(names.ZONE) != request.zone:
        return False
    if any(labels.get(key) != value for key, value in (rules.node_selector or {}).items()):
        return False
    required = rules.node_affinity.required
    if required is not None and not any(
        _matches(term, node) for term in required.node_selector_terms or ()
    ):
        return False
    tolerations = [*(rules.tolerations or ()), *borne]
    return all(_bears(tolerations, taint) for taint in node.spec.taints)


def _bears(tolerations: Sequence[Toleration], taint: Taint) -> bool:
    if taint.effect not in KEEPING_OFF:
        return True
    return any(
        each.effect in ("", taint.effect)
        and each.key in ("", taint.key)
        and (each.operator == "Exists" or each.value == taint.value)
        for each in tolerations
    )


def _matches(term: NodeSelectorTerm, node: Node) -> bool:
    return not term.is_empty and all(_clauses(term, node))


def _clauses(term: NodeSelectorTerm, node: Node) -> Iterator[bool]:
    for clause in term.match_expressions or ():
        yield _holds(clause, node.metadata.labels)
    for clause in term.match_fields or ():
        yield _holds(clause, {"metadata.name": node.name})


def _holds(clause: NodeRequirement, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(clause.key), clause.values or ()
    if clause.operator in ("Gt", "Lt") and value is not None and len(values) == 1:
        above = number(value) - number(*values)
        return above > 0 if clause.operator == "Gt" else above < 0
    return bool(label_holds(clause.operator, value, values))
