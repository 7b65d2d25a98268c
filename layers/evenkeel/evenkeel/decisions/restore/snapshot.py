"""What a plan is made from: one look at the cluster, and how carefully to act."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.floor.standing import Standing, Workload
from evenkeel.decisions.placement.scope import left_to_scheduler
from evenkeel.decisions.placement.verdict import Left
from evenkeel.decisions.pools.goal import goal_of
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.decisions.room.rules import NodeRequest, request_of
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.cluster_objects import Lease, Namespace
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.gang import GroupName, group_of_template
from evenkeel.model.move import PER_RUN, Move
from evenkeel.model.pod import Pod
from evenkeel.model.spot_rest import SpotRest


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


class NotTaken(msgspec.Struct, frozen=True, kw_only=True):
    """What a webhook or policy says to each write about a workload, and until when none is made."""

    words: str
    until: datetime


class Placing(msgspec.Struct, frozen=True, kw_only=True):
    """What places the new pods of a workload.

    ``by_policy``: the admission policy does, which ``cannot_tell`` these things of the workload.
    ``nothing``: why nothing does; empty where something does.
    """

    by_policy: bool = False
    cannot_tell: Sequence[str] = ()
    nothing: str = ""


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
    placing: Placing = Placing()

    @property
    def workload(self) -> Workload:
        """The Deployment or StatefulSet."""
        return self.standing.workload

    def request(self, pod: Pod, fleet: Fleet) -> NodeRequest:
        """What the next pod asks of its node that is made in the place of one of its pods."""
        claims = self.namespace_objects.claims
        return request_of(pod, fleet.labels, claims, fleet.volumes)

    def rules(self, fleet: Fleet) -> NewPodSpec:
        """What its pods ask of their nodes by themselves; without any pod its template counts."""
        pod = next(iter(self.owned), None)
        own = self.workload.spec.template.spec
        return self.request(pod, fleet).rules if pod is not None else own

    @property
    def left_to_scheduler(self) -> Left | None:
        """Why its pods get no node affinity of the scheduler that they name; None if they may."""
        scheduler = self.workload.spec.template.spec.scheduler_name
        in_gang = group_of_template(self.workload) is not None
        return left_to_scheduler(scheduler, self.standing.floor, in_gang=in_gang)

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
    ``namespaces`` are all that there are. ``not_taken``: the workloads, by key, about which every
    write was refused or undone of late.
    """

    now: datetime
    cases: Sequence[Case]
    fleet: Fleet
    pods: Sequence[Pod] = ()
    terms: Terms = Terms()
    members: Mapping[GroupName, int] = {}
    rest: SpotRest | None = None
    namespaces: Sequence[Namespace] = ()
    not_taken: Mapping[str, NotTaken] = {}
