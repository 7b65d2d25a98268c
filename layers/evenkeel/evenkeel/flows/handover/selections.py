"""Which objects the reconciler reads and watches, as selections."""

from collections.abc import Iterable

from evenkeel.model import names
from evenkeel.model.meta import LabelSelector
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Selection
from evenkeel.model.workload import ReplicaSet

MARKED_NODES = Selection(Node, labels=names.DOOMED)
"""All nodes with a notice."""

RELEASED_PODS = Selection(Pod, labels=names.RELEASED_FROM)
"""All released pods of the cluster."""

OTHER_NODES = Selection(Node, labels=f"!{names.DOOMED},!{names.EXCLUDE_FROM_LOAD_BALANCERS}")
"""Nodes that external load balancers could still send to."""


def pods_on(node_name: str) -> Selection[Pod]:
    """The pods of one node."""
    return Selection(Pod, fields=f"spec.nodeName={node_name}")


def pods_of_hashes(hashes: Iterable[str]) -> Selection[Pod]:
    """The owned pods of these template hashes, in all namespaces."""
    return Selection(Pod, labels=_in(names.TEMPLATE_HASH, hashes))


def replica_sets_of_hashes(hashes: Iterable[str]) -> Selection[ReplicaSet]:
    """The ReplicaSets of these template hashes, in all namespaces."""
    return Selection(ReplicaSet, labels=_in(names.TEMPLATE_HASH, hashes))


def released_from(namespace: str, template_hash: str) -> Selection[Pod]:
    """The pods of a namespace that were released from one template hash."""
    return Selection(Pod, namespace, labels=f"{names.RELEASED_FROM}={template_hash}")


def selected(namespace: str, selector: LabelSelector) -> Selection[Pod]:
    """The pods of a namespace that a label selector selects."""
    return Selection(Pod, namespace, labels=to_text(selector))


def labelled(namespace: str, key: str, value: str) -> Selection[Pod]:
    """The pods of a namespace with one label."""
    return Selection(Pod, namespace, labels=f"{key}={value}")


def to_text(selector: LabelSelector) -> str:
    """A label selector in the API's own syntax. Raises ValueError for an unknown operator."""
    clauses = [f"{key}={value}" for key, value in sorted(selector.match_labels.items())]
    for clause in selector.match_expressions:
        match clause.operator:
            case "In":
                clauses.append(_in(clause.key, clause.values))
            case "NotIn":
                clauses.append(f"{clause.key} notin ({','.join(clause.values)})")
            case "Exists":
                clauses.append(clause.key)
            case "DoesNotExist":
                clauses.append(f"!{clause.key}")
            case other:
                message = f"unknown label selector operator {other!r}"
                raise ValueError(message)
    return ",".join(clauses)


def _in(key: str, values: Iterable[str]) -> str:
    return f"{key} in ({','.join(sorted(set(values)))})"
