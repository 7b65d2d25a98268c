"""What a pod's placement depends on: its controller, Deployment, namespace, and the pause."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evenkeel.decisions.placement.clauses import ON_DEMAND_SPELLINGS
from evenkeel.decisions.placement.scope import controller_kind
from evenkeel.errors import ClusterError
from evenkeel.flows import pause
from evenkeel.flows.read_cache import ReadCache
from evenkeel.flows.reads import of_kind
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.cluster_objects import Lease, Namespace
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.deployment import Deployment
from evenkeel.model.gang import PodGroup, is_gang, named
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.move import Move, move_name, move_of
from evenkeel.model.node import Node
from evenkeel.model.placement import NewPod
from evenkeel.model.request import Get, List, Read, Selection
from evenkeel.ports import Clock, Cluster

LEADER: Final = Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)
"""The reconciler's Lease, which tells of pools that lost nodes."""


class OwnerGoneError(ClusterError):
    """The pod's controller is not there, or another one has its name."""


@dataclass(frozen=True, slots=True)
class PlacementInput:
    """What was read for one pod. ``deployment`` is the ReplicaSet's, if it has one.

    ``controller`` is None where it is of no kind whose size is known, or there is none. ``move`` is
    restore's last move of a pod of the same controller. ``named`` are the nodes whose labels a pod
    is told of: those in interruptible reserved capacity, and those of which the capacity labels say
    neither type, their metadata alone. ``in_gang``: the pod names a group that is a gang.
    ``notes`` are the annotations of the reconciler's Lease.
    """

    namespace: Namespace
    controller: Controller | None
    deployment: Deployment | None
    is_paused: bool
    move: Move | None = None
    named: Sequence[Node] = ()
    in_gang: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def workload(self) -> Controller | Deployment | None:
        """The Deployment, or else the controller, where that is known."""
        return self.deployment if self.deployment is not None else self.controller


class PlacementReader:
    """Reads for admissions, one after the other or several at once."""

    def __init__(self, cluster: Cluster, clock: Clock, labels: CapacityLabels) -> None:
        self._cache = ReadCache(cluster, clock)
        self._nodes = tuple(_nodes_to_name(labels))

    def home(self, name: str) -> Namespace | None:
        """The namespace of this name; None while Evenkeel is paused. Raises ClusterError."""
        asked: Get[KubernetesObject] = Get(Namespace, name)
        found, paused = self._cache.ask(asked, pause.QUESTION)
        return found if isinstance(found, Namespace) and paused is None else None

    def read(self, pod: NewPod, namespace: str) -> PlacementInput:
        """Read what this pod's placement depends on.

        The controller is read afresh: its size decides, and often changes just before its pods are
        made. Raises OwnerGoneError, and other ClusterErrors if the API server does not answer.
        """
        owner, asked = pod.controller, _of_controller(pod, namespace)
        home: Get[KubernetesObject] = Get(Namespace, namespace)
        group = named(namespace, pod.metadata.labels, pod.spec.scheduling_group)
        groups = list[List[PodGroup]]()
        # A list, which finds the version of the kind that is served. Of no name that cannot be an
        # object's: the pod is not validated yet.
        if group is not None and names.is_subdomain(group.name):
            fields = f"metadata.name={group.name}"
            groups.append(List(Selection(group.kind, group.namespace, fields=fields)))
        known: list[Read] = [home, pause.QUESTION, LEADER]
        others: list[Read] = [*self._nodes, *groups]
        found, paused, leader, *answers = self._cache.ask(
            *known, *others, *asked, afresh=asked, optional=[LEADER, *others, *asked[1:]]
        )
        listed, own = answers[: len(others)], answers[len(others) :]
        controller: Controller | None = None
        lease: object = None
        if owner is not None and asked:
            asked_for, lease = own
            if not isinstance(asked_for, Controller) or asked_for.uid != owner.uid:
                raise OwnerGoneError(f"its {owner.kind} {owner.name} is not there")
            controller = asked_for
        if not isinstance(found, Namespace):
            raise OwnerGoneError(f"its namespace {namespace} is not there")
        deployment = self._cache.deployment_of(controller)
        move = move_of(lease) if isinstance(lease, Lease) else None
        in_gang = group is not None and is_gang(next(iter(of_kind(PodGroup, *listed)), None))
        notes = leader.metadata.annotations if isinstance(leader, Lease) else {}
        return PlacementInput(
            found,
            controller,
            deployment,
            paused is not None,
            move,
            of_kind(Node, *listed),
            in_gang,
            notes,
        )


def _nodes_to_name(labels: CapacityLabels) -> Iterator[List[Node]]:
    """The lists of ``PlacementInput.named``. If the role may not list nodes there are none."""
    selectors = [f"{names.INTERRUPTIBLE}={names.TRUE}"]
    for key in labels.keys:
        if not labels.all_else_is_on_demand(key):
            known = ",".join((*labels.spot_values(key), *ON_DEMAND_SPELLINGS))
            selectors.append(f"{key},{key} notin ({known})")
    for each in selectors:
        yield List(Selection(Node, labels=each), fresh=False, metadata_only=True)


def _of_controller(pod: NewPod, namespace: str) -> Sequence[Get[Any]]:
    """The pod's controller, and restore's last move of a pod of it; nothing of an unknown kind."""
    owner, kind = pod.controller, controller_kind(pod)
    if owner is None or kind is None:
        return ()
    return (
        Get(kind, owner.name, namespace),
        Get(Lease, move_name(owner.uid), names.SYSTEM_NAMESPACE),
    )
