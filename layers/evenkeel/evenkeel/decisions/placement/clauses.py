"""What a pod is given to ask for a capacity type, in the API's words."""

from collections.abc import Sequence
from typing import Final

from evenkeel.model import names
from evenkeel.model.affinity import (
    NodeRequirement,
    NodeSelectorTerm,
    PreferredTerm,
    Toleration,
)
from evenkeel.model.capacity import CapacityLabels

SPELLINGS: Final = (names.SPOT, names.SPOT.upper(), names.SPOT.capitalize())
"""How the values of capacity labels, and of taints with their keys, spell spot."""


def not_spot(labels: CapacityLabels) -> tuple[NodeRequirement, ...]:
    """Clauses of one term: no label calls the node spot, nor reserved and interruptible."""
    return _about(labels, "NotIn") + not_interruptible(labels)


def not_interruptible(labels: CapacityLabels) -> tuple[NodeRequirement, ...]:
    """A clause for each term: the node's capacity is not reserved and interruptible."""
    return _interruptible(labels, "NotIn")


def is_spot(labels: CapacityLabels) -> tuple[NodeRequirement, ...]:
    """Clauses, each for a term of its own: a label calls the node spot, or interruptible."""
    return _about(labels, "In") + _interruptible(labels, "In")


def rather_spot(labels: CapacityLabels) -> tuple[PreferredTerm, ...]:
    """A term for each clause of ``is_spot``.

    Karpenter takes a preferred term for required until it gives it up, and no node has all labels.
    """
    return _preferred([(clause,) for clause in is_spot(labels)])


def rather_on_demand(labels: CapacityLabels) -> tuple[PreferredTerm, ...]:
    """One term: a node that no label calls spot matches all its clauses."""
    return _preferred([not_spot(labels)])


def bears_spot(labels: CapacityLabels) -> tuple[Toleration, ...]:
    """Tolerations of taints that have a label's key and call the node spot, whatever the effect."""
    return tuple(
        Toleration(key=key, operator="Equal", value=value)
        for key in labels.keys
        for value in SPELLINGS
    )


def bears_headroom() -> Toleration:
    """Toleration of the taint of nodes whose room is kept for workloads of one replica."""
    return Toleration(key=names.HEADROOM, operator="Exists")


def _interruptible(labels: CapacityLabels, operator: str) -> tuple[NodeRequirement, ...]:
    if not labels.names_interruptible:
        return ()
    return (NodeRequirement(key=names.INTERRUPTIBLE, operator=operator, values=(names.TRUE,)),)


def _about(labels: CapacityLabels, operator: str) -> tuple[NodeRequirement, ...]:
    return tuple(
        NodeRequirement(key=key, operator=operator, values=SPELLINGS) for key in labels.keys
    )


def _preferred(terms: Sequence[tuple[NodeRequirement, ...]]) -> tuple[PreferredTerm, ...]:
    return tuple(
        PreferredTerm(weight=100, preference=NodeSelectorTerm(match_expressions=clauses))
        for clauses in terms
    )
