"""What an eviction depends on: the pod, its workload and node, and what surrounds them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Final

import msgspec

from evenkeel.decisions.drain import settling
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.nodes import Nodes
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.notice import mark
from evenkeel.errors import NotFoundError
from evenkeel.flows import namespace_objects, pause, selections
from evenkeel.flows.read_cache import Answer, ReadCache
from evenkeel.flows.reads import of_kind
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import RELEASING, way_of
from evenkeel.model.deployment import Deployment
from evenkeel.model.deployments import BY_HASH
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod, PodSpec
from evenkeel.model.request import Get, List
from evenkeel.model.way import Way
from evenkeel.ports import Clock, Cluster

SINGLY: Final = 32
"""So many pods are read one by one, all at the same time: as many requests as a process sends."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The pod of an eviction, its namespace, and whether Evenkeel is paused."""

    pod: Pod
    namespace: Namespace
    is_paused: bool


@dataclass(frozen=True, slots=True)
class GatedWorkload:
    """Whose the pod is or was, its pods, what surrounds it, and the notices of drained nodes.

    ``pods`` are those of the ReplicaSet, owned and released, as the API server's cache has them.
    """

    owner: Owner
    pods: Sequence[Pod] = ()
    namespace_objects: NamespaceObjects = field(default_factory=NamespaceObjects)
    dooms: Mapping[str, NodeNotice] = field(default_factory=dict)


class EvictionReader:
    """Reads for one eviction after the other, or several at once."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._clock = clock
        self._cache = ReadCache(cluster, clock)

    def subject(self, name: str, namespace: str) -> Subject:
        """The pod as it is now. Raises NotFoundError without it, and other ClusterErrors."""
        asked, home = Get(Pod, name, namespace), Get(Namespace, namespace)
        pod, space, paused = self._cache.ask(asked, home, pause.QUESTION, afresh=(asked,))
        if not isinstance(pod, Pod) or not isinstance(space, Namespace):
            raise NotFoundError(f"there is no pod {namespace}/{name}")
        return Subject(pod, space, paused is not None)

    def workload(self, pod: Pod) -> GatedWorkload:
        """The pod's ReplicaSet as it is now, and what bears on its way. Raises ClusterError.

        So is its Deployment: a pod that just went back, for its workload rests, would be released
        again, and its eviction wait for as long as before.

        It is read together with the ReplicaSet, by the name that it gives to that one.

        Of another controller no more is read than what the pod says, nor where no template hash
        tells which pods are the ReplicaSet's: such a pod is not handed over.
        """
        name = _replica_set_of(pod)
        if not name or not pod.template_hash:
            kind = pod.controller.full_kind if pod.controller is not None else ""
            return GatedWorkload(Owner(kind=kind))
        asked = Get(RELEASING, name, pod.namespace)
        siblings = List(selections.of_hash(pod), fresh=False, kept=_if_counted)
        around = namespace_objects.questions(pod.namespace)
        leading = namespace_objects.leading(pod.namespace)
        dooming = List(selections.MARKED_NODES, fresh=False)
        made_by = name.removesuffix(f"-{pod.template_hash}")
        above = Get(BY_HASH[pod.hash_label], made_by, pod.namespace)
        afresh = (asked, siblings, above)
        found = self._cache.ask(
            asked, siblings, above, dooming, *around, *leading, afresh=afresh, optional=leading
        )
        replica_set, listed, deployment, nodes, *lists = found
        if not isinstance(replica_set, Controller) or replica_set.key != pod.origin_key:
            replica_set = None
        deployment = self._above(replica_set, deployment)
        pods = of_kind(Pod, listed)
        if pod.released:  # the API server's cache may not show that yet
            pods = [*(each for each in pods if each.uid != pod.uid), pod]
        return GatedWorkload(
            Owner(kind=RELEASING.resource.full_kind, controller=replica_set, deployment=deployment),
            pods,
            NamespaceObjects.of(of_kind(KubernetesObject, *lists)),
            mark.drained({each.name: mark.read(each) for each in of_kind(Node, nodes)}),
        )

    def _above(self, replica_set: Controller | None, guessed: Answer) -> Deployment | None:
        """The Deployment of a ReplicaSet, read by itself only where the guess was wrong."""
        if replica_set is None or replica_set.deployment is None:
            return None
        if isinstance(guessed, Deployment) and guessed.uid == replica_set.deployment.uid:
            return guessed
        return self._cache.deployment_of(replica_set, afresh=True)

    def census(self, workload: GatedWorkload, *, afresh: bool = False) -> Census:
        """The pods of a ReplicaSet counted, a moment old at most. Raises ClusterError.

        Good enough to put an eviction off; see ``confirmed``. ``afresh``: so are those of the other
        ReplicaSets of its Deployment, which count in a rollout.
        """
        owner, now = workload.owner, self._clock.now()
        replica_set = owner.controller
        assert replica_set is not None  # noqa: S101 - else there is nothing to count
        active = [p for p in workload.pods if p.active and p.origin_key == replica_set.key]
        nodes = Nodes(dooms=workload.dooms)
        around = workload.namespace_objects
        settle = settling.needed(owner, active[0], around) if active else timedelta()
        census = Census(now=now, owner=owner, pods=active, nodes=nodes, settle=settle)
        deployment = owner.deployment_in_rollout
        if deployment is None:
            return census
        every = selections.pods_selected(
            replica_set.namespace, replica_set.shared_selector(deployment)
        )
        siblings = replace(every, fresh=afresh, kept=partial(_if_counted, among=every.kept))
        (found,) = self._cache.ask(siblings, afresh=(siblings,))
        its_own = ("", replica_set.key)
        others = [each for each in of_kind(Pod, found) if each.controller_key not in its_own]
        return msgspec.structs.replace(census, siblings=others)

    def confirmed(self, workload: GatedWorkload, census: Census) -> GatedWorkload:
        """The same with each pod that counted as available as it is now. Raises ClusterError.

        The API server's cache may show one as available that has gone since, or as owned that was
        released. What it does not show yet is one more that is available, and may stay uncounted.
        A few pods are read each by itself: a fresh list takes the API server up to 0.1 s.
        """
        counted = {pod.uid: pod for pod in workload.pods if census.is_available(pod)}
        if len(counted) > SINGLY:
            (pod, *_) = counted.values()
            afresh = List(selections.of_hash(pod), kept=_if_counted)
            (listed,) = self._cache.ask(afresh, afresh=(afresh,))
            return replace(workload, pods=of_kind(Pod, listed))
        asked = [Get(Pod, pod.name, pod.namespace) for pod in counted.values()]
        found = self._cache.ask(*asked, afresh=asked)
        now = [pod for pod in found if isinstance(pod, Pod) and pod.uid in counted]
        others = [pod for pod in workload.pods if pod.uid not in counted]
        return replace(workload, pods=[*now, *others])


def _if_counted(pod: Pod, among: Callable[[Pod], Pod | None] | None = None) -> Pod | None:
    """A pod without what no count asks of it: what it wants of nodes, what it takes of them."""
    if among is not None and among(pod) is None:
        return None
    said = pod.spec
    spec = PodSpec(
        node_name=said.node_name,
        termination_grace_period_seconds=said.termination_grace_period_seconds,
        restart_policy=said.restart_policy,
        priority=said.priority,
        readiness_gates=said.readiness_gates,
    )
    return msgspec.structs.replace(pod, spec=spec)


def _replica_set_of(pod: Pod) -> str:
    """The name of the ReplicaSet that has a pod, or had it before its release; else empty."""
    owner = pod.controller
    if owner is not None:
        return owner.name if way_of(owner.full_kind) is Way.HANDOVER else ""
    release = pod.release if pod.released else None
    return release.controller if release is not None else ""
