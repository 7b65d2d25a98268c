"""Reading the snapshot: all workloads with their pods, and the nodes.

Nothing of it is fresher than the cluster was when it was read: what is moved is read again.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final

import msgspec

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.floor.source import floor_of
from evenkeel.decisions.floor.standing import Workload, stand
from evenkeel.decisions.notice import mark
from evenkeel.decisions.placement.policy import untold
from evenkeel.decisions.pools.warned import warned
from evenkeel.decisions.restore import move_gang
from evenkeel.decisions.restore.snapshot import Case, Placing, Snapshot, Terms
from evenkeel.decisions.room.fleet import Fleet, used_by
from evenkeel.errors import ForbiddenError, NotFoundError
from evenkeel.flows import namespace_objects
from evenkeel.flows.reads import answered, ask, list_all
from evenkeel.flows.restore.compact import Compactor
from evenkeel.flows.selections import pods_selected
from evenkeel.model import names
from evenkeel.model.annotations import MANAGED
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.cluster_objects import (
    Lease,
    MutatingAdmissionPolicyBinding,
    MutatingWebhookConfiguration,
    Namespace,
    PersistentVolume,
)
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.gang import group_of, group_of_template
from evenkeel.model.losses import Loss, losses_in
from evenkeel.model.meta import KubernetesObject, Metadata
from evenkeel.model.move import Move, believed_move
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Listing, Selection
from evenkeel.model.spot_rest import SpotRest
from evenkeel.model.template import is_by_template
from evenkeel.ports import Clock, Cluster

MOVES: Final = Selection(Lease, names.SYSTEM_NAMESPACE, labels=names.MOVE_OF)
"""The Leases that tell of moves."""

REST: Final = Selection(Lease, names.SYSTEM_NAMESPACE, fields=f"metadata.name={names.SPOT_REST}")
"""The Lease that tells of moves to spot without room; restore may list Leases, and get none."""

LEADER: Final = Selection(
    Lease, names.SYSTEM_NAMESPACE, fields=f"metadata.name={names.HANDOVER_LEASE}"
)
"""The reconciler's Lease, which tells of pools that lost nodes."""

MANAGED_NAMESPACES: Final = Selection(Namespace, labels=f"{names.MANAGED}={names.TRUE}")
"""The namespaces that take part by their label."""

TRACES: Final = Selection(Lease, names.SYSTEM_NAMESPACE, labels=names.TEMPLATE_OF)
"""The Leases that tell whose template was written."""

WEBHOOK: Final = Selection(MutatingWebhookConfiguration, fields=f"metadata.name={names.PLACING}")
"""What tells about which pods the webhook is asked."""

POLICY: Final = Selection(MutatingAdmissionPolicyBinding, fields=f"metadata.name={names.PLACING}")
"""What tells which pods the admission policy places."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose workloads are looked at: those of one namespace, or all where it is empty.

    ``everywhere``: namespaces take part without the label, too. ``capacity_labels`` tell the nodes'
    capacity types.
    """

    namespace: str = ""
    everywhere: bool = False
    capacity_labels: CapacityLabels = WELL_KNOWN


def any_takes_part(cluster: Cluster, scope: Scope) -> bool:
    """Whether there is a namespace whose workloads may be moved. Raises ClusterError."""
    question = List(MANAGED_NAMESPACES, fresh=False, metadata_only=True)
    return scope.everywhere or bool(ask(cluster, question).items)


def read(cluster: Cluster, clock: Clock, terms: Terms, scope: Scope) -> Snapshot:
    """Take the snapshot. Raises ClusterError.

    Pods are read first: what else is read is then as new as they are, so no owner is missing. Yet
    before them what is known of moves without room: another run may begin some meanwhile, and then
    this run's write is refused.
    """
    rest = _read_rest(cluster, clock, scope)
    pods = _read_pods(cluster)
    where = scope.namespace
    workload_kinds: list[Any] = [Deployment, StatefulSet, ReplicaSet]
    requests = [List(Selection(kind, where)) for kind in workload_kinds]
    requests += namespace_objects.questions(where, fresh=True)
    requests += [List(Selection(Namespace)), List(Selection(Node))]
    found = list_all(cluster, requests)
    deployments, stateful_sets, replica_sets, *around, namespaces, nodes = found
    workloads = (*deployments, *stateful_sets)
    groups = _read_groups(cluster, workloads, where)
    around_pods = namespace_objects.by_namespace([*chain.from_iterable(around), *groups])
    fleet = _fleet(
        nodes, pods, scope.capacity_labels, _allowed(cluster, Selection(PersistentVolume))
    )
    fleet = msgspec.structs.replace(fleet, losses=_read_losses(cluster, clock.now(), fleet))
    webhooks, policies = _allowed(cluster, WEBHOOK), _allowed(cluster, POLICY)
    moves, traces = _read_moves(cluster, clock.now()), _read_traces(cluster)
    spaces = {space.name: space.metadata for space in namespaces}
    by_owner = _grouped(replica_sets, lambda each: each.controller_key)
    above = {each.key: each.controller_key for each in replica_sets}
    by_workload = _grouped(pods, lambda pod: above.get(pod.origin_key, pod.origin_key))
    cases = []
    for workload in workloads:
        its_pods, its_sets = by_workload[workload.key], by_owner[workload.key]
        in_its_namespace = around_pods.get(workload.namespace, NamespaceObjects())
        space = spaces.get(workload.namespace, Metadata(name=workload.namespace))
        in_gang = move_gang.named_by(workload, in_its_namespace) is not None
        standing = stand(
            workload,
            floor_of(workload, space.annotations, in_gang=in_gang),
            its_pods,
            fleet.capacity,
            is_managed=scope.everywhere or MANAGED.of(space.labels) == names.TRUE,
        )
        uids = [each.uid for each in (workload, *its_sets)]
        by_policy, nothing = _placed_by(workload, space, webhooks, policies)
        floor = standing.floor
        case = Case(
            standing=standing,
            replica_sets=its_sets,
            pods=its_pods,
            namespace_objects=in_its_namespace,
            moves={uid: moves[uid] for uid in uids if uid in moves},
            trace=traces.get(workload.uid),
            of_namespace=space.annotations,
            placing=Placing(
                by_policy=by_policy,
                cannot_tell=[*untold(workload, floor, space.annotations, in_gang=in_gang)],
                nothing=nothing,
            ),
        )
        cases.append(case)
    named = (group_of(pod) for pod in pods if pod.active)
    members = Counter(group for group in named if group is not None)
    return Snapshot(
        now=clock.now(),
        cases=cases,
        fleet=fleet,
        pods=pods,
        terms=terms,
        members=members,
        rest=rest,
        namespaces=namespaces,
    )


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


def _read_pods(cluster: Cluster) -> Sequence[Pod]:
    (pods,) = list_all(cluster, [List(Selection(Pod), kept=Compactor().compact)])
    return pods


def _read_groups(
    cluster: Cluster, workloads: Iterable[Workload], namespace: str
) -> Sequence[KubernetesObject]:
    """The groups of the kinds that templates name.

    A kind that the cluster does not have, or does not show, has none. Raises ClusterError where
    the API server does not answer.
    """
    named = {name.kind for name in map(group_of_template, workloads) if name is not None}
    requests = [List(Selection(kind, namespace), fresh=False) for kind in named]
    replies = answered(cluster.perform(requests) if requests else ())
    listings = [reply.result for reply in replies if isinstance(reply.result, Listing)]
    return [item for listing in listings for item in listing.items]


def _read_moves(cluster: Cluster, now: datetime) -> Mapping[str, Move]:
    """The moves that the webhook was told of, by the uid of their controller."""
    moves = [(lease, believed_move(lease, now)) for lease in _read_leases(cluster, MOVES)]
    return {lease.metadata.labels[names.MOVE_OF]: move for lease, move in moves if move is not None}


def _read_traces(cluster: Cluster) -> Mapping[str, Lease]:
    """What tells that a template was written, by the uid of its workload."""
    leases = _read_leases(cluster, TRACES)
    return {lease.metadata.labels[names.TEMPLATE_OF]: lease for lease in leases}


def _read_rest(cluster: Cluster, clock: Clock, scope: Scope) -> SpotRest | None:
    """What is known of moves to spot without room.

    None for a run that does not see all of them: it looks at one namespace, or may read no Leases.
    """
    if scope.namespace:
        return None
    try:
        found = ask(cluster, List(REST)).items
    except ForbiddenError:
        return None
    return SpotRest.of(found[0], clock.now()) if found else SpotRest()


def _read_leases(cluster: Cluster, selection: Selection[Lease]) -> Sequence[Lease]:
    """Evenkeel's Leases; none for a person who may not read them."""
    return _allowed(cluster, selection) or ()


def _allowed[T: KubernetesObject](cluster: Cluster, selection: Selection[T]) -> Sequence[T] | None:
    """What is selected; None for somebody who may not read it. Nothing of a kind not served."""
    try:
        return ask(cluster, List(selection)).items
    except NotFoundError:
        return ()
    except ForbiddenError:
        return None


def _grouped[T](items: Iterable[T], key: Callable[[T], str]) -> Mapping[str, Sequence[T]]:
    """Items by a key; of a key that none has an empty list."""
    found: defaultdict[str, list[T]] = defaultdict(list)
    for each in items:
        found[key(each)].append(each)
    return found


def _fleet(
    nodes: Sequence[Node],
    pods: Iterable[Pod],
    labels: CapacityLabels,
    volumes: Sequence[PersistentVolume] | None,
) -> Fleet:
    doomed = frozenset(
        node.name
        for node in nodes
        if names.DOOMED in node.metadata.labels and not mark.is_only_noted(node)
    )
    return Fleet(
        {node.name: node for node in nodes},
        doomed,
        used_by(pods),
        labels.among(nodes),
        volumes=None if volumes is None else {each.name: each for each in volumes},
    )


def _placed_by(
    workload: Workload,
    namespace: Metadata,
    webhooks: Sequence[MutatingWebhookConfiguration] | None,
    policies: Sequence[MutatingAdmissionPolicyBinding] | None,
) -> tuple[bool, str]:
    """Whether the policy places a workload's new pods, and why nothing does; empty if something.

    Its template may, or Evenkeel's scheduler, or a webhook, or else the policy. None of these: not
    to be read.
    """
    template = workload.spec.template
    if is_by_template(workload) or template.spec.scheduler_name == names.SCHEDULER:
        return False, ""
    for each in webhooks or (), policies or ():
        matched = chain.from_iterable(placer.matched for placer in each)
        if any(those.has(namespace, template.metadata.labels) for those in matched):
            return each is policies, ""
    if webhooks is None or policies is None:
        asked = WEBHOOK if webhooks is None else POLICY
        return False, (
            f"no right to list {asked.kind.resource.plural} {names.PLACING}, so it is not known"
            " whether new pods are placed"
        )
    return False, f"no webhook or policy places new pods in the namespace {namespace.name}"


def _read_losses(cluster: Cluster, now: datetime, fleet: Fleet) -> Sequence[Loss]:
    """The lost pools that the reconciler's Lease notes, to which the doomed nodes add."""
    notes = next((lease.metadata.annotations for lease in _read_leases(cluster, LEADER)), {})
    doomed = map(fleet.nodes.__getitem__, fleet.doomed)
    return [*losses_in(notes.get(names.LOST_POOLS), now), *warned(doomed, fleet.labels, now)]


def has_leftovers(snapshot: Snapshot) -> bool:
    """Whether the reconciler has something to look after: doomed nodes, or released pods."""
    released = any(pod.released for case in snapshot.cases for pod in case.pods)
    return released or bool(snapshot.fleet.doomed)
