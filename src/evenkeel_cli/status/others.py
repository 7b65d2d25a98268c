"""Pods of no Deployment or StatefulSet for which somebody asks a floor all the same."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from evenkeel.decisions.floor.source import FloorOf, floor_of, floor_of_any
from evenkeel.decisions.placement.verdict import capacity_of_any
from evenkeel.flows.reads import answered
from evenkeel.model import names
from evenkeel.model.annotations import MANAGED
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import KINDS
from evenkeel.model.deployment import Deployment
from evenkeel.model.deployments import reading
from evenkeel.model.meta import Reference
from evenkeel.model.node_bound import is_of_node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get
from evenkeel.model.workload import Workload
from evenkeel.ports import Cluster
from evenkeel_cli import words

type Owners = Mapping[str, Workload]
"""The workloads of pods, by the keys of the controllers that the pods have."""


def placed(pods: Iterable[Pod], namespaces: Iterable[Namespace]) -> list[tuple[Pod, Namespace]]:
    """Those of managed namespaces that belong to no node, with their namespaces."""
    managed = {space.name: space for space in namespaces if _is_managed(space)}
    return [
        (pod, managed[pod.namespace])
        for pod in pods
        if pod.active and pod.namespace in managed and not (is_of_node(pod) or pod.released)
    ]


def owners(cluster: Cluster, pods: Iterable[Pod]) -> Owners:
    """The workloads of these pods that are of a known kind, and can be read.

    Raises ClusterError.
    """
    by_controller = {pod.controller_key: pod for pod in pods}
    controllers: list[Any] = [
        Get(KINDS[owner.full_kind], owner.name, pod.namespace)
        for pod in by_controller.values()
        if (owner := pod.controller) is not None and owner.full_kind in KINDS
    ]
    replies = answered(cluster.perform(controllers))
    found = [each for reply in replies if isinstance(each := reply.result, Controller)]
    above = {
        each.key: reading(owner, each.namespace) for each in found if (owner := each.deployment)
    }
    tops = dict(zip(above, answered(cluster.perform([*above.values()])), strict=True))
    deployments = {
        key: top for key, reply in tops.items() if isinstance(top := reply.result, Deployment)
    }
    return {each.key: each for each in found if each.key not in above} | deployments


def told(
    pods: Iterable[tuple[Pod, Namespace]],
    workloads: Owners,
    capacity: Callable[[Pod], Capacity | None],
) -> Iterator[str]:
    """A sentence for each owner: how many of its pods are where, and by which floor."""
    found = defaultdict[tuple[str, str], Counter[Capacity | None]](Counter)
    for pod, space in pods:
        workload, notes = workloads.get(pod.controller_key), space.metadata.annotations
        if workload is not None:
            floor = floor_of(workload, notes, in_gang=False)
        else:
            floor = floor_of_any(pod.metadata.annotations, space.name, notes, in_gang=False)
        if floor.is_asked:
            owner = workload.reference if workload is not None else _owner(pod)
            found[words.workload_name(owner), _does(floor, workload)][capacity(pod)] += 1
    for (owner_, does), counts in sorted(found.items()):
        yield (
            f"{owner_}: {does}; now {counts[Capacity.ON_DEMAND]} on on-demand,"
            f" {counts[Capacity.SPOT]} on spot, {counts[None]} waiting. Restore moves none of them."
        )


def _does(floor: FloorOf, workload: Workload | None) -> str:
    called = f"the floor {floor.floor} ({floor.source})"
    if workload is not None:
        size = workload.at_a_time if isinstance(workload, Controller) else workload.replicas
        return f"{called} has {floor.floor.of(size)} of {size} new pods placed on on-demand"
    if capacity_of_any(floor) is not None:
        return f"{called} places its new pods"
    return f"{called} places none of its pods, whose number is not known: write all or none"


def _is_managed(space: Namespace) -> bool:
    is_own = space.name in names.CLUSTERS_OWN
    return MANAGED.of(space.metadata.labels) == names.TRUE and not is_own


def _owner(pod: Pod) -> Reference:
    owner = pod.controller
    if owner is None:
        return pod.reference
    return Reference(kind=owner.full_kind, namespace=pod.namespace, name=owner.name)
