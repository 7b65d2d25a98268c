"""Pods of owners whose size is not known, which the floor of their namespace places."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from evenkeel.decisions.floor.source import FloorOf, floor_of_any
from evenkeel.decisions.placement.share import capacity_of_any
from evenkeel.model import names
from evenkeel.model.annotations import MANAGED
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import Reference
from evenkeel.model.pod import MOVED_CONTROLLERS, Pod
from evenkeel_cli import words


def told(
    pods: Iterable[Pod],
    namespaces: Iterable[Namespace],
    capacity: Callable[[Pod], Capacity | None],
) -> Iterator[str]:
    """A sentence for each owner: how many of its pods are where, by which floor."""
    floors = {space.name: floor for space in namespaces if (floor := _placing(space)) is not None}
    found = defaultdict[Reference, Counter[Capacity | None]](Counter)
    for pod in pods:
        if pod.active and pod.namespace in floors and _is_others(pod):
            found[_owner(pod)][capacity(pod)] += 1
    for owner in sorted(found, key=words.workload_name):
        counts = found[owner]
        yield (
            f"{words.workload_name(owner)}: the floor of its namespace,"
            f" {floors[owner.namespace].floor}, places its new pods; now"
            f" {counts[Capacity.ON_DEMAND]} on on-demand, {counts[Capacity.SPOT]} on spot,"
            f" {counts[None]} waiting. Restore moves none of them."
        )


def _placing(space: Namespace) -> FloorOf | None:
    """The floor of a namespace, where it places pods whoever owns them."""
    if MANAGED.of(space.metadata.labels) != names.TRUE or space.name in names.CLUSTERS_OWN:
        return None
    found = floor_of_any(space.name, space.metadata.annotations, in_gang=False)
    return found if capacity_of_any(found) is not None else None


def _is_others(pod: Pod) -> bool:
    owner = pod.controller
    is_known = owner is not None and owner.full_kind in MOVED_CONTROLLERS
    return not (pod.is_of_node or pod.released or is_known)


def _owner(pod: Pod) -> Reference:
    owner = pod.controller
    if owner is None:
        return pod.reference
    return Reference(kind=owner.full_kind, namespace=pod.namespace, name=owner.name)
