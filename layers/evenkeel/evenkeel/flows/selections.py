"""Which objects the reconciler reads and watches, as selections."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from evenkeel.decisions.drain.route import LONGEST_HASH
from evenkeel.model import names, selectors
from evenkeel.model.meta import LabelSelector, LabelSelectorRequirement
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection
from evenkeel.model.workload import Controller, Job, ReplicaSet, StatefulSet

MARKED_NODES = Selection(Node, labels=names.DOOMED)
"""All nodes with a notice."""

RELEASED_PODS = Selection(Pod, labels=names.RELEASED_FROM)
"""All released pods of the cluster."""

OTHER_NODES = Selection(Node, labels=f"!{names.DOOMED},!{names.EXCLUDE_FROM_LOAD_BALANCERS}")
"""Nodes that external load balancers could still send to."""


ON_NODE = "spec.nodeName="
"""The field selector of the pods of a node, but for its name."""


def pods_on(node_name: str) -> Selection[Pod]:
    """The pods of one node."""
    return Selection(Pod, fields=ON_NODE + node_name)


def candidates_on(node_name: str) -> List[Pod]:
    """What to ask for the pods of a node; the API server's cache is good enough for candidates."""
    return List(pods_on(node_name), fresh=False)


class PodLabel(NamedTuple):
    """A label by which a watch can select pods: it stays on a pod as long as the pod lives."""

    key: str
    value: str

    @property
    def values(self) -> Sequence[str]:
        """The values that the label may have: a release changes the template hash.

        No pod is released whose label would get too long.
        """
        if self.key != names.TEMPLATE_HASH or len(self.value) > LONGEST_HASH:
            return (self.value,)
        return self.value, names.released_hash(self.value)


KEYS = (names.TEMPLATE_HASH, names.POD_NAME, names.JOB_UID)
"""The keys of such labels, in the order in which they get watches: ReplicaSets' pods first."""

LONGEST_LABEL = 63
"""Characters of a label's value."""

MOST_ORDINALS = 1_000
"""A StatefulSet with more replicas is not watched: it would take the room of all others."""


def labels_of(controller: Controller) -> frozenset[PodLabel]:
    """The labels by which all pods of a controller are selected; empty if there are none.

    A ReplicaSet may not select by template hash, and a StatefulSet's name may be too long.
    """
    match controller:
        case ReplicaSet():
            value = controller.spec.selector.match_labels.get(names.TEMPLATE_HASH)
            return frozenset([PodLabel(names.TEMPLATE_HASH, value)] if value else ())
        case StatefulSet():
            spec = controller.spec
            return _of_ordinals(controller.name, spec.ordinals.start, spec.replicas)
        case Job():
            return frozenset([PodLabel(names.JOB_UID, controller.uid)])


@lru_cache(maxsize=1_000)
def _of_ordinals(name: str, start: int, replicas: int) -> frozenset[PodLabel]:
    if replicas > MOST_ORDINALS or len(f"{name}-{start + replicas}") > LONGEST_LABEL:
        return frozenset()
    ordinals = range(start, start + replicas)
    return frozenset(PodLabel(names.POD_NAME, f"{name}-{ordinal}") for ordinal in ordinals)


def labels_on(pod: Pod) -> Iterator[PodLabel]:
    """The labels of a pod by which a watch may select it."""
    labels = pod.metadata.labels
    for key in KEYS:
        if key in labels:
            is_hash = key == names.TEMPLATE_HASH
            yield PodLabel(key, pod.template_hash if is_hash else labels[key])


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

    First the pods, released or not; for template hashes also their ReplicaSets.
    """
    (key,) = {label.key for label in part}
    values = (value for label in part for value in label.values)
    yield Selection(Pod, labels=selectors.any_of(key, values))
    if key == names.TEMPLATE_HASH:
        hashes = (label.value for label in part)
        yield Selection(ReplicaSet, labels=selectors.any_of(key, hashes))


def released_beside(hashes: Collection[str]) -> Selection[Pod]:
    """The released pods that no watch of these template hashes shows; see ``released_hashes``.

    An older version of Evenkeel took the hash label off: the pods that it released are among them.
    """
    clauses = [names.RELEASED_FROM]
    if hashes:
        clauses.append(f"{names.TEMPLATE_HASH} notin ({','.join(sorted(hashes))})")
    return Selection(Pod, labels=",".join(clauses))


def released_hashes(labels: Iterable[PodLabel]) -> frozenset[str]:
    """The template hash labels of pods released from these, as many as fit into one selection."""
    hashes = (names.released_hash(each.value) for each in labels if each.key == KEYS[0])
    return frozenset(next(selectors.chunks(hashes), ()))


def released_from(namespace: str, hashes: Iterable[str]) -> List[Pod]:
    """The request for the pods of a namespace that were released from these template hashes."""
    any_of = LabelSelectorRequirement(
        key=names.RELEASED_FROM, operator="In", values=tuple(sorted(hashes))
    )
    there = LabelSelectorRequirement(key=names.RELEASED_FROM, operator="Exists")
    return pods_selected(namespace, LabelSelector(match_expressions=(there, any_of)))


def of_hash(namespace: str, template_hash: str) -> Selection[Pod]:
    """The pods of a namespace with this template hash, released or not."""
    values = PodLabel(names.TEMPLATE_HASH, template_hash).values
    return Selection(Pod, namespace, labels=selectors.any_of(names.TEMPLATE_HASH, values))


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
