"""Reading the snapshot: all workloads with their pods, and the nodes.

Nothing of it is fresher than the cluster was when it was read: what is moved is read again.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from evenkeel.decisions.drain.surroundings import Surroundings
from evenkeel.decisions.floor.source import floor_of
from evenkeel.decisions.floor.standing import Workload, stand
from evenkeel.decisions.notice import mark
from evenkeel.decisions.restore import gang
from evenkeel.decisions.restore.snapshot import Case, Fleet, Snapshot, Terms
from evenkeel.errors import ForbiddenError
from evenkeel.flows.asking import list_all
from evenkeel.flows.groups import read_groups
from evenkeel.flows.restore.compact import Compactor
from evenkeel.flows.selections import pods_selected
from evenkeel.model import names
from evenkeel.model.annotations import MANAGED
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.gang import PodGroup, group_of, group_of_template
from evenkeel.model.move import Move, believed_move
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Selection
from evenkeel.model.surroundings import (
    Lease,
    Namespace,
    NetworkPolicy,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    Service,
)
from evenkeel.model.workload import Deployment, ReplicaSet, StatefulSet
from evenkeel.ports import Clock, Cluster

MOVES: Final = Selection(Lease, names.SYSTEM_NAMESPACE, labels=names.MOVE_OF)
"""The Leases that tell of moves."""

TRACES: Final = Selection(Lease, names.SYSTEM_NAMESPACE, labels=names.TEMPLATE_OF)
"""The Leases that tell whose template was written."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose workloads are looked at: those of one namespace, or all where it is empty.

    ``everywhere``: namespaces take part without the label, too. ``capacity_labels`` tell the nodes'
    capacity types.
    """

    namespace: str = ""
    everywhere: bool = False
    capacity_labels: CapacityLabels = WELL_KNOWN


def read(cluster: Cluster, clock: Clock, terms: Terms, scope: Scope) -> Snapshot:
    """Take the snapshot. Raises ClusterError.

    Pods are read first: what else is read is then as new as they are, so no owner is missing.
    """
    pods = _read_pods(cluster)
    where = scope.namespace
    kinds: list[Any] = [
        *(Deployment, StatefulSet, ReplicaSet),
        *(PodDisruptionBudget, Service, NetworkPolicy, PersistentVolumeClaim),
    ]
    requests: list[List[Any]] = [List(Selection(kind, where)) for kind in kinds]
    requests += [List(Selection(Namespace)), List(Selection(Node))]
    found = list_all(cluster, requests)
    deployments, stateful_sets, replica_sets, *around, namespaces, nodes = found
    by_owner = _by_owner(replica_sets)
    by_workload = _by_workload(pods, replica_sets)
    workloads = (*deployments, *stateful_sets)
    groups = read_groups(cluster, _kinds_named(workloads, where))
    surroundings = _surroundings([*(item for items in around for item in items), *groups])
    fleet = _fleet(nodes, pods, scope.capacity_labels)
    moves, traces = _read_moves(cluster, clock.now()), _read_traces(cluster)
    spaces = {space.name: space for space in namespaces}
    maker = _Maker(fleet, spaces, surroundings, moves, traces, everywhere=scope.everywhere)
    cases = [
        maker.case(workload, by_owner[workload.key], by_workload[workload.key])
        for workload in workloads
    ]
    named = (group_of(pod) for pod in pods if pod.active)
    members = Counter(group for group in named if group is not None)
    return Snapshot(now=clock.now(), cases=cases, fleet=fleet, terms=terms, members=members)


def read_again(cluster: Cluster, cases: Sequence[Case], fleet: Fleet) -> Sequence[Case | None]:
    """Workloads and their pods as they are now. Raises ClusterError.

    None for one that is gone, or that its owner has changed: the snapshot knows neither the
    ReplicaSets of a rollout that has begun since, nor another floor. All are asked for at once:
    what an API server proves to be fresh it answers about 0.1 s later.
    """
    found = [case.workload for case in cases]
    asked = [pods_selected(each.namespace, each.spec.selector) for each in found]
    pods = list_all(cluster, asked)
    replies = cluster.perform([Get(type(each), each.name, each.namespace) for each in found])
    return [
        _renewed(case, mine, reply.result, fleet)
        for case, mine, reply in zip(cases, pods, replies, strict=True)
    ]


def _renewed(case: Case, pods: Sequence[Pod], workload: object, fleet: Fleet) -> Case | None:
    """A workload with its pods among these, if it is still the same."""
    if not isinstance(workload, Deployment | StatefulSet) or _is_changed(case.workload, workload):
        return None
    owners = {case.workload.key} | {each.key for each in case.replica_sets}
    mine = [pod for pod in pods if pod.origin_key in owners]
    standing = case.standing
    newer = stand(workload, standing.floor, mine, fleet.capacity, is_managed=standing.is_managed)
    return msgspec.structs.replace(case, standing=newer, pods=mine)


def _is_changed(before: Workload, now: Workload) -> bool:
    """Whether a workload is another, or wants another size, template or floor."""
    old, new = before.metadata, now.metadata
    return (old.uid, old.generation, old.annotations.get(names.ON_DEMAND)) != (
        new.uid,
        new.generation,
        new.annotations.get(names.ON_DEMAND),
    )


class _Maker:
    """Puts cases together."""

    def __init__(
        self,
        fleet: Fleet,
        spaces: Mapping[str, Namespace],
        surroundings: Mapping[str, Surroundings],
        moves: Mapping[str, Move],
        traces: Mapping[str, Lease],
        *,
        everywhere: bool,
    ) -> None:
        self._fleet = fleet
        self._spaces = spaces
        self._surroundings = surroundings
        self._moves = moves
        self._traces = traces
        self._everywhere = everywhere

    def case(
        self, workload: Workload, replica_sets: Sequence[ReplicaSet], pods: Sequence[Pod]
    ) -> Case:
        """A workload with all that belongs to it."""
        space = self._spaces.get(workload.namespace)
        annotations = space.metadata.annotations if space is not None else {}
        labels = space.metadata.labels if space is not None else {}
        surroundings = self._surroundings.get(workload.namespace, Surroundings())
        standing = stand(
            workload,
            floor_of(
                workload, annotations, in_gang=gang.named_by(workload, surroundings) is not None
            ),
            pods,
            self._fleet.capacity,
            is_managed=self._everywhere or MANAGED.of(labels) == names.TRUE,
        )
        moves = {each.uid: self._moves.get(each.uid) for each in (workload, *replica_sets)}
        return Case(
            standing=standing,
            replica_sets=replica_sets,
            pods=pods,
            surroundings=surroundings,
            moves={uid: move for uid, move in moves.items() if move is not None},
            is_never=workload.namespace in names.CLUSTERS_OWN,
            trace=self._traces.get(workload.uid),
        )


def _read_pods(cluster: Cluster) -> Sequence[Pod]:
    (pods,) = list_all(cluster, [List(Selection(Pod), kept=Compactor().compact)])
    return pods


def _kinds_named(workloads: Iterable[Workload], namespace: str) -> Collection[Selection[PodGroup]]:
    """The groups of the kinds that templates name."""
    named = map(group_of_template, workloads)
    return {Selection(each.kind, namespace) for each in named if each is not None}


def _read_moves(cluster: Cluster, now: datetime) -> Mapping[str, Move]:
    """The moves that the webhook was told of; none for a person who may not read Leases."""
    try:
        (leases,) = list_all(cluster, [List(MOVES)])
    except ForbiddenError:
        return {}
    moves = [(lease, believed_move(lease, now)) for lease in leases]
    return {lease.metadata.labels[names.MOVE_OF]: move for lease, move in moves if move is not None}


def _read_traces(cluster: Cluster) -> Mapping[str, Lease]:
    """By workload what tells that its template was written; none for who may not read Leases."""
    try:
        (leases,) = list_all(cluster, [List(TRACES)])
    except ForbiddenError:
        return {}
    return {lease.metadata.labels[names.TEMPLATE_OF]: lease for lease in leases}


def _by_owner(replica_sets: Iterable[ReplicaSet]) -> Mapping[str, Sequence[ReplicaSet]]:
    found: defaultdict[str, list[ReplicaSet]] = defaultdict(list)
    for each in replica_sets:
        found[each.controller_key].append(each)
    return found


def _by_workload(
    pods: Iterable[Pod], replica_sets: Iterable[ReplicaSet]
) -> Mapping[str, Sequence[Pod]]:
    """By the key of the Deployment or StatefulSet that owns them, or did before a release."""
    above = {each.key: each.controller_key for each in replica_sets}
    found: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        key = pod.origin_key
        found[above.get(key, key)].append(pod)
    return found


def _surroundings(items: Iterable[Any]) -> Mapping[str, Surroundings]:
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for item in items:
        found[item.namespace].append(item)
    return {namespace: Surroundings.of(mine) for namespace, mine in found.items()}


def _fleet(nodes: Sequence[Node], pods: Iterable[Pod], labels: CapacityLabels) -> Fleet:
    used: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for pod in pods:
        if pod.spec.node_name:
            taken = used[pod.spec.node_name]
            for name, amount in pod.requests.items():
                taken[name] += amount
    doomed = frozenset(
        node.name
        for node in nodes
        if names.DOOMED in node.metadata.labels and not mark.is_only_noted(node)
    )
    return Fleet({node.name: node for node in nodes}, doomed, used, labels.among(nodes))


def has_leftovers(snapshot: Snapshot) -> bool:
    """Whether the reconciler has something to look after: doomed nodes, or released pods."""
    released = any(pod.released for case in snapshot.cases for pod in case.pods)
    return released or bool(snapshot.fleet.doomed)
