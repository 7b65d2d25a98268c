"""What an eviction depends on: the pod, its workload and node, and what surrounds them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from evenkeel.decisions.drain.surroundings import Owner, Surroundings
from evenkeel.decisions.handover.census import Census
from evenkeel.decisions.notice import marks
from evenkeel.errors import NotFoundError
from evenkeel.flows import pause, selections
from evenkeel.flows.drain.cache.view import take_census
from evenkeel.flows.remembered import Found, Remembered
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Listing, Read, Selection
from evenkeel.model.surroundings import (
    Namespace,
    NetworkPolicy,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    Service,
)
from evenkeel.model.workload import ReplicaSet
from evenkeel.ports import Clock, Cluster

_AROUND = (PodDisruptionBudget, Service, NetworkPolicy, PersistentVolumeClaim)


@dataclass(frozen=True, slots=True)
class Subject:
    """The pod of an eviction, its namespace, and whether Evenkeel is paused."""

    pod: Pod
    namespace: Namespace
    is_paused: bool


@dataclass(frozen=True, slots=True)
class Workload:
    """Whose the pod is or was, what surrounds it, and the notices of nodes that are drained."""

    owner: Owner
    surroundings: Surroundings = field(default_factory=Surroundings)
    dooms: Mapping[str, NodeNotice] = field(default_factory=dict)


class Reader:
    """Reads for one eviction after the other, or several at once."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        """Nothing is read yet."""
        self._clock = clock
        self._remembered = Remembered(cluster, clock)

    def subject(self, name: str, namespace: str) -> Subject:
        """The pod as it is now. Raises NotFoundError without it, and other ClusterErrors."""
        asked, home = Get(Pod, name, namespace), Get(Namespace, namespace)
        pod, space, paused = self._remembered.ask(asked, home, pause.QUESTION, afresh=(asked,))
        if not isinstance(pod, Pod) or not isinstance(space, Namespace):
            raise NotFoundError(f"there is no pod {namespace}/{name}")
        return Subject(pod, space, paused is not None)

    def workload(self, pod: Pod) -> Workload:
        """The pod's ReplicaSet as it is now, and what bears on its way. Raises ClusterError.

        So is its Deployment: a pod that just went back, for its workload rests, would be released
        again, and its eviction wait for as long as before.

        Of another controller no more is read than what the pod says.
        """
        around: list[Read] = [List(Selection(kind, pod.namespace)) for kind in _AROUND]
        name = _replica_set_of(pod)
        if not name:
            kind = pod.controller.full_kind if pod.controller is not None else ""
            return Workload(Owner(kind=kind))
        asked, marked = Get(ReplicaSet, name, pod.namespace), List(selections.MARKED_NODES)
        replica_set, nodes, *lists = self._remembered.ask(asked, marked, *around, afresh=(asked,))
        if not isinstance(replica_set, ReplicaSet) or replica_set.key != pod.origin_key:
            replica_set = None
        return Workload(
            Owner(
                kind="ReplicaSet",
                controller=replica_set,
                deployment=self._remembered.deployment_of(replica_set, afresh=True),
            ),
            Surroundings.of(_items(*lists)),
            _dooms(_items(nodes)),
        )

    def census(self, workload: Workload, pod: Pod) -> Census:
        """All pods of its ReplicaSet, counted on a fresh read. Raises ClusterError."""
        owner, now = workload.owner, self._clock.now()
        replica_set = owner.controller
        assert isinstance(replica_set, ReplicaSet)  # noqa: S101 - else there is nothing to count
        asked: list[List[Pod]] = [
            selections.pods_selected(pod.namespace, replica_set.spec.selector),
            selections.released_from(pod.namespace, [pod.template_hash]),
        ]
        deployment = owner.deployment_in_rollout
        if deployment is not None:
            asked.append(selections.pods_selected(pod.namespace, deployment.spec.selector))
        own, released, *siblings = (
            [each for each in _items(found) if isinstance(each, Pod)]
            for found in self._remembered.ask(*asked, afresh=asked)
        )
        pods = {each.uid: each for each in (*own, *released) if each.origin_key == replica_set.key}
        active = [each for each in pods.values() if each.active]
        census = take_census(replica_set, owner, active, workload.dooms, (), now)
        if deployment is None:
            return census
        min_ready = deployment.spec.min_ready_seconds
        others = (each for of_all in siblings for each in of_all)
        available = sum(
            each.available(now, min_ready) and each.controller_key != replica_set.key
            for each in others
            if each.controller is not None
        )
        return msgspec.structs.replace(census, siblings_available=available)


def _replica_set_of(pod: Pod) -> str:
    """The name of the ReplicaSet that has a pod, or had it before its release; else empty."""
    owner = pod.controller
    if owner is not None:
        return owner.name if owner.full_kind == "ReplicaSet" else ""
    release = pod.release if pod.released else None
    return release.controller if release is not None else ""


def _dooms(nodes: Sequence[KubernetesObject]) -> Mapping[str, NodeNotice]:
    """The notices of the nodes that are drained, by node name."""
    read = {each.name: marks.read(each) for each in nodes if isinstance(each, Node)}
    return {
        name: notice
        for name, notice in read.items()
        if notice is not None and notice.cordoned_at is not None
    }


def _items(*found: Found) -> Sequence[KubernetesObject]:
    return [item for each in found if isinstance(each, Listing) for item in each.items]
