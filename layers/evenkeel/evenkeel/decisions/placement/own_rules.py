"""What a live pod asks of its node by itself: less what placement added.

Policies add rules to pods that no template has, so a pod's own rules are what its next pod asks for
too. This is the inverse of ``patch``, as far as rules keep a pod off nodes: preferences do not.
"""

from collections.abc import Sequence

import msgspec

from evenkeel.decisions.placement.clauses import (
    bears_headroom,
    bears_spot,
    is_spot,
    not_spot,
)
from evenkeel.decisions.placement.patch import covers_more
from evenkeel.model import names
from evenkeel.model.affinity import (
    NewAffinity,
    NewPodSpec,
    NodeAffinity,
    NodeRequirement,
    NodeSelector,
    Toleration,
)
from evenkeel.model.capacity import SPELLINGS, Capacity, CapacityLabels
from evenkeel.model.placement import placed_of
from evenkeel.model.pod import Pod

type Clauses = Sequence[NodeRequirement]


def own_rules(pod: Pod, labels: CapacityLabels) -> NewPodSpec:
    """The node selector, required affinity and tolerations of a pod, as it came to placement.

    ``labels`` tell what was added; the spellings of spot tell it of pods that were placed while
    others counted. Of a pod that restore moved to spot, terms that were equal are one, and terms
    that match no node are gone.
    """
    spec, note = pod.spec, placed_of(pod.metadata.annotations)
    required = spec.affinity.required if spec.affinity is not None else None
    tolerations = spec.tolerations
    if note is not None and note.as_ is Capacity.ON_DEMAND:
        required = _less(required, labels, is_move_to_spot=False)
    elif note is not None:
        tolerations = _less_borne(tolerations or (), labels)
        required = _less(required, labels, is_move_to_spot=True) if note.move else required
    return rules_of(spec.node_selector, required, tolerations)


def rules_of(
    selector: dict[str, str] | None,
    required: NodeSelector | None,
    tolerations: tuple[Toleration, ...] | None,
) -> NewPodSpec:
    """These rules alone, as ``own_rules`` answers them."""
    affinity = NodeAffinity(required=required) if required is not None else None
    return NewPodSpec(
        node_selector=selector or None,
        affinity=NewAffinity(node_affinity=affinity) if affinity is not None else None,
        tolerations=tolerations or None,
    )


def _less(
    required: NodeSelector | None, labels: CapacityLabels, *, is_move_to_spot: bool
) -> NodeSelector | None:
    """The required affinity without what was added to its terms; None if all of it was added."""
    if required is None:
        return None
    every = msgspec.structs.replace(labels, names_interruptible=True)
    found = []
    for term in required.node_selector_terms or ():
        there = term.match_expressions or ()
        rest = _less_only_spot(there, every) if is_move_to_spot else _less_not_spot(there, every)
        left = msgspec.structs.replace(term, match_expressions=tuple(rest) or None)
        if left.is_empty and not term.is_empty:
            return None
        found.append(left)
    once = dict.fromkeys(found) if is_move_to_spot else found
    return NodeSelector(node_selector_terms=tuple(once))


def _less_not_spot(clauses: Clauses, labels: CapacityLabels) -> Clauses:
    replace = msgspec.structs.replace
    few = replace(labels, names_interruptible=False)
    before = (labels, few, replace(labels, doubtful=()), replace(few, doubtful=()))
    left = _cut(clauses, *map(not_spot, before))
    if left is not None:
        return left
    return [each for each in clauses if (each.operator, each.values) != ("NotIn", SPELLINGS)]


def _less_only_spot(clauses: Clauses, labels: CapacityLabels) -> Clauses:
    """Without the last clause that asks for spot, and what follows it about pools."""
    asking = is_spot(labels)
    added = [
        index
        for index, each in enumerate(clauses)
        if each in asking or (each.operator, each.values) == ("In", SPELLINGS)
    ]
    if not added:
        return clauses
    end = added[-1] + 1
    while end < len(clauses) and clauses[end].key in (names.ZONE, names.INSTANCE_TYPE):
        end += 1
    return (*clauses[: added[-1]], *clauses[end:])


def _less_borne(there: Sequence[Toleration], labels: CapacityLabels) -> tuple[Toleration, ...]:
    """Without those that were added: those that no other one covers."""
    wanted = (*bears_spot(labels), bears_headroom())
    added = [each for each in wanted if not any(covers_more(other, each) for other in there)]
    left = _cut(there, added, [each for each in added if each != bears_headroom()])
    return tuple(there if left is None else left)


def _cut[T](there: Sequence[T], *blocks: Sequence[T]) -> Sequence[T] | None:
    """A list without the first of these blocks that it has, at its last place; None without any."""
    for block in blocks:
        size = len(block)
        for start in range(len(there) - size, -1, -1):
            if list(there[start : start + size]) == list(block):
                return [*there[:start], *there[start + size :]]
    return None
