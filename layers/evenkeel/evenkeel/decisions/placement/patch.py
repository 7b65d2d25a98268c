"""The JSON patch of a placed pod. It adds what is missing and changes nothing of its owner's.

``own_rules`` takes it off again, so it adds what its owner says as well, too.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from evenkeel.decisions.placement.clauses import (
    bears_headroom,
    bears_spot,
    is_spot,
    not_in,
    not_spot,
    only_spot,
    rather_on_demand,
    rather_outside,
    rather_safe,
    rather_spot,
)
from evenkeel.decisions.placement.rules import preferred_by
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec, NodeSelectorTerm, PreferredTerm, Toleration
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.move import Domains
from evenkeel.model.placement import NewPod, Placed
from evenkeel.model.pool import Pool
from evenkeel.model.request import Operation, pointer

DELETION_COST: Final = "100"
"""Of a pod of the floor: a ReplicaSet that scales in takes those that cost nothing first."""

_AFFINITY: Final = ("spec", "affinity")
_NODE_AFFINITY: Final = (*_AFFINITY, "nodeAffinity")
_REQUIRED: Final = (*_NODE_AFFINITY, "requiredDuringSchedulingIgnoredDuringExecution")
_PREFERRED: Final = (*_NODE_AFFINITY, "preferredDuringSchedulingIgnoredDuringExecution")
_TOLERATIONS: Final = ("spec", "tolerations")


class KeptOff(NamedTuple):
    """Pools that a pod keeps off.

    It goes to none of those to ``avoid``, and to no domain that is ``barred``, where restore moves
    it; it rather goes to others than ``full`` ones, and than those that ``lost`` a node.
    """

    avoid: Collection[Pool] = ()
    barred: Domains = {}
    full: Collection[Pool] = ()
    lost: Collection[Pool] = ()


NO_POOLS: Final = KeptOff()


MOST_TERMS: Final = 12
"""A pod is given so many preferred terms at most.

Karpenter gives one up after the other until a node fits. It sorts them by weight with Go's
``sort.Slice``, which keeps the order of equal ones in lists of up to 12.
"""


def placement_patch(
    pod: NewPod,
    placed: Placed,
    labels: CapacityLabels,
    *,
    scales_in: bool,
    is_only: bool = False,
    bears: bool = True,
    pools: KeptOff = NO_POOLS,
) -> Sequence[Operation]:
    """Let a pod ask for a capacity type, and note that on it.

    On-demand: no node that any of these labels calls spot. That is added to each term of the
    required affinity, of which one is enough; to a term without clauses, which matches no node, it
    is not: it would match then. Spot: preferred, and taints of these labels are tolerated; required
    where restore moves a pod there, which rolls the move back if no such node has room. On-demand
    by default: preferred above all else, and taints of spot are tolerated: the pod may go there.
    Nothing is preferred that its owner prefers the other type to.
    ``scales_in``: its controller picks which pods go, so a pod of the floor shall go last.
    ``is_only``: its workload has one replica, which reserved headroom is kept for. ``bears``: its
    namespace lets it tolerate more; if not, a further toleration would have it refused.
    """
    spec, there = pod.spec, pod.spec.node_affinity.preferred
    is_again = Placed.of(pod) == placed
    required: Iterable[Operation] = ()
    borne: Sequence[Toleration] = ()
    if placed.requires_on_demand:
        required = _not_on_spot(spec, labels, pools, is_again=is_again)
    else:
        if placed.move:
            required = _only_on_spot(spec, labels, pools, is_again=is_again)
        spot = bears_spot(labels)
        if bears and not (is_again and {*spot}.isdisjoint(spec.tolerations or ())):
            borne = [*spot, *([bears_headroom()] if is_only else [])]
    is_against = preferred_by(spec, labels) not in (None, placed.as_)
    wanted = [] if is_against else _preferences(placed, pools, labels)
    if is_again:
        wanted = [term for term in wanted if not _is_said(term, there or ())]
    asks = [*required, *_items(_PREFERRED, there, wanted)]
    tolerated = spec.tolerations or ()
    lacks = [each for each in borne if not any(covers_more(its, each) for its in tolerated)]
    return [
        *_noted(pod, placed, scales_in=scales_in),
        *(_parents(spec) if asks else ()),
        *asks,
        *_items(_TOLERATIONS, spec.tolerations, lacks, is_again=is_again),
    ]


def _preferences(placed: Placed, pools: KeptOff, labels: CapacityLabels) -> Sequence[PreferredTerm]:
    """Where a pod rather goes, the heaviest term first.

    While pools are lost it does not matter which are full.
    """
    spot = () if placed.move else rather_spot(labels)
    terms: Sequence[PreferredTerm]
    if placed.requires_on_demand:
        terms = ()
    elif placed.preferred:
        terms = [*rather_on_demand(labels), *rather_outside(pools.lost or pools.full, labels)]
    elif pools.lost:
        terms = [*rather_safe(pools.lost, labels), *spot]
    else:
        terms = [*spot, *rather_outside(pools.full, labels)]
    return sorted(terms, key=lambda term: -term.weight)[:MOST_TERMS]


def _is_said(term: PreferredTerm, there: Iterable[PreferredTerm]) -> bool:
    """Whether one of these is as heavy and has all clauses of a term.

    A second review of an admission does not know what the first one knew of nodes and pools.
    """
    clauses = set(term.preference.match_expressions or ())
    return any(
        each.weight == term.weight and clauses <= set(each.preference.match_expressions or ())
        for each in there
    )


def _noted(pod: NewPod, placed: Placed, *, scales_in: bool) -> Iterator[Operation]:
    annotations = pod.metadata.annotations
    notes = {names.PLACED: placed.encode()}
    costs = scales_in and placed.as_ is Capacity.ON_DEMAND
    if costs and names.POD_DELETION_COST not in (annotations or {}):
        notes[names.POD_DELETION_COST] = DELETION_COST
    yield from _entries(("metadata", "annotations"), annotations, notes)
    label = {names.CAPACITY: placed.as_.value}
    yield from _entries(("metadata", "labels"), pod.metadata.labels, label)


def _entries(
    path: Sequence[str], there: Mapping[str, str] | None, entries: Mapping[str, str]
) -> Iterator[Operation]:
    if there is None:
        yield Operation("add", pointer(*path), dict(entries))
        return
    for key, value in entries.items():
        if there.get(key) != value:
            yield Operation("add", pointer(*path, key), value)


def _not_on_spot(
    spec: NewPodSpec, labels: CapacityLabels, pools: KeptOff, *, is_again: bool
) -> Iterator[Operation]:
    required = spec.node_affinity.required
    clauses = (*not_spot(labels), *not_in(pools.barred))
    if required is None:
        term = NodeSelectorTerm(match_expressions=clauses)
        yield Operation(
            "add", pointer(*_REQUIRED), {"nodeSelectorTerms": [msgspec.to_builtins(term)]}
        )
        return
    for index, term in enumerate(required.node_selector_terms or ()):
        if not term.is_empty:
            path = (*_REQUIRED, "nodeSelectorTerms", index, "matchExpressions")
            yield from _items(path, term.match_expressions, clauses, is_again=is_again)


def _only_on_spot(
    spec: NewPodSpec, labels: CapacityLabels, pools: KeptOff, *, is_again: bool
) -> Iterator[Operation]:
    """The terms of ``only_spot``, unless that was done and each is there.

    Nothing where no term of the owner's matches a node.
    """
    required = spec.node_affinity.required
    own = required.node_selector_terms or () if required is not None else (NodeSelectorTerm(),)
    terms = (term for term in own if required is None or not term.is_empty)
    asking = [set(term.match_expressions or ()) for term in terms]
    clauses = is_spot(msgspec.structs.replace(labels, names_interruptible=True))
    if asking and not (is_again and all(not each.isdisjoint(clauses) for each in asking)):
        wanted = only_spot(required, labels, pools.avoid, pools.barred)
        yield Operation(
            "add", pointer(*_REQUIRED), {"nodeSelectorTerms": msgspec.to_builtins(wanted)}
        )


def covers_more(there: Toleration, wanted: Toleration) -> bool:
    """Whether a toleration that is there tolerates all that the wanted one would, and more."""
    covers = there.operator == "Exists" and not there.effect and there.key in ("", wanted.key)
    return covers and there != wanted


def _parents(spec: NewPodSpec) -> Iterator[Operation]:
    """Make what the affinity is written into, where it is not there."""
    if spec.affinity is None:
        yield Operation("add", pointer(*_AFFINITY), {"nodeAffinity": {}})
    elif spec.affinity.node_affinity is None:
        yield Operation("add", pointer(*_NODE_AFFINITY), {})


def _items(
    path: Sequence[str | int],
    there: Sequence[object] | None,
    wanted: Sequence[object],
    *,
    is_again: bool = True,
) -> Iterator[Operation]:
    """Append to a list what it lacks, or all unless that was done; make the list without one."""
    known = (there or ()) if is_again else ()
    missing = [msgspec.to_builtins(each) for each in wanted if each not in known]
    if not missing:
        return
    if there is None:
        yield Operation("add", pointer(*path), missing)
        return
    for each in missing:
        yield Operation("add", pointer(*path, "-"), each)
