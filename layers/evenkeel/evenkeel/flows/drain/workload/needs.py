"""What has to be read for the plan of one workload, because no watch shows it."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final

from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.decisions.drain.route import not_ours
from evenkeel.flows import namespace_objects, selections
from evenkeel.flows.drain.cache.facts import SOON_AGAIN_AFTER, Needs
from evenkeel.flows.drain.cache.view import View
from evenkeel.model.cluster_objects import (
    NetworkPolicy,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    Service,
)
from evenkeel.model.controllers.kinds import KINDS, RELEASING
from evenkeel.model.deployments import reading
from evenkeel.model.gang import GroupName, group_of
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Read, Selection

AGAIN_AFTER: Final = timedelta(seconds=30)
"""How old may get what a workload depends on: somebody scales a StatefulSet, changes a Deployment's
strategy, or makes a Service that selects by template hash."""

BUDGETS_AGAIN_AFTER: Final = timedelta(seconds=1)
"""How old may get the counts of budgets while a voluntary move hangs on them."""


def owner_and_namespace(view: View, controller_key: str, pods: Sequence[Pod]) -> Needs:
    """What has to be known before anything is decided about a controller's pods.

    One whose owner nobody knows would look like one that nobody wants. Claims are read only if a
    pod mounts one, groups and their members only if a pod names one.
    """
    controller, namespace = view.owners.controllers.get(controller_key), pods[0].namespace
    is_watched = controller is not None and bool(controller.watched_by)
    age = None if is_watched else AGAIN_AFTER
    needs: dict[Read, timedelta | None] = dict.fromkeys(_controller_of(pods), age)
    if controller is not None and controller.deployment is not None:
        needs[reading(controller.deployment, namespace)] = AGAIN_AFTER
    needs |= _policies(namespace)
    if any(volume.persistent_volume_claim for pod in pods for volume in pod.spec.volumes):
        needs[List(Selection(PersistentVolumeClaim, namespace), fresh=False)] = AGAIN_AFTER
    if view.pods.groups.are_named:
        for group in groups_of(pods):
            needs[List(Selection(group.kind, namespace), fresh=False)] = AGAIN_AFTER
            needs[view.pods.groups.listing(group)] = AGAIN_AFTER
    return needs


def nodes_of(view: View, controller_key: str, pods: Sequence[Pod]) -> Needs:
    """What has to be known of the nodes of a workload's pods.

    Nodes of released pods, if no mark says that the node is there. Nodes of pods that were released
    because their eviction was asked for, because another may drain the node. Nodes of all pods
    while a released one waits for a replacement on nodes of one capacity type. Whether there is
    another node in the zone of a marked one with a pod that its rules or a volume may bind to that
    zone. And the pods on a dying node, if no watch selects one of them.
    """
    names, zones = set[str](), set[str]()
    names.update(seat.spec.node_name for seat in view.seats.of(controller_key).values())
    for pod in pods:
        if pod.spec.is_kept_apart or pod.spec.claims:
            zones.add(view.nodes.zones.get(pod.spec.node_name, ""))
        if not pod.released:
            continue
        release = pod.release
        is_asked = release is not None and release.is_asked
        if is_asked or pod.spec.node_name not in view.nodes.marked:
            names.add(pod.spec.node_name)
        if release is not None and release.target is not None:
            owned = (each.spec.node_name for each in pods if not each.released)
            names.update(name for name in owned if name not in view.nodes.pools)
    needs: dict[Read, timedelta | None] = {
        Get(Node, name): None if name in view.nodes.kept_empty else SOON_AGAIN_AFTER
        for name in sorted(names - view.nodes.lost - {""})
    }
    needs |= {selections.left_in(zone): AGAIN_AFTER for zone in sorted(zones - {""})}
    controller = view.owners.controllers.get(controller_key)
    if controller is None or not view.streams.select(controller.pod_labels):
        for name in sorted({pod.spec.node_name for pod in pods if _is_unwatched(view, pod)}):
            needs[selections.candidates_on(name)] = SOON_AGAIN_AFTER
    return needs


def budgets_in(namespace: str) -> Needs:
    """What has to be known afresh while pods of a namespace move for a mere hint."""
    return {List(Selection(PodDisruptionBudget, namespace)): BUDGETS_AGAIN_AFTER}


@lru_cache(maxsize=1_000)
def leading_in(namespace: str) -> Needs:
    """What leads to the Services of a namespace: known before a replacement can be Ready."""
    return dict.fromkeys(namespace_objects.leading(namespace), AGAIN_AFTER)


@lru_cache(maxsize=1_000)
def _policies(namespace: str) -> Needs:
    kinds = (Service, NetworkPolicy)
    budgets = List(Selection(PodDisruptionBudget, namespace))
    others = (List(Selection(kind, namespace), fresh=False) for kind in kinds)
    return dict.fromkeys((budgets, *others), AGAIN_AFTER)


def _controller_of(pods: Sequence[Pod]) -> Iterator[Get[Any]]:
    """How to read the controller that pods have or were released from, if they say it."""
    first = next((pod for pod in pods if pod.controller is not None), pods[0])
    reference, release = first.controller, first.release if first.released else None
    if reference is not None and (kind := KINDS.get(reference.full_kind)) is not None:
        yield Get(kind, reference.name, first.namespace)
    elif release is not None:
        yield Get(RELEASING, release.controller, first.namespace)


def groups_of(pods: Iterable[Pod]) -> Iterable[GroupName]:
    """The groups that pods name, each once."""
    return dict.fromkeys(group for pod in pods if (group := group_of(pod)) is not None)


def _is_unwatched(view: View, pod: Pod) -> bool:
    """Whether a pod is on a dying node and no watch selects it."""
    notice = view.nodes.dooms.get(pod.spec.node_name)
    if notice is None or view.streams.of(pod) is not None or not node_deadline(notice).forced:
        return False
    return not_ours(pod, view.owners.of(pod)) is None
