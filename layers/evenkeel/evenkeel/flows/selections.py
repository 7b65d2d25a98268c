"""Which objects the reconciler reads and watches, as selections."""

from collections.abc import Iterable, Iterator

from evenkeel.decisions.drain.route import LONGEST_HASH
from evenkeel.model import names, selectors
from evenkeel.model.meta import LabelSelector, LabelSelectorRequirement
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection
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
    """The pods of these template hashes, owned and released; see ``chunks_of``."""
    return Selection(Pod, labels=selectors.any_of(names.TEMPLATE_HASH, with_released(hashes)))


def with_released(hashes: Iterable[str]) -> frozenset[str]:
    """The values of the template hash label of these hashes' pods, owned and released.

    No pod is released whose label would get too long.
    """
    owned = frozenset(hashes)
    return owned | {names.released_hash(each) for each in owned if len(each) <= LONGEST_HASH}


def replica_sets_of_hashes(hashes: Iterable[str]) -> Selection[ReplicaSet]:
    """The ReplicaSets of these template hashes, in all namespaces; see ``chunks_of``."""
    return Selection(ReplicaSet, labels=selectors.any_of(names.TEMPLATE_HASH, hashes))


def chunks_of(hashes: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Template hashes in parts, each small enough for a selection of its own."""
    return selectors.chunks(hashes, size_of=_size_of_both)


def _size_of_both(template_hash: str) -> int:
    return sum(map(selectors.item_size, with_released([template_hash])))


def released_from(namespace: str, hashes: Iterable[str]) -> List[Pod]:
    """What to ask for the pods of a namespace that were released from these template hashes."""
    any_of = LabelSelectorRequirement(
        key=names.RELEASED_FROM, operator="In", values=tuple(sorted(hashes))
    )
    there = LabelSelectorRequirement(key=names.RELEASED_FROM, operator="Exists")
    return pods_selected(namespace, LabelSelector(match_expressions=(there, any_of)))


def selected(namespace: str, selector: LabelSelector) -> Selection[Pod]:
    """The pods of a namespace that a label selector selects.

    More than those where the selector is too long for an address; see ``pods_selected``.
    """
    return Selection(Pod, namespace, labels=selectors.fitting(selector))


def pods_selected(namespace: str, selector: LabelSelector) -> List[Pod]:
    """What to ask for the pods of a namespace that a label selector selects, and no others."""
    return List(
        selected(namespace, selector),
        kept=lambda pod: pod if selector.matches(pod.metadata.labels) else None,
    )


def labelled(namespace: str, key: str, value: str) -> Selection[Pod]:
    """The pods of a namespace with one label."""
    return Selection(Pod, namespace, labels=f"{key}={value}")
