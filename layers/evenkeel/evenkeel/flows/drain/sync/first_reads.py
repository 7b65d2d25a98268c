"""Gathering: what an invocation reads before it decides anything."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.errors import ClusterError, NotFoundError
from evenkeel.flows import namespace_objects, selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.reads import MANY, find_all, is_unanswered, list_all, shown
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Listing, Selection
from evenkeel.model.workload import Deployment, Job, ReplicaSet, StatefulSet
from evenkeel.ports import Cluster

_CONTROLLERS: dict[str, type[ReplicaSet | StatefulSet | Job]] = {
    "ReplicaSet": ReplicaSet,
    "StatefulSet": StatefulSet,
    "Job": Job,
}


def is_any_work(cluster: Cluster, view: View) -> bool:
    """Read all marked nodes; whether there are any, or any released pods. Raises ClusterError.

    Who finds that another invocation is at work need not have read all pods for it.
    """
    any_released = List(selections.RELEASED_PODS, limit=1)
    nodes, released = list_all(cluster, [List(selections.MARKED_NODES), any_released])
    view.relist_nodes(nodes)
    return bool(nodes or released)


def read_pods(cluster: Cluster, view: View) -> None:
    """Read all released pods, fresh, and the pods of all doomed nodes. Raises ClusterError."""
    candidates = map(candidates_on, sorted(view.dooms))
    for pods in list_all(cluster, [List(selections.RELEASED_PODS), *candidates]):
        for pod in pods:
            view.pods.see(pod)


def candidates_on(node_name: str) -> List[Pod]:
    """What to ask for the pods of a node; the API server's cache is good enough for candidates."""
    return List(selections.pods_on(node_name), fresh=False)


def find_lost_nodes(cluster: Cluster, view: View) -> None:
    """Look whether the nodes of released pods are there that carry no mark. Raises ClusterError.

    Most of them are given back; one that is gone has taken its pods with it.
    """
    names = {pod.spec.node_name for pod in view.pods.active if pod.released}
    missing = names - set(view.nodes) - {""}
    if len(missing) > MANY:
        (nodes,) = list_all(cluster, [List(Selection(Node), metadata_only=True)])
        lost = missing - {node.name for node in nodes}
    else:
        requests = [Get(Node, name) for name in sorted(missing)]
        replies = shown(cluster.perform(requests)) if requests else ()
        lost = {
            request.name
            for request, reply in zip(requests, replies, strict=True)
            if isinstance(reply.error, NotFoundError)
        }
    for name in lost:
        view.lose_node(name)


def read_peers(cluster: Cluster, view: View) -> None:
    """Read all pods of the controllers seen: what watches would show. Raises ClusterError."""
    labels = {each for found in view.controllers.values() for each in selections.labels_of(found)}
    chunks = [next(selections.showing(part)) for part in selections.chunks_of(labels)]
    for pods in list_all(cluster, [List(chunk) for chunk in chunks]):
        for pod in pods:
            view.pods.see(pod)


def read_owners(cluster: Cluster, view: View) -> None:
    """Read the controllers of all pods seen, and the Deployments above them.

    A controller that is not found, or has another uid by now, is left out: it is gone.
    """
    wanted = {uid: get for pod in view.pods.active for uid, get in _controller_of(pod)}
    missing = {uid: get for uid, get in wanted.items() if uid not in view.controllers}
    for uid, controller in find_all(cluster, missing).items():
        if isinstance(controller, ReplicaSet | StatefulSet | Job):
            view.controllers[uid] = controller
    above = {
        controller.controller_key: Get(Deployment, owner.name, controller.namespace)
        for controller in view.controllers.values()
        if (owner := controller.controller) is not None and owner.full_kind == "Deployment"
    }
    missing = {uid: get for uid, get in above.items() if uid not in view.deployments}
    for uid, deployment in find_all(cluster, missing).items():
        if isinstance(deployment, Deployment):
            view.deployments[uid] = deployment


def _controller_of(pod: Pod) -> Iterator[tuple[str, Get[Any]]]:
    """The key of the controller that a pod has or was released from, and how to read it."""
    reference = pod.controller
    if reference is not None:
        kind = _CONTROLLERS.get(reference.full_kind)
        if kind is not None:
            yield pod.controller_key, Get(kind, reference.name, pod.namespace)
    elif pod.released and (release := pod.release) is not None:
        yield pod.origin_key, Get(ReplicaSet, release.controller, pod.namespace)


def read_namespaces(cluster: Cluster, view: View) -> Mapping[str, ClusterError]:
    """Read what surrounds the pods seen: budgets, services and policies of their namespaces.

    Claims only where a pod of the namespace mounts one; groups of pods where one names one, and
    none of a kind that the cluster does not have or show. Answers by namespace why something of it
    could not be read: that concerns its pods alone.
    """
    namespaces = {pod.namespace for pod in view.pods.active} - set(view.namespace_objects)
    mounting = {
        pod.namespace
        for pod in view.pods.active
        if any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes)
    }
    ordered = sorted(namespaces)
    requests: list[List[Any]] = []
    for namespace in ordered:
        requests += namespace_objects.questions(namespace, with_claims=namespace in mounting)
    groups = {Selection(each.kind, each.namespace) for each in view.pods.groups}
    requests += [List(each, fresh=False) for each in groups if each.namespace in namespaces]
    items: list[KubernetesObject] = []
    unread: dict[str, ClusterError] = {}
    for request, reply in zip(requests, cluster.perform(requests), strict=True):
        where = request.selection
        if isinstance(reply.result, Listing):
            items += reply.result.items
        elif reply.error is not None and (where not in groups or is_unanswered(reply.error)):
            unread.setdefault(where.namespace, reply.error)
    found = namespace_objects.by_namespace(items)
    for namespace in ordered:
        around = found.get(namespace, NamespaceObjects())
        if error := unread.get(namespace):
            around = msgspec.structs.replace(around, unread=str(error))
        view.namespace_objects[namespace] = around
    return unread


def put_budgets(view: View, namespace: str, budgets: Sequence[PodDisruptionBudget]) -> None:
    """Replace what is known of a namespace's budgets."""
    view.namespace_objects[namespace] = msgspec.structs.replace(
        view.objects_in(namespace), budgets=budgets
    )
