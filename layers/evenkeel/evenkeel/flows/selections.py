"""Which objects the reconciler reads and watches, as selections."""

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from evenkeel.model import names, selectors
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import KINDS
from evenkeel.model.meta import LabelSelector, LabelSelectorRequirement
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.pod_label import KEYS, PodLabel
from evenkeel.model.request import List, Selection

MARKED_NODES = Selection(Node, labels=names.DOOMED)
"""All nodes with a notice."""

RELEASED_PODS = Selection(Pod, labels=names.RELEASED_FROM)
"""All released pods of the cluster."""

SEATS = Selection(Pod, names.SYSTEM_NAMESPACE, labels=names.SEAT)
"""All seats."""

HELD_NODES = Selection(Node, labels=names.SEAT)
"""All nodes whose room is kept for those that take seats."""

OTHER_NODES = Selection(Node, labels=f"!{names.DOOMED},!{names.EXCLUDE_FROM_LOAD_BALANCERS}")
"""Nodes that external load balancers could still send to."""

IN_ZONE = f"!{names.DOOMED},{names.ZONE}="
"""The label selector of the nodes of a zone without a notice, but for the zone."""

PAGE = 50
"""So many nodes are read at a time where one will do: usually the first page has it."""


def left_in(zone: str) -> List[Node]:
    """What to ask for whether a zone has another node that takes pods."""
    return List(Selection(Node, labels=IN_ZONE + zone), limit=PAGE, kept=_if_takes_pods)


def _if_takes_pods(node: Node) -> Node | None:
    return node if node.ready and not node.is_kept_empty else None


ON_NODE = "spec.nodeName="
"""The field selector of the pods of a node, but for its name."""


def pods_on(node_name: str) -> Selection[Pod]:
    """The pods of one node."""
    return Selection(Pod, fields=ON_NODE + node_name)


def candidates_on(node_name: str) -> List[Pod]:
    """What to ask for the pods of a node; the API server's cache is good enough for candidates."""
    return List(pods_on(node_name), fresh=False)


def labels_on(pod: Pod) -> Iterator[PodLabel]:
    """The labels of a pod by which a watch may select it."""
    labels = pod.metadata.labels
    for key in KEYS:
        if key in labels:
            yield PodLabel(key, pod.template_hash if key == pod.hash_label else labels[key])


def chunks_of(labels: Iterable[PodLabel]) -> Iterator[frozenset[PodLabel]]:
    """Labels in parts, each of one key and small enough for a selection of its own."""
    found = sorted(labels, key=lambda label: KEYS.index(label.key))
    for key, of_one_key in groupby(found, key=attrgetter("key")):
        values = (label.value for label in of_one_key)
        for part in selectors.chunks(values, size_of=partial(_size, key)):
            yield frozenset(PodLabel(key, value) for value in part)


def _size(key: str, value: str) -> int:
    return sum(map(selectors.item_size, PodLabel(key, value).values))


def showing(part: Collection[PodLabel]) -> Iterator[Selection[Any]]:
    """What to watch for the pods with these labels (see ``chunks_of``), in all namespaces.

    First the pods, released or not; then the controllers that bear the label, too.
    """
    (key,) = {label.key for label in part}
    values = (value for label in part for value in label.values)
    yield Selection(Pod, labels=selectors.any_of(key, values))
    for kind in KINDS.values():
        if key in kind.watched_by:
            yield Selection(kind, labels=selectors.any_of(key, (label.value for label in part)))


def released_beside(hashes: Collection[PodLabel]) -> Selection[Pod]:
    """The released pods that no watch of these template hashes shows; see ``released_hashes``.

    An older version of Evenkeel took the hash label off: the pods that it released are among them.
    """
    clauses = [names.RELEASED_FROM]
    for key in names.HASHES:
        values = sorted(each.value for each in hashes if each.key == key)
        clauses += [f"{key} notin ({','.join(values)})"] if values else []
    return Selection(Pod, labels=",".join(clauses))


def released_hashes(labels: Iterable[PodLabel]) -> frozenset[PodLabel]:
    """The template hash labels of pods released from these, as many as fit into one selection."""
    hashes = [each for each in labels if each.key in names.HASHES]
    keys = {names.released_hash(each.value): each.key for each in hashes}
    return frozenset(PodLabel(keys[each], each) for each in next(selectors.chunks(keys), ()))


def released_from(namespace: str, hashes: Iterable[str]) -> List[Pod]:
    """The request for the pods of a namespace that were released from these template hashes."""
    any_of = LabelSelectorRequirement(
        key=names.RELEASED_FROM, operator="In", values=tuple(sorted(hashes))
    )
    there = LabelSelectorRequirement(key=names.RELEASED_FROM, operator="Exists")
    return pods_selected(namespace, LabelSelector(match_expressions=(there, any_of)))


def of_hash(pod: Pod) -> Selection[Pod]:
    """The pods of a pod's namespace with the same template hash, released or not."""
    return _of_label(pod.namespace, PodLabel(pod.hash_label, pod.template_hash))


def of_controller(controller: Controller) -> List[Pod]:
    """The request for the pods of a controller, released or not, and perhaps of others."""
    by_hash = next((each for each in controller.pod_labels if each.key in names.HASHES), None)
    if by_hash is not None:
        return List(_of_label(controller.namespace, by_hash))
    return pods_selected(controller.namespace, controller.selector)


def _of_label(namespace: str, label: PodLabel) -> Selection[Pod]:
    return Selection(Pod, namespace, labels=selectors.any_of(label.key, label.values))


def selected(namespace: str, selector: LabelSelector) -> Selection[Pod]:
    """The pods of a namespace that a label selector selects.

    Others, too, if the selector is too long for an address; see ``pods_selected``.
    """
    return Selection(Pod, namespace, labels=selectors.fitting(selector))


def pods_selected(namespace: str, selector: LabelSelector) -> List[Pod]:
    """The request for the pods of a namespace that a label selector selects, and no others."""
    return List(
        selected(namespace, selector),
        kept=lambda pod: pod if selector.matches(pod.metadata.labels) else None,
    )


def labelled(namespace: str, key: str, value: str) -> Selection[Pod]:
    """The pods of a namespace with one label."""
    return Selection(Pod, namespace, labels=f"{key}={value}")
