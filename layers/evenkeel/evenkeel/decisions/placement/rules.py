"""Which capacity types a pod's own rules allow, and which it rather has.

That is its node selector and required node affinity, and its preferred one.
"""

from collections.abc import Sequence
from typing import Final

from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec, NodeRequirement, NodeSelectorTerm
from evenkeel.model.capacity import ON_DEMAND_VALUES, Capacity, CapacityLabels

_BOTH: Final = frozenset(Capacity)


def allowed_by(spec: NewPodSpec, labels: CapacityLabels) -> frozenset[Capacity]:
    """The capacity types that a pod may go to by its own rules, of which these labels tell.

    - each capacity label in its node selector allows the type of its value alone, and neither if
      its value says neither;
    - of the terms of its required affinity one has to allow a type; within a term every clause;
    - a term without clauses matches no node;
    - a demand for interruptible reserved capacity is one for spot, whatever is said of capacity
      labels, and a demand for reserved capacity that is not interruptible is one for on-demand;
    - what is said of other labels allows both.
    """
    selector = spec.node_selector or {}
    named = ((key, value) for key, value in selector.items() if key in labels)
    selected = _BOTH.intersection(*(_meant(labels, key, value) for key, value in named))
    if names.INTERRUPTIBLE in selector:
        selected = _by_interruption((selector[names.INTERRUPTIBLE],))
    required = spec.node_affinity.required
    if required is None:
        return selected
    own = [term for term in required.node_selector_terms or () if not term.is_empty]
    terms = [_by_term(term, labels) for term in own]
    return selected & frozenset().union(*terms)


def preferred_by(spec: NewPodSpec, labels: CapacityLabels) -> Capacity | None:
    """The capacity type that a pod's own preferences are for; None if they are for neither.

    Of the preferred terms that nodes of one type alone can match the weights are added.
    """
    worth = dict.fromkeys(Capacity, 0)
    for term in spec.node_affinity.preferred or ():
        possible = _by_term(term.preference, labels)
        if len(possible) == 1:
            worth[next(iter(possible))] += term.weight
    if worth[Capacity.SPOT] == worth[Capacity.ON_DEMAND]:
        return None
    return max(worth, key=lambda capacity: worth[capacity])


def _by_term(term: NodeSelectorTerm, labels: CapacityLabels) -> frozenset[Capacity]:
    clauses = term.match_expressions or ()
    for clause in clauses:
        if (clause.key, clause.operator) == (names.INTERRUPTIBLE, "In"):
            return _by_interruption(clause.values or ())
    known = [clause for clause in clauses if clause.key in labels]
    return _BOTH.intersection(*(_by_clause(clause, labels) for clause in known))


def _by_interruption(values: Sequence[str]) -> frozenset[Capacity]:
    """What these values of Karpenter's label allow: only nodes in reserved capacity have it."""
    return frozenset(Capacity.SPOT if v == names.TRUE else Capacity.ON_DEMAND for v in values)


def _by_clause(clause: NodeRequirement, labels: CapacityLabels) -> frozenset[Capacity]:
    """What one clause about a capacity label allows.

    NotIn of one spelling excludes its type, however the node spells it. A node without
    the label may be of either type.
    """
    values = clause.values or ()
    if clause.operator == "In":
        return _meant(labels, clause.key, *values)
    if clause.operator == "NotIn":
        spot = _meant(labels, clause.key, *values) & {Capacity.SPOT}
        on_demand = {Capacity.ON_DEMAND for v in values if v.lower() in ON_DEMAND_VALUES}
        return _BOTH - spot - on_demand
    return _BOTH


def _meant(labels: CapacityLabels, key: str, *values: str) -> frozenset[Capacity]:
    meant = (labels.meant(key, value) for value in values)
    return frozenset(each for each in meant if each is not None)
