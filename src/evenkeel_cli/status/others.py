"""Pods of owners whose size is not known, which their own floor places, or their namespace's."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from evenkeel.decisions.floor.source import FloorOf, floor_of_any
from evenkeel.decisions.placement.verdict import capacity_of_any
from evenkeel.model import names
from evenkeel.model.annotations import MANAGED
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import Reference
from evenkeel.model.node_bound import MOVED_CONTROLLERS, is_of_node
from evenkeel.model.pod import Pod
from evenkeel_cli import words


def told(
    pods: Iterable[Pod],
    namespaces: Iterable[Namespace],
    capacity: Callable[[Pod], Capacity | None],
) -> Iterator[str]:
    """A sentence for each owner: how many of its pods are where, by which floor."""
    managed = {space.name: space for space in namespaces if _is_managed(space)}
    found = defaultdict[tuple[str, str], Counter[Capacity | None]](Counter)
    for pod in pods:
        if pod.active and pod.namespace in managed and _is_others(pod):
            floor = _floor(pod, managed[pod.namespace])
            if capacity_of_any(floor) is not None:
                of = f"{floor.floor} ({floor.source})"
                found[words.workload_name(_owner(pod)), of][capacity(pod)] += 1
    for (owner, floor_of_it), counts in sorted(found.items()):
        yield (
            f"{owner}: the floor {floor_of_it} places its new pods; now"
            f" {counts[Capacity.ON_DEMAND]} on on-demand, {counts[Capacity.SPOT]} on spot,"
            f" {counts[None]} waiting. Restore moves none of them."
        )


def _is_managed(space: Namespace) -> bool:
    is_own = space.name in names.CLUSTERS_OWN
    return MANAGED.of(space.metadata.labels) == names.TRUE and not is_own


def _floor(pod: Pod, space: Namespace) -> FloorOf:
    notes = space.metadata.annotations
    return floor_of_any(pod.metadata.annotations, space.name, notes, in_gang=False)


def _is_others(pod: Pod) -> bool:
    owner = pod.controller
    is_known = owner is not None and owner.full_kind in MOVED_CONTROLLERS
    return not (is_of_node(pod) or pod.released or is_known)


def _owner(pod: Pod) -> Reference:
    owner = pod.controller
    if owner is None:
        return pod.reference
    return Reference(kind=owner.full_kind, namespace=pod.namespace, name=owner.name)
