"""What a pod is given to ask for a capacity type, in the API's words."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Final

import msgspec

from evenkeel.model import names
from evenkeel.model.affinity import (
    NodeRequirement,
    NodeSelector,
    NodeSelectorTerm,
    PreferredTerm,
    Toleration,
)
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.move import Domains
from evenkeel.model.pool import Pool

ON_DEMAND_SPELLINGS: Final = ("on-demand", "ON_DEMAND")
"""How Karpenter and EKS spell on-demand in their labels."""


def not_spot(labels: CapacityLabels) -> tuple[NodeRequirement, ...]:
    """Clauses of one term: the node counts as on-demand.

    No label calls it spot, nor reserved and interruptible, nor what says neither.
    """
    spot = ((key, labels.spot_values(key)) for key in labels.keys)
    doubtful = ((key, labels.doubtful_values(key)) for key in labels.keys)
    clauses = tuple(
        NodeRequirement(key=key, operator="NotIn", values=values)
        for key, values in chain(spot, doubtful)
        if values
    )
    return clauses + not_interruptible(labels)


def not_interruptible(labels: CapacityLabels) -> tuple[NodeRequirement, ...]:
    """A clause for each term: the node's capacity is not reserved and interruptible."""
    return _interruptible(labels, "NotIn")


def is_spot(labels: CapacityLabels) -> tuple[NodeRequirement, ...]:
    """Clauses, each for a term of its own: a label calls the node spot, or interruptible."""
    clauses = tuple(
        NodeRequirement(key=key, operator="In", values=labels.spot_values(key))
        for key in labels.keys
    )
    return clauses + _interruptible(labels, "In")


def only_spot(
    required: NodeSelector | None,
    labels: CapacityLabels,
    avoid: Iterable[Pool],
    barred: Domains,
) -> tuple[NodeSelectorTerm, ...]:
    """Terms of which a spot node matches one that is in none of these pools, as its owner's allow.

    Nor in a domain that is barred. One for each clause of ``is_spot`` and each of ``outside``, with
    all that each of the owner's terms says.
    """
    others, off = outside(avoid), not_in(barred)
    asked = [(clause, *other, *off) for clause in is_spot(labels) for other in others]
    return narrowed(required, *asked)


def narrowed(
    required: NodeSelector | None, *clauses: Sequence[NodeRequirement]
) -> tuple[NodeSelectorTerm, ...]:
    """A term for each of these clauses, with all that each of the owner's terms says."""
    own: Sequence[NodeSelectorTerm] = [NodeSelectorTerm()]
    if required is not None:
        own = [term for term in required.node_selector_terms or () if not term.is_empty]
    return tuple(
        msgspec.structs.replace(term, match_expressions=(*(term.match_expressions or ()), *each))
        for term in own
        for each in clauses
    )


def not_in(domains: Domains) -> tuple[NodeRequirement, ...]:
    """Clauses of one term: the node has none of these labels."""
    return tuple(
        NodeRequirement(key=key, operator="NotIn", values=domains[key]) for key in sorted(domains)
    )


def outside(pools: Iterable[Pool]) -> Sequence[tuple[NodeRequirement, ...]]:
    """The clauses of terms: a node in one of these pools matches none, and any other exactly one.

    A term for all other zones, and one for each of their zones, of which a cluster has few.
    """
    types = defaultdict[str, list[str]](list)
    for pool in sorted(pools):
        types[pool.zone].append(pool.type)
    return [
        _none_of(names.ZONE, types),
        *((_is(names.ZONE, zone), *_none_of(names.INSTANCE_TYPE, types[zone])) for zone in types),
    ]


def _none_of(key: str, values: Collection[str]) -> tuple[NodeRequirement, ...]:
    """A node's label has none of these values; that it is not there is one, too: the empty one."""
    named = tuple(filter(None, values))
    clauses = (NodeRequirement(key=key, operator="NotIn", values=named),) if named else ()
    return clauses if "" not in values else (*clauses, NodeRequirement(key=key, operator="Exists"))


def _is(key: str, value: str) -> NodeRequirement:
    if not value:
        return NodeRequirement(key=key, operator="DoesNotExist")
    return NodeRequirement(key=key, operator="In", values=(value,))


def rather_spot(labels: CapacityLabels) -> tuple[PreferredTerm, ...]:
    """A term for each clause of ``is_spot``.

    Karpenter takes a preferred term for required until it gives it up, and no node has all labels.
    """
    return _preferred([(clause,) for clause in is_spot(labels)])


def rather_on_demand(labels: CapacityLabels) -> tuple[PreferredTerm, ...]:
    """One term: a node that no label calls spot matches all its clauses."""
    return _preferred([not_spot(labels)])


def rather_outside(full: Collection[Pool], labels: CapacityLabels) -> tuple[PreferredTerm, ...]:
    """Terms of which a node matches one that is in none of these pools and not labelled on-demand.

    A pod rather goes to a full pool than to on-demand: ``rather_spot`` weighs more. One term for
    each capacity label would be too many, see ``patch``. So a node without any such label, which is
    on-demand, matches one, too.
    """
    if not full:
        return ()
    own = tuple(
        NodeRequirement(key=key, operator="NotIn", values=ON_DEMAND_SPELLINGS)
        for key in labels.keys
    )
    return _preferred([(*own, *other) for other in outside(full)], weight=50)


def rather_safe(lost: Collection[Pool], labels: CapacityLabels) -> tuple[PreferredTerm, ...]:
    """Terms for spot nodes of other types than these pools, and of other zones; there is a pool.

    So a node of a lost pool is worst. Better are nodes of its type, then those of its zone, and
    best those of another type in another zone. These terms come before those of ``rather_spot``:
    Karpenter heeds the heaviest term alone, and of up to 12 terms the first of equal ones.
    """
    types = _none_of(names.INSTANCE_TYPE, sorted({pool.type for pool in lost}))
    zones = _none_of(names.ZONE, sorted({pool.zone for pool in lost}))
    spot = is_spot(labels)
    return (
        *_preferred([(clause, *types) for clause in spot]),
        *_preferred([(clause, *zones) for clause in spot], weight=25),
    )


def bears_spot(labels: CapacityLabels) -> tuple[Toleration, ...]:
    """Tolerations of taints that have a label's key and call the node spot, whatever the effect."""
    return tuple(
        Toleration(key=key, operator="Equal", value=value)
        for key in labels.keys
        for value in labels.spot_values(key)
    )


def bears_headroom() -> Toleration:
    """Toleration of the taint of nodes whose room is kept for workloads of one replica."""
    return Toleration(key=names.HEADROOM, operator="Exists")


def _interruptible(labels: CapacityLabels, operator: str) -> tuple[NodeRequirement, ...]:
    if not labels.names_interruptible:
        return ()
    return (NodeRequirement(key=names.INTERRUPTIBLE, operator=operator, values=(names.TRUE,)),)


def _preferred(
    terms: Sequence[tuple[NodeRequirement, ...]], weight: int = 100
) -> tuple[PreferredTerm, ...]:
    return tuple(
        PreferredTerm(weight=weight, preference=NodeSelectorTerm(match_expressions=clauses))
        for clauses in terms
    )
