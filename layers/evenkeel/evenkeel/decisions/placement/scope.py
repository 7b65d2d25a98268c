"""Pods that placement leaves as they are, whatever their floor."""

from typing import Final

from evenkeel.decisions.floor.source import FloorOf
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.placement.verdict import Left
from evenkeel.model import names
from evenkeel.model.affinity import only_node
from evenkeel.model.annotations import MANAGED
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import KINDS
from evenkeel.model.placement import NewPod
from evenkeel.model.reasons import Reason

BY_AFFINITY: Final = frozenset({"", "default-scheduler", names.SCHEDULER})
"""Schedulers that go by node affinity."""


def left_by_itself(pod: NewPod, namespace: str, labels: CapacityLabels) -> Left | None:
    """Why a pod is left as it is, as far as it says itself; None if its owners decide.

    - it is in a namespace that the cluster itself needs;
    - its kubelet owns it (a static pod's mirror): it is not scheduled;
    - it has a node already: affinity comes too late;
    - a DaemonSet makes one for each node, or who makes it binds it to one likewise;
    - its own rules leave one capacity type at most.
    """
    made_by = pod.controller.kind if pod.controller is not None else ""
    if namespace in names.CLUSTERS_OWN:
        return Left(Reason.SYSTEM_NAMESPACE, f"nothing is placed in the namespace {namespace}")
    if names.MIRROR_POD in (pod.metadata.annotations or {}) or made_by == "Node":
        return Left(Reason.STATIC_POD, "its kubelet owns it")
    if pod.spec.node_name:
        return Left(Reason.HAS_NODE, f"it is for the node {pod.spec.node_name} already")
    if made_by == "DaemonSet":
        return Left(Reason.DAEMON_SET, "there is one for each node")
    node = only_node(pod.spec.node_selector, pod.spec.affinity)
    if node and controller_kind(pod) is None:
        return Left(Reason.OWN_RULES, f"its own rules bind it to the node {node}")
    return _left_by_rules(pod, labels)


def left_to_scheduler(scheduler: str, floor: FloorOf, *, in_gang: bool) -> Left | None:
    """Why pods of this scheduler get no node affinity; None if it goes by node affinity.

    Kubernetes' own does, and Evenkeel's. Fargate's does not. Of another that is not known, unless
    its user asks for a floor or runs a gang. ``in_gang``: the pods name a group that is a gang.
    """
    if scheduler == names.FARGATE_SCHEDULER:
        return Left(Reason.OTHER_SCHEDULER, "Fargate gives each of its pods a node of its own")
    if scheduler in BY_AFFINITY or floor.is_asked or in_gang:
        return None
    return Left(
        Reason.OTHER_SCHEDULER,
        f"its scheduler is {scheduler}, of which it is not known whether it goes by node affinity:"
        f" set {names.ON_DEMAND} if it does",
    )


def controller_kind(pod: NewPod) -> type[Controller] | None:
    """The kind of the pod's controller; None if its pods have no share."""
    return KINDS.get(pod.controller.full_kind) if pod.controller is not None else None


def left_by_namespace(namespace: Namespace, *, everywhere: bool) -> Left | None:
    """Why pods of this namespace are left as they are; None if they are placed.

    ``everywhere``: its label ``evenkeel.dev/managed`` does not matter.
    """
    if everywhere or MANAGED.of(namespace.metadata.labels) == names.TRUE:
        return None
    return Left(Reason.NOT_MANAGED, f"the namespace {namespace.name} has not {names.MANAGED}=true")


def _left_by_rules(pod: NewPod, labels: CapacityLabels) -> Left | None:
    possible = allowed_by(pod.spec, labels)
    if len(possible) == len(Capacity):
        return None
    if not possible:
        return Left(Reason.OWN_RULES, "its own rules allow neither capacity type")
    return Left(Reason.OWN_RULES, f"its own rules allow {next(iter(possible))} alone")
