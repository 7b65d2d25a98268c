"""Capacity types, and the node labels that tell them."""

from collections.abc import Iterable, Mapping, Sequence
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


SPELLINGS: Final = (names.SPOT, names.SPOT.upper(), names.SPOT.capitalize())
"""How the values of capacity labels, and of taints with their keys, spell spot."""

ON_DEMAND_VALUES: Final = frozenset({"on-demand", "on_demand", "ondemand"})
"""How capacity labels spell on-demand, compared without case."""

ALL_ELSE_ON_DEMAND: Final = frozenset({names.EKS_CAPACITY, names.KARPENTER_CAPACITY})
"""Labels that EKS and Karpenter write: each value but spot is on-demand, such as ``reserved``."""


NEVER_SPOT: Final = frozenset({"", *names.WITHOUT_INSTANCES})
"""What runs nodes that are on-demand if no label says what they are: EC2, and EKS without it.

EKS runs no pods on Fargate Spot: https://docs.aws.amazon.com/eks/latest/userguide/fargate.html
"""


class CapacityLabels(msgspec.Struct, frozen=True):
    """The node labels that tell the capacity type.

    A node is spot if one of them says so. It is on-demand if one of them says that, and if it has
    none, unless somebody else than EC2 runs it and may sell spot nodes. What says neither, such as
    ``lifecycle=Ec2Spot``, counts as spot and is not called so: no floor holds there, and no pod is
    sent there as to spot. A node in an interruptible Capacity Reservation is spot, also if a label
    says on-demand: EC2 takes it back.

    ``values`` has the keys of labels that say spot by other values as well, which may be empty, and
    these; each value of theirs that does not say spot is on-demand. ``doubtful`` are the labels of
    nodes that say neither, as key and value. ``names_interruptible``: placement may name that node
    label to pods, because there is such a node. Where there is none, Karpenter may be a version
    that makes no node for such pods.
    """

    keys: tuple[str, ...] = names.CAPACITY_LABELS
    names_interruptible: bool = False
    values: Mapping[str, tuple[str, ...]] = {}
    doubtful: tuple[tuple[str, str], ...] = ()

    def of(self, node: Node) -> Capacity:
        """The capacity type that a node counts as."""
        is_sure = self._says(node, Capacity.ON_DEMAND) or (
            not self.are_on(node) and node.elsewhere in NEVER_SPOT
        )
        is_spot = self.call_spot(node) or not is_sure
        return Capacity.SPOT if is_spot else Capacity.ON_DEMAND

    def elsewhere(self, node: Node) -> str:
        """What runs a node that no EC2 instance runs, as ``Node`` has it; empty of another.

        Also empty if one of them says what it is: then somebody means it to be counted.
        """
        return "" if self.are_on(node) else node.elsewhere

    def call_spot(self, node: Node) -> bool:
        """Whether a label says that a node is spot."""
        return self._says(node, Capacity.SPOT) or is_interruptible(node)

    def doubt_about(self, node: Node) -> tuple[str, str] | None:
        """The label of a node that says neither, as key and value; None if its type is known."""
        if self.call_spot(node) or self._says(node, Capacity.ON_DEMAND):
            return None
        its = node.metadata.labels
        return next(((key, its[key]) for key in self.keys if key in its), None)

    def _says(self, node: Node, capacity: Capacity) -> bool:
        its = node.metadata.labels
        return any(self.meant(key, its[key]) is capacity for key in self.keys if key in its)

    def meant(self, key: str, value: str) -> Capacity | None:
        """What a label means by its value; None if neither capacity type."""
        if value in self.spot_values(key) or value.lower() == names.SPOT:
            return Capacity.SPOT
        if self.all_else_is_on_demand(key) or value.lower() in ON_DEMAND_VALUES:
            return Capacity.ON_DEMAND
        return None

    def all_else_is_on_demand(self, key: str) -> bool:
        """Whether each value of a label but those that say spot means on-demand."""
        return key in self.values or key in ALL_ELSE_ON_DEMAND

    def spot_values(self, key: str) -> tuple[str, ...]:
        """The values by which a label says spot, the one to write first."""
        return tuple(dict.fromkeys((*self.values.get(key, ()), *SPELLINGS)))

    def doubtful_values(self, key: str) -> tuple[str, ...]:
        """The values of a label on nodes of which it says neither."""
        return tuple(value for its, value in self.doubtful if its == key)

    def among(self, nodes: Iterable[Node]) -> "CapacityLabels":
        """The labels by which pods may ask for one of these nodes."""
        known = list(nodes)
        return msgspec.structs.replace(
            self,
            names_interruptible=any(map(is_interruptible, known)),
            doubtful=tuple(sorted({d for node in known if (d := self.doubt_about(node))})),
        )

    def are_on(self, node: Node) -> bool:
        """Whether a node has one of them at all."""
        return any(key in node.metadata.labels for key in self.keys)

    def __contains__(self, key: str) -> bool:
        """Whether a label is one of them."""
        return key in self.keys

    def __str__(self) -> str:
        """As the setting has them, for a sentence."""
        also = (names.INTERRUPTIBLE,) if self.names_interruptible else ()
        return ", ".join((*self.given, *also))

    def naming(self, key: str, value: str) -> str:
        """The setting by which this value of a label says spot, too."""
        values = {**self.values, key: (*self.values.get(key, ()), value)}
        return ",".join(msgspec.structs.replace(self, values=values).given)

    @property
    def spot_label(self) -> str:
        """What to label a spot node with."""
        key = self.keys[0]
        return f"{key}={self.spot_values(key)[0]}"

    @property
    def given(self) -> Sequence[str]:
        """The parts of the setting."""
        return [
            part
            for key in self.keys
            for part in ([f"{key}={value}" for value in self.values.get(key, ())] or [key])
        ]


WELL_KNOWN: Final = CapacityLabels()
"""What EKS and Karpenter set, and what a node can be labelled with by hand."""


def is_in_block(node: Node) -> bool:
    """Whether a node is in a Capacity Block, by the label of EKS or Karpenter."""
    its = node.metadata.labels
    by_karpenter = its.get(names.RESERVATION_TYPE) == "capacity-block"
    return by_karpenter or its.get(names.EKS_CAPACITY) == "CAPACITY_BLOCK"


def is_interruptible(node: Node) -> bool:
    """Whether a node runs in an interruptible Capacity Reservation, by Karpenter's label."""
    return node.metadata.labels.get(names.INTERRUPTIBLE) == names.TRUE
