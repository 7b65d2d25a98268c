"""Which capacity types a pod's own rules allow: its node selector and required node affinity."""

from collections.abc import Iterable
from typing import Final

from evenkeel.model.affinity import NewPodSpec, NodeRequirement, NodeSelectorTerm
from evenkeel.model.capacity import Capacity, CapacityLabels, says_spot

ON_DEMAND_VALUES: Final = frozenset({"on-demand", "on_demand", "ondemand"})
"""How capacity labels spell on-demand, compared without case."""

_BOTH: Final = frozenset(Capacity)


def allowed_by(spec: NewPodSpec, labels: CapacityLabels) -> frozenset[Capacity]:
    """The capacity types that a pod may go to by its own rules, of which these labels tell.

    - each capacity label in its node selector allows the type of its value alone;
    - of the terms of its required affinity one has to allow a type; within a term every clause;
    - a term without clauses matches no node;
    - what is said of other labels allows both.
    """
    selected = _each(
        {_type_of(value)} for key, value in (spec.node_selector or {}).items() if key in labels
    )
    required = spec.node_affinity.required
    if required is None:
        return selected
    own = [term for term in required.node_selector_terms or () if not term.is_empty]
    terms = [_by_term(term, labels) for term in own]
    return selected & frozenset().union(*terms)


def _by_term(term: NodeSelectorTerm, labels: CapacityLabels) -> frozenset[Capacity]:
    return _each(
        _by_clause(clause) for clause in term.match_expressions or () if clause.key in labels
    )


def _by_clause(clause: NodeRequirement) -> frozenset[Capacity]:
    """What one clause about a capacity label allows.

    NotIn of one spelling excludes its type, however the node spells it. A node without
    the label may be of either type.
    """
    values = clause.values or ()
    if clause.operator == "In":
        return frozenset(_type_of(value) for value in values)
    if clause.operator == "NotIn":
        spot = {Capacity.SPOT for value in values if says_spot(value)}
        on_demand = {Capacity.ON_DEMAND for v in values if v.lower() in ON_DEMAND_VALUES}
        return _BOTH - spot - on_demand
    return _BOTH


def _each(allowed: Iterable[Iterable[Capacity]]) -> frozenset[Capacity]:
    """The types that all of these allow; both if there are none."""
    return _BOTH.intersection(*allowed)


def _type_of(value: str) -> Capacity:
    return Capacity.SPOT if says_spot(value) else Capacity.ON_DEMAND
