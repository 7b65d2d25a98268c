"""What a plan is made from: one look at the cluster, and how carefully to act."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property

import msgspec

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.floor.standing import Standing, Workload
from evenkeel.decisions.pools.goal import goal_of
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.gang import GroupName
from evenkeel.model.losses import Loss, lost_pools
from evenkeel.model.move import PER_RUN, Move
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool, pools_of
from evenkeel.model.spot_rest import SpotRest
from evenkeel.model.workload import ReplicaSet


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """How carefully restore acts.

    ``moves``: so many pods are moved in one run at most. ``patience``: a replacement that is not
    available where it has to be so long after the release is given up. ``relax_after``: so long a
    pod of a floor waits for an on-demand node before it may go to spot, and ``relaxed_for`` how
    long that holds unless it is extended.
    """

    moves: int = PER_RUN
    patience: timedelta = timedelta(minutes=5)
    relax_after: timedelta = timedelta(minutes=5)
    relaxed_for: timedelta = timedelta(minutes=30)


class Fleet(msgspec.Struct, frozen=True, dict=True):
    """The nodes by name, those that are doomed, and what the pods on each of them asked for.

    ``labels`` tell the nodes' capacity types. ``losses``: which pools lost a node to a warning
    lately, or are about to; some of the nodes are gone.
    """

    nodes: Mapping[str, Node]
    doomed: frozenset[str]
    used: Mapping[str, Mapping[str, float]]
    labels: CapacityLabels = WELL_KNOWN
    losses: Sequence[Loss] = ()

    @cached_property
    def pools(self) -> Mapping[str, Pool | None]:
        """The pool of each node, by the node's name; None for an on-demand node."""
        return pools_of(self.nodes.values(), self.labels)

    @cached_property
    def lost(self) -> frozenset[str]:
        """The nodes of pools that lost one: others may follow."""
        pools = lost_pools(self.losses)
        return frozenset(node for node, pool in self.pools.items() if pool in pools)

    def capacity(self, pod: Pod) -> Capacity | None:
        """The capacity type of a pod's node; None without a node that is known."""
        node = self.nodes.get(pod.spec.node_name)
        return self.labels.of(node) if node is not None else None

    def is_doomed(self, pod: Pod) -> bool:
        """Whether a pod is on a node with an open notice that is followed, or will be soon."""
        return pod.spec.node_name in self.doomed


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One workload: where it stands, its ReplicaSets, and its pods, owned and released.

    ``moves`` are restore's last ones, by the uids of its ReplicaSets or its own. ``trace`` tells
    that its template was written once. ``of_namespace`` are its namespace's annotations.
    """

    standing: Standing
    replica_sets: Sequence[ReplicaSet] = ()
    pods: Sequence[Pod] = ()
    namespace_objects: NamespaceObjects = NamespaceObjects()
    moves: Mapping[str, Move] = {}
    trace: Lease | None = None
    of_namespace: Mapping[str, str] = {}

    @property
    def workload(self) -> Workload:
        """The Deployment or StatefulSet."""
        return self.standing.workload

    @property
    def goal(self) -> int | None:
        """How many of its pods one pool is to have at most; None if nobody says so."""
        of_pods = self.workload.spec.template.metadata.annotations
        return goal_of(self.workload, of_pods, self.of_namespace)

    @property
    def owned(self) -> Sequence[Pod]:
        """Its active pods that are not being handed over."""
        return [pod for pod in self.pods if pod.active and not pod.released]


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the cluster.

    ``pods`` are all that have not ended, of whatever owner; ``members``: how many active pods name
    a group. ``rest``: what is known of moves to spot without room; None: they are not this run's.
    """

    now: datetime
    cases: Sequence[Case]
    fleet: Fleet
    pods: Sequence[Pod] = ()
    terms: Terms = Terms()
    members: Mapping[GroupName, int] = {}
    rest: SpotRest | None = None
