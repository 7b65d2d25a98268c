"""Which nodes a pod may go to, by its rules and the nodes' labels and taints."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec, NodeRequirement, NodeSelectorTerm, Toleration
from evenkeel.model.meta import label_holds
from evenkeel.model.node import Node, Taint
from evenkeel.model.quantity import number

KEEPING_OFF: Final = ("NoSchedule", "NoExecute")


class NodeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a pod asks of its node. ``zone``: it has to be there, because its volumes are."""

    resources: Mapping[str, float]
    rules: NewPodSpec
    zone: str = ""

    @property
    def key(self) -> bytes:
        """Equal for pods that ask for the same."""
        return msgspec.json.encode((self.resources, self.rules, self.zone))


def accepts(request: NodeRequest, node: Node, borne: Sequence[Toleration]) -> bool:
    """Whether a node is one that the pod may go to, by its rules and the node's taints.

    ``borne``: what placement lets it tolerate besides.
    """
    rules, labels = request.rules, node.metadata.labels
    if request.zone and labels.get(names.ZONE) != request.zone:
        return False
    if any(labels.get(key) != value for key, value in (rules.node_selector or {}).items()):
        return False
    required = rules.node_affinity.required
    if required is not None and not any(
        _matches(term, node) for term in required.node_selector_terms or ()
    ):
        return False
    tolerations = [*(rules.tolerations or ()), *borne]
    return all(bears(tolerations, taint) for taint in node.spec.taints)


def bears(tolerations: Sequence[Toleration], taint: Taint) -> bool:
    """Whether a pod with these tolerations may come to a node with this taint."""
    if taint.effect not in KEEPING_OFF:
        return True
    return any(
        each.effect in ("", taint.effect)
        and each.key in ("", taint.key)
        and (each.operator == "Exists" or each.value == taint.value)
        for each in tolerations
    )


def _matches(term: NodeSelectorTerm, node: Node) -> bool:
    return not term.is_empty and all(_clauses(term, node))


def _clauses(term: NodeSelectorTerm, node: Node) -> Iterator[bool]:
    for clause in term.match_expressions or ():
        yield _holds(clause, node.metadata.labels)
    for clause in term.match_fields or ():
        yield _holds(clause, {"metadata.name": node.name})


def _holds(clause: NodeRequirement, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(clause.key), clause.values or ()
    if clause.operator in ("Gt", "Lt") and value is not None and len(values) == 1:
        above = number(value) - number(*values)
        return above > 0 if clause.operator == "Gt" else above < 0
    return bool(label_holds(clause.operator, value, values))
