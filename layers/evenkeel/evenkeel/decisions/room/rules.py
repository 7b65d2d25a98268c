"""Which nodes a pod may go to, by its rules and the nodes' labels and taints."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from evenkeel.decisions.placement.own_rules import own_rules
from evenkeel.model import names
from evenkeel.model.affinity import (
    NewPodSpec,
    NodeRequirement,
    NodeSelector,
    PreferredTerm,
    Toleration,
)
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.cluster_objects import PersistentVolume, PersistentVolumeClaim
from evenkeel.model.meta import label_holds
from evenkeel.model.node import NO_SCHEDULE, Node, Taint
from evenkeel.model.pod import Pod
from evenkeel.model.quantity import number

KEEPING_OFF: Final = (NO_SCHEDULE, "NoExecute")

NOWHERE: Final = NodeSelector()
"""Without terms no node matches."""


OF_THE_MOMENT: Final = ("node.kubernetes.io/", *names.DRAINING_TAINTS)
"""How keys of taints begin that a node has for a while: another of its pool has none of them."""


class NodeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a pod asks of its node. ``volumes``: which nodes can mount what it mounts."""

    resources: Mapping[str, float]
    rules: NewPodSpec
    volumes: tuple[NodeSelector, ...] = ()


def volumes_of(
    pod: Pod,
    claims: Iterable[PersistentVolumeClaim],
    volumes: Mapping[str, PersistentVolume] | None,
) -> tuple[NodeSelector, ...]:
    """Which nodes can mount what a pod mounts, of its namespace's ``claims``.

    A volume that is bound and not there is on no node. ``volumes`` are those of the cluster, by
    name; None: they may not be read, and no node is known that can mount one.
    """
    if not pod.spec.claims:
        return ()
    volumes = volumes or {}
    mounted = {claim.spec.volume_name for claim in claims if claim.name in pod.spec.claims} - {""}
    found = (volumes[each].required if each in volumes else NOWHERE for each in sorted(mounted))
    return tuple(each for each in found if each is not None)


def request_of(
    pod: Pod,
    labels: CapacityLabels,
    claims: Iterable[PersistentVolumeClaim] = (),
    volumes: Mapping[str, PersistentVolume] | None = None,
) -> NodeRequest:
    """What the next pod asks of its node in the place of this one, besides what placement adds.

    ``claims`` and ``volumes`` as for ``volumes_of``.
    """
    mounted = volumes_of(pod, claims, volumes)
    return NodeRequest(resources=pod.spec.requests, rules=own_rules(pod, labels), volumes=mounted)


def accepts(request: NodeRequest, node: Node, borne: Sequence[Toleration]) -> bool:
    """Whether a node is one that the pod may go to, by its rules and the node's taints.

    ``borne``: what placement lets it tolerate besides.
    """
    return next(_obstacles(request, node, borne, node.spec.taints), None) is None


def obstacle(request: NodeRequest, node: Node, borne: Sequence[Toleration]) -> str:
    """What keeps a pod off a node like this one, as the scheduler looks; empty if nothing does."""
    lasting = [each for each in node.spec.taints if not each.key.startswith(OF_THE_MOMENT)]
    return next(_obstacles(request, node, borne, lasting), "")


def _obstacles(
    request: NodeRequest, node: Node, borne: Sequence[Toleration], taints: Iterable[Taint]
) -> Iterator[str]:
    rules, labels = request.rules, node.metadata.labels
    tolerations = [*(rules.tolerations or ()), *borne]
    for taint in taints:
        if not bears(tolerations, taint):
            yield f"the taint {taint}"
    for key, value in (rules.node_selector or {}).items():
        if labels.get(key) != value:
            yield f"its node selector {key}={value}"
    required = rules.node_affinity.required
    if required is not None and not _allows(required, node):
        yield f"its node affinity {_told(required)}"
    if NOWHERE in request.volumes:
        yield "a volume of which nothing is known"
    elif not all(_allows(each, node) for each in request.volumes):
        yield "a volume that it mounts"


def liking(preferred: Iterable[PreferredTerm], node: Node) -> int:
    """The weights of those of these terms that a node meets, together."""
    met = (
        each
        for each in preferred
        if _allows(NodeSelector(node_selector_terms=(each.preference,)), node)
    )
    return sum(each.weight for each in met)


def _allows(selector: NodeSelector, node: Node) -> bool:
    name = {"metadata.name": node.name}
    for term in selector.node_selector_terms or ():
        by_label = [_holds(each, node.metadata.labels) for each in term.match_expressions or ()]
        by_field = [_holds(each, name) for each in term.match_fields or ()]
        if not term.is_empty and all([*by_label, *by_field]):
            return True
    return False


def _told(selector: NodeSelector) -> str:
    """A node selector in the words of a label selector."""
    terms = []
    for term in selector.node_selector_terms or ():
        clauses = [
            f"{clause.key} {clause.operator}"
            + (f" [{', '.join(clause.values)}]" if clause.values else "")
            for clause in (*(term.match_expressions or ()), *(term.match_fields or ()))
        ]
        terms.append(", ".join(clauses) or "none")
    return "(" + " or ".join(terms) + ")"


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


def _holds(clause: NodeRequirement, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(clause.key), clause.values or ()
    if clause.operator in ("Gt", "Lt") and value is not None and len(values) == 1:
        above = number(value) - number(*values)
        return above > 0 if clause.operator == "Gt" else above < 0
    return bool(label_holds(clause.operator, value, values))
