"""Pools: spot nodes that EC2 often takes back together."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.node import Node


class Pool(NamedTuple):
    """Spot nodes of one type in one zone. Nodes without these labels are one pool."""

    type: str = ""
    zone: str = ""

    def __str__(self) -> str:
        """As people read it."""
        return f"{self.type or 'no type'} in {self.zone or 'no zone'}"


def pool_of(node: Node, labels: CapacityLabels) -> Pool | None:
    """The pool of a spot node; None for an on-demand node."""
    if not labels.call_spot(node):
        return None
    its = node.metadata.labels
    return Pool(its.get(names.INSTANCE_TYPE, ""), its.get(names.ZONE, ""))


def pools_of(nodes: Iterable[Node], labels: CapacityLabels) -> Mapping[str, Pool | None]:
    """The pool of each node, by the node's name; None for an on-demand node."""
    return {node.name: pool_of(node, labels) for node in nodes}
