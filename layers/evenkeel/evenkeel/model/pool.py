"""Pools: spot nodes that EC2 often takes back together, and how many pods one is to have."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from evenkeel.model import names
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.node import Node
from evenkeel.model.notes import read_note

FORMS: Final = "30%, another percentage, or a number such as 2"
"""How an owner may write how many pods one pool is to have at most."""

MOST: Final = 16
"""A note names so many pools at most."""

_FORM = re.compile(r"([1-9][0-9]{0,5})(%?)")


class Pool(NamedTuple):
    """Spot nodes of one type in one zone. Nodes without these labels are one pool."""

    type: str = ""
    zone: str = ""

    @property
    def can_be(self) -> bool:
        """Whether labels of nodes can say this."""
        return all(not value or names.is_label_value(value) for value in self)

    def __str__(self) -> str:
        """As people read it."""
        return f"{self.type or 'no type'} in {self.zone or 'no zone'}"


def noted(pools: Sequence[Pool]) -> str:
    """The first of these pools as a note has them: JSON, ``[["m5.large", "eu-central-1a"]]``."""
    return msgspec.json.encode(pools[:MOST]).decode()


def pools_in(note: str | None) -> tuple[Pool, ...]:
    """The pools that a note names, without those that no node's labels can say.

    Anybody who may annotate its object can have written it.
    """
    found = read_note(note, tuple[Pool, ...]) or ()
    return tuple(pool for pool in found[:MOST] if pool.can_be)


def pool_of(node: Node, labels: CapacityLabels) -> Pool | None:
    """The pool of a spot node; None for an on-demand node, and for one that no label tells."""
    if labels.of(node) is Capacity.ON_DEMAND or labels.elsewhere(node):
        return None
    its = node.metadata.labels
    return Pool(its.get(names.INSTANCE_TYPE, ""), node.zone)


def pools_of(nodes: Iterable[Node], labels: CapacityLabels) -> Mapping[str, Pool | None]:
    """The pool of each node, by the node's name; None for one that is in none."""
    return {node.name: pool_of(node, labels) for node in nodes}


class AtMost(msgspec.Struct, frozen=True):
    """So many of a workload's pods, or so many percent of them, are to be in one pool at most."""

    amount: int
    is_percentage: bool = False

    def of(self, wanted: int) -> int:
        """How many of ``wanted`` pods: percentages round down, but not to none."""
        return max(1, wanted * self.amount // 100) if self.is_percentage else self.amount


def read(text: str) -> AtMost | None:
    """What an annotation's value means; None if nothing."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        return None
    made = AtMost(int(found[1]), is_percentage=bool(found[2]))
    return None if made.is_percentage and made.amount > 100 else made
