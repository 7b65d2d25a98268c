"""What a pod's placement depends on: its controller, Deployment, namespace, and the pause."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evenkeel.decisions.placement.scope import controller_kind
from evenkeel.errors import ClusterError
from evenkeel.flows import pause
from evenkeel.flows.read_cache import ReadCache
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease, Namespace
from evenkeel.model.gang import GroupName, PodGroup, is_gang, named
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.move import Move, move_name, move_of
from evenkeel.model.node import Node
from evenkeel.model.placement import NewPod
from evenkeel.model.request import Get, List, Listing, Read, Selection
from evenkeel.model.workload import Controller, Deployment
from evenkeel.ports import Clock, Cluster

LEADER: Final = Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)
"""The reconciler's Lease, which tells of pools that lost nodes, and of zonal shifts."""

INTERRUPTIBLE: Final = List(
    Selection(Node, labels=f"{names.INTERRUPTIBLE}={names.TRUE}"), fresh=False, metadata_only=True
)
"""Nodes in interruptible reserved capacity. If the role may not list nodes there are none."""


class OwnerGoneError(ClusterError):
    """The pod's controller is not there, or another one has its name."""


@dataclass(frozen=True, slots=True)
class PlacementInput:
    """What was read for one pod. ``deployment`` is the ReplicaSet's, if it has one.

    ``move`` is restore's last move of a pod of the same controller. ``interruptible`` are the nodes
    of ``INTERRUPTIBLE``, their metadata alone. ``in_gang``: the pod names a group that is a gang.
    ``notes`` are the annotations of the reconciler's Lease.
    """

    namespace: Namespace
    controller: Controller
    deployment: Deployment | None
    is_paused: bool
    move: Move | None = None
    interruptible: Sequence[Node] = ()
    in_gang: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def workload(self) -> Controller | Deployment:
        """The Deployment, or else the controller."""
        return self.deployment if self.deployment is not None else self.controller


class Reader:
    """Reads for admissions, one after the other or several at once."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._cache = ReadCache(cluster, clock)

    def read(self, pod: NewPod, namespace: str) -> PlacementInput:
        """Read what this pod's placement depends on; ``pod`` has a controller of a known kind.

        The controller is read afresh: its size decides, and often changes just before its pods are
        made. Raises OwnerGoneError, and other ClusterErrors if the API server does not answer.
        """
        owner, kind = pod.controller, controller_kind(pod)
        if owner is None or kind is None:
            raise OwnerGoneError("its controller is of no kind that is known")
        asked: Get[KubernetesObject] = Get(kind, owner.name, namespace)
        home: Get[KubernetesObject] = Get(Namespace, namespace)
        moves: Get[KubernetesObject] = Get(Lease, move_name(owner.uid), names.SYSTEM_NAMESPACE)
        group = named(namespace, pod.metadata.labels, pod.spec.scheduling_group)
        groups = _reading(group)
        questions: list[Read] = [asked, home, pause.QUESTION, moves, LEADER, INTERRUPTIBLE, *groups]
        controller, found, paused, lease, leader, nodes, *listed = self._cache.ask(
            *questions, afresh=(asked, moves), optional=(moves, LEADER, INTERRUPTIBLE, *groups)
        )
        if not isinstance(controller, kind) or controller.uid != owner.uid:
            raise OwnerGoneError(f"its {owner.kind} {owner.name} is not there")
        if not isinstance(found, Namespace):
            raise OwnerGoneError(f"its namespace {namespace} is not there")
        deployment = self._cache.deployment_of(controller)
        move = move_of(lease) if isinstance(lease, Lease) else None
        found_nodes = nodes.items if isinstance(nodes, Listing) else ()
        interruptible = [node for node in found_nodes if isinstance(node, Node)]
        in_gang = group is not None and is_gang(next(_groups_in(listed), None))
        notes = leader.metadata.annotations if isinstance(leader, Lease) else {}
        return PlacementInput(
            found, controller, deployment, paused is not None, move, interruptible, in_gang, notes
        )


def _reading(group: GroupName | None) -> Sequence[List[PodGroup]]:
    """The list of a group alone: lists find the version of the kind that is served.

    No request if the name cannot be an object's: the pod is not validated yet.
    """
    if group is None or not names.is_subdomain(group.name):
        return ()
    return (List(Selection(group.kind, group.namespace, fields=f"metadata.name={group.name}")),)


def _groups_in(listed: Iterable[object]) -> Iterator[PodGroup]:
    for found in listed:
        if isinstance(found, Listing):
            yield from (item for item in found.items if isinstance(item, PodGroup))
