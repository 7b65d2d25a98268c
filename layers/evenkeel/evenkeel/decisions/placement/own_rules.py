"""What a live pod asks of its node by itself: less what placement added.

Policies add rules to pods that no template has, so a pod's own rules are what its next pod asks for
too. This is the inverse of ``patch``, as far as rules keep a pod off nodes: preferences do not.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import dropwhile
from typing import Final

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
from evenkeel.model.capacity import SPELLINGS, CapacityLabels
from evenkeel.model.placement import Placed
from evenkeel.model.pod import Pod

type Clauses = Sequence[NodeRequirement]

OF_POOLS: Final = (names.ZONE, names.INSTANCE_TYPE)
"""Labels that a move's clauses after the one for spot are about, if these name pools."""


def own_rules(pod: Pod, labels: CapacityLabels) -> NewPodSpec:
    """The node selector, required affinity and tolerations of a pod, as it came to placement.

    ``labels`` tell what was added; the spellings of spot tell it of pods that were placed while
    others counted. Of a pod that restore moved to spot, terms that were equal are one, and terms
    that match no node are gone.
    """
    spec, note = pod.spec, Placed.of(pod)
    required = spec.affinity.required if spec.affinity is not None else None
    if note is None:
        return rules_of(spec.node_selector, required, spec.tolerations)
    if note.requires_on_demand:
        less = partial(_less_not_spot, labels=labels, barred=note.barred)
        return rules_of(spec.node_selector, _less(required, less), spec.tolerations)
    if note.move:
        required = _less(required, partial(_less_only_spot, labels=labels, barred=note.barred))
        if required is not None:  # each term once: a move to spot makes several of each
            terms = dict.fromkeys(required.node_selector_terms or ())
            required = NodeSelector(node_selector_terms=tuple(terms))
    return rules_of(spec.node_selector, required, _less_borne(spec.tolerations or (), labels))


def rules_of(
    selector: dict[str, str] | None,
    required: NodeSelector | None,
    tolerations: Sequence[Toleration] | None,
) -> NewPodSpec:
    """These rules alone, as ``own_rules`` answers them."""
    affinity = NodeAffinity(required=required) if required is not None else None
    return NewPodSpec(
        node_selector=selector or None,
        affinity=NewAffinity(node_affinity=affinity) if affinity is not None else None,
        tolerations=tuple(tolerations or ()) or None,
    )


def _less(required: NodeSelector | None, less: Callable[[Clauses], Clauses]) -> NodeSelector | None:
    """The required affinity with ``less`` of each term's clauses; None if none of it is left."""
    if required is None:
        return None
    found = []
    for term in required.node_selector_terms or ():
        rest = less(term.match_expressions or ())
        left = msgspec.structs.replace(term, match_expressions=tuple(rest) or None)
        if left.is_empty and not term.is_empty:
            return None
        found.append(left)
    return NodeSelector(node_selector_terms=tuple(found))


def _less_not_spot(clauses: Clauses, labels: CapacityLabels, barred: Sequence[str]) -> Clauses:
    """Without the last clauses of ``not_spot``, and those about labels that a move bars.

    Which values say neither capacity type changes while a pod lives, so all of these are taken.
    Where the labels have changed, or another webhook came between, all that is like them is.
    """
    sure = not_spot(msgspec.structs.replace(labels, names_interruptible=False, doubtful=()))
    start = _last(clauses, sure)
    if start is None:
        return [each for each in clauses if not _keeps_off_spot(each, labels)]
    rest = clauses[start + len(sure) :]
    rest = [*dropwhile(partial(_keeps_off_spot, labels=labels), rest)]
    return [*clauses[:start], *dropwhile(lambda each: each.key in barred, rest)]


def _keeps_off_spot(clause: NodeRequirement, labels: CapacityLabels) -> bool:
    """Whether a clause excludes values of capacity labels, as ``not_spot`` has them."""
    is_known = clause.key in labels or clause.key == names.INTERRUPTIBLE
    return clause.operator == "NotIn" and (is_known or clause.values == SPELLINGS)


def _less_only_spot(clauses: Clauses, labels: CapacityLabels, barred: Sequence[str]) -> Clauses:
    """Without the last clause that asks for spot, and what follows it about domains and pools."""
    asking = is_spot(msgspec.structs.replace(labels, names_interruptible=True))
    added = [
        index
        for index, each in enumerate(clauses)
        if each in asking or (each.operator, each.values) == ("In", SPELLINGS)
    ]
    if not added:
        return clauses
    rest = clauses[added[-1] + 1 :]
    return [
        *clauses[: added[-1]],
        *dropwhile(lambda each: each.key in (*OF_POOLS, *barred), rest),
    ]


def _less_borne(there: Sequence[Toleration], labels: CapacityLabels) -> Sequence[Toleration]:
    """Without those that were added last: those that no other one covers.

    That of headroom may be among them. If it is all that could be, and is there, it was added.
    """
    headroom = bears_headroom()
    wanted = (*bears_spot(labels), headroom)
    wide = [each for each in there if each.operator == "Exists" and not each.effect]
    covered = [each for other in wide for each in wanted if covers_more(other, each)]
    every = [each for each in wanted if each not in covered]
    few = [each for each in every if each != headroom]
    starts = ((_last(there, block), block) for block in (few, every) if block)
    found = [(at + len(block), at) for at, block in starts if at is not None]
    if not found:
        return there
    end, start = max(found)
    return [*there[:start], *there[end:]]


def _last[T](there: Sequence[T], block: Sequence[T]) -> int | None:
    """Where a list has a block for the last time; None if it does not."""
    starts = reversed(range(len(there)))
    return next((at for at in starts if [*there[at : at + len(block)]] == [*block]), None)
