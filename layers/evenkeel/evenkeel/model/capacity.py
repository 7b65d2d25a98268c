"""Capacity types, and the node labels that tell them."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from evenkeel.model import names
from evenkeel.model.node import Node


class Capacity(StrEnum):
    """A capacity type, as the label ``evenkeel.dev/capacity`` spells it."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"

    @property
    def other(self) -> "Capacity":
        """The other one."""
        return Capacity.SPOT if self is Capacity.ON_DEMAND else Capacity.ON_DEMAND


class CapacityLabels(msgspec.Struct, frozen=True):
    """The node labels that tell the capacity type: of several on a node the first here decides.

    A node whose label says anything but spot is on-demand; so is one without any of them. But a
    node in an interruptible Capacity Reservation is spot whatever they say: EC2 takes it back.
    ``names_interruptible``: placement may name that node label to pods, because there is such a
    node. Where there is none, Karpenter may be a version that makes no node for such pods.
    """

    keys: tuple[str, ...] = names.CAPACITY_LABELS
    names_interruptible: bool = False

    def of(self, node: Node) -> Capacity:
        """The capacity type of a node."""
        return Capacity.SPOT if self.call_spot(node) else Capacity.ON_DEMAND

    def call_spot(self, node: Node) -> bool:
        """Whether a node is spot."""
        labels = node.metadata.labels
        value = next((labels[key] for key in self.keys if key in labels), "")
        return says_spot(value) or is_interruptible(node)

    def among(self, nodes: Iterable[Node]) -> "CapacityLabels":
        """The labels by which pods may ask for one of these nodes."""
        found = any(map(is_interruptible, nodes))
        return msgspec.structs.replace(self, names_interruptible=found)

    def are_on(self, node: Node) -> bool:
        """Whether a node has one of them at all."""
        return any(key in node.metadata.labels for key in self.keys)

    def __contains__(self, key: str) -> bool:
        """Whether a label is one of them."""
        return key in self.keys

    def __str__(self) -> str:
        """Their keys, for a sentence."""
        also = (names.INTERRUPTIBLE,) if self.names_interruptible else ()
        return ", ".join((*self.keys, *also))


WELL_KNOWN: Final = CapacityLabels()
"""What EKS and Karpenter set, and what a node can be labelled with by hand."""


def is_interruptible(node: Node) -> bool:
    """Whether a node runs in an interruptible Capacity Reservation, by Karpenter's label."""
    return node.metadata.labels.get(names.INTERRUPTIBLE) == names.TRUE


def says_spot(value: str) -> bool:
    """Whether a value of a capacity label means spot; it is compared without case."""
    return value.lower() == names.SPOT
