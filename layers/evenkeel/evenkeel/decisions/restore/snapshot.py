"""What a plan is made from: one look at the cluster, and how carefully to act.

What is asked of a workload more than once is reckoned once, by its ``Candidate``.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Unpack

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.floor.source import floor_of
from evenkeel.decisions.floor.standing import Movable, Standing, stand
from evenkeel.decisions.placement.policy import untold
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.placement.scope import left_to_scheduler
from evenkeel.decisions.placement.verdict import Left
from evenkeel.decisions.pools.spread import goal_of
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.decisions.room.rules import NodeRequest, request_of
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease, Namespace
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Decision, Details, Verb
from evenkeel.model.gang import GroupName, group_of_template, is_gang
from evenkeel.model.move import PER_RUN, Move, Restored
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import Cooldown
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


class Candidate(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A Deployment or StatefulSet: where it stands, and its pods, owned and released.

    ``fleet`` are the nodes that its pods are on. ``group``: the one that its pods name, if that is
    a gang. ``moves`` are restore's last ones, by the uids of its ReplicaSets or its own. ``trace``
    tells that its template was written once. ``of_namespace`` are its namespace's annotations.
    ``by_policy``: the admission policy places its new pods; ``unplaced``: why nothing does, empty
    where something does.
    """

    workload: Movable
    standing: Standing
    fleet: Fleet
    group: GroupName | None = None
    replica_sets: Sequence[ReplicaSet] = ()
    pods: Sequence[Pod] = ()
    namespace_objects: NamespaceObjects = NamespaceObjects()
    moves: Mapping[str, Move] = {}
    trace: Lease | None = None
    of_namespace: Mapping[str, str] = {}
    by_policy: bool = False
    unplaced: str = ""

    @cached_property
    def owned(self) -> Sequence[Pod]:
        """Its active pods that are not being handed over."""
        return [pod for pod in self.pods if pod.active and not pod.released]

    @cached_property
    def live_sets(self) -> Sequence[ReplicaSet]:
        """Its ReplicaSets that want pods or have some."""
        owners = {pod.controller_key for pod in self.owned}
        return [each for each in self.replica_sets if each.spec.replicas or each.key in owners]

    @cached_property
    def last_move(self) -> Restored | None:
        """What is noted on it of the last move."""
        return Restored.of(self.workload)

    @cached_property
    def cooldown(self) -> Cooldown | None:
        """What is noted on it of moves that failed."""
        return writes.cooldown_of(self.workload)

    @cached_property
    def goal(self) -> int | None:
        """How many of its pods one pool is to have at most; None if nobody says so."""
        of_pods = self.workload.spec.template.metadata.annotations
        return goal_of(self.workload, of_pods, self.of_namespace)

    @cached_property
    def left_to_scheduler(self) -> Left | None:
        """Why its pods get no node affinity of the scheduler that they name; None if they may."""
        scheduler = self.workload.spec.template.spec.scheduler_name
        in_gang = group_of_template(self.workload) is not None
        return left_to_scheduler(scheduler, self.standing.floor, in_gang=in_gang)

    @cached_property
    def untold(self) -> Sequence[str]:
        """What the admission policy cannot tell of it."""
        floor, in_gang = self.standing.floor, self.group is not None
        labels = self.fleet.labels
        found = untold(self.workload, floor, self.of_namespace, in_gang=in_gang, labels=labels)
        return [*found]

    @cached_property
    def _known(self) -> dict[str, tuple[NodeRequest, frozenset[Capacity]]]:
        return {}

    def asks(self, pod: Pod) -> tuple[NodeRequest, frozenset[Capacity]]:
        """What the next pod asks of its node that is made in the place of one of its pods.

        And the capacity types that it may go to by its own rules.
        """
        if pod.uid not in self._known:
            claims, fleet = self.namespace_objects.claims, self.fleet
            request = request_of(pod, fleet.labels, claims, fleet.volumes)
            self._known[pod.uid] = request, allowed_by(request.rules, fleet.labels)
        return self._known[pod.uid]

    def request(self, pod: Pod) -> NodeRequest:
        """What the next pod asks of its node that is made in the place of one of its pods."""
        return self.asks(pod)[0]

    def rules(self) -> NewPodSpec:
        """What its pods ask of their nodes by themselves; without any pod its template counts."""
        pod = next(iter(self.owned), None)
        return self.request(pod).rules if pod is not None else self.workload.spec.template.spec

    def failures(self, target: Capacity, now: datetime) -> int:
        """How many failures count against a move to this capacity type.

        Those of spot count not against a floor.
        """
        last = self.last_move
        spot_failed = last is not None and last.target is Capacity.SPOT
        if self.cooldown is None or (target is Capacity.ON_DEMAND and spot_failed):
            return 0
        return self.cooldown.counts(now)

    def with_pods(self, pods: Sequence[Pod], workload: Movable) -> "Candidate":
        """The same with pods that were read again."""
        floor, is_managed = self.standing.floor, self.standing.is_managed
        standing = stand(workload, floor, pods, self.fleet.capacities, is_managed=is_managed)
        return msgspec.structs.replace(self, workload=workload, standing=standing, pods=pods)

    def about(
        self,
        verb: Verb,
        reason: Reason,
        message: str,
        *,
        pod: Pod | None = None,
        **details: Unpack[Details],
    ) -> Decision:
        """A decision about a pod of the workload, or about the workload itself."""
        details.setdefault("workload", self.workload.reference)
        return Decision.about(pod or self.workload, verb, reason, message, **details)

    def leave(self, reason: Reason, message: str, **details: Unpack[Details]) -> Decision:
        """Leave the workload as it is."""
        return self.about(Verb.LEAVE, reason, message, **details)

    def wait(self, reason: Reason, message: str, **details: Unpack[Details]) -> Decision:
        """Wait for something, and leave the workload until then."""
        return self.about(Verb.WAIT, reason, message, **details)


def candidate_of(
    workload: Movable,
    pods: Sequence[Pod],
    fleet: Fleet,
    around: NamespaceObjects,
    of_namespace: Mapping[str, str],
    *,
    is_managed: bool,
) -> Candidate:
    """A workload with its pods, counted by where they are; ``around`` is in its namespace, too."""
    name = group_of_template(workload)
    group = name if name is not None and is_gang(around.group(name)) else None
    floor = floor_of(workload, of_namespace, in_gang=group is not None)
    return Candidate(
        workload=workload,
        standing=stand(workload, floor, pods, fleet.capacities, is_managed=is_managed),
        fleet=fleet,
        group=group,
        pods=pods,
        namespace_objects=around,
        of_namespace=of_namespace,
    )


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One look at the cluster.

    ``pods`` are all that have not ended, of whatever owner; ``members``: how many active pods name
    a group. ``rest``: what is known of moves to spot without room; None: they are not this run's.
    ``namespaces`` are all that there are. ``not_taken``: the workloads, by key, about which every
    write was refused or undone of late. ``move_leases`` and ``template_leases`` tell of moves, and
    of templates that were written.
    """

    now: datetime
    candidates: Sequence[Candidate]
    fleet: Fleet
    pods: Sequence[Pod] = ()
    terms: Terms = Terms()
    members: Mapping[GroupName, int] = {}
    rest: SpotRest | None = None
    namespaces: Sequence[Namespace] = ()
    not_taken: Mapping[str, NotTaken] = {}
    move_leases: Sequence[Lease] = ()
    template_leases: Sequence[Lease] = ()

    @cached_property
    def _least_important(self) -> Mapping[str, int]:
        """The lowest priority of the pods on each node that has any."""
        lowest = dict[str, int]()
        for pod in self.pods:
            node, priority = pod.spec.node_name, pod.spec.priority
            lowest[node] = min(priority, lowest.get(node, priority))
        return lowest

    def preempts(self, pod: Pod, nodes: Iterable[Node]) -> bool:
        """Whether the scheduler may have others go for such a pod, where these nodes are full."""
        lowest, priority = self._least_important, pod.spec.priority
        return any(lowest.get(node.name, priority) < priority for node in nodes)
