"""Reading the snapshot: all workloads with their pods, and the nodes.

Nothing of it is fresher than the cluster was when it was read: what is moved is read again.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, Final

import msgspec

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.floor.source import noted
from evenkeel.decisions.floor.standing import Movable
from evenkeel.decisions.notice import mark
from evenkeel.decisions.pools.warned import warned
from evenkeel.decisions.restore.snapshot import Candidate, Snapshot, Terms, candidate_of
from evenkeel.decisions.room.fleet import Fleet, used_by
from evenkeel.errors import ForbiddenError, TooLargeError
from evenkeel.flows import namespace_objects
from evenkeel.flows.reads import allowed_items, answered, ask, items_of, list_all, listings, of_kind
from evenkeel.flows.restore.compact import Compactor
from evenkeel.flows.selections import pods_selected
from evenkeel.model import names
from evenkeel.model.affinity import PodTemplate
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
from evenkeel.model.losses import losses_in
from evenkeel.model.meta import KubernetesObject, Metadata
from evenkeel.model.move import Move, believed_move
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Selection
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

    ``everywhere``: namespaces take part without the label, too. ``managed_only``: of all others no
    more is read than their pods. ``capacity_labels`` tell the nodes' capacity types.
    ``defaults_required``: default floors are required where a namespace says nothing else.
    """

    namespace: str = ""
    everywhere: bool = False
    managed_only: bool = False
    capacity_labels: CapacityLabels = WELL_KNOWN
    defaults_required: bool = False


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
    where, rest = scope.namespace, _read_rest(cluster, clock, scope)
    every_pod = List(Selection(Pod), kept=Compactor().compact)
    pods, namespaces = list_all(cluster, [every_pod, List(Selection(Namespace))])
    spaces = {space.name: space.metadata for space in namespaces}
    managed = {name for name, space in spaces.items() if MANAGED.of(space.labels) == names.TRUE}
    kept = partial(_kept, managed if scope.managed_only and not scope.everywhere else None)
    kinds: list[Any] = [Selection(kind, where) for kind in (Deployment, StatefulSet, ReplicaSet)]
    asked = [*map(List, kinds), *namespace_objects.questions(where, fresh=True)]
    needed = [*[replace(each, kept=kept) for each in asked], List(Selection(Node))]
    others: list[Any] = [WEBHOOK, POLICY, Selection(PersistentVolume), LEADER, MOVES, TRACES]
    replies = cluster.perform([*needed, *map(List, others)])
    found = items_of(replies[: len(needed)])
    deployments, stateful_sets, replica_sets, *objects, nodes = found
    webhooks, policies, volumes, *leases = allowed_items(replies[len(needed) :])
    leader, move_leases, traces = (each or () for each in leases)
    workloads, now = (*deployments, *stateful_sets), clock.now()
    groups = _read_groups(cluster, workloads, where)
    unread = frozenset[str]().union(*(each.unread for each in listings(replies[: len(needed)])))
    around = namespace_objects.by_namespace([*chain.from_iterable(objects), *groups], unread)
    fleet = _fleet(nodes, pods, scope.capacity_labels, volumes, leader, now)
    by_owner = _grouped(replica_sets, lambda each: each.controller_key)
    above = {each.key: each.controller_key for each in replica_sets}
    by_workload = _grouped(pods, lambda pod: above.get(pod.origin_key, pod.origin_key))
    moves = dict[str, Move]()
    for lease in move_leases:
        if (move := believed_move(lease, now)) is not None:
            moves[lease.metadata.labels[names.MOVE_OF]] = move
    written = {lease.metadata.labels[names.TEMPLATE_OF]: lease for lease in traces}
    candidates = []
    for workload in workloads:
        space = spaces.get(workload.namespace, Metadata(name=workload.namespace))
        candidate = candidate_of(
            workload,
            by_workload[workload.key],
            fleet,
            around.get(workload.namespace, NamespaceObjects()),
            noted(space.annotations, defaults_required=scope.defaults_required),
            is_managed=scope.everywhere or workload.namespace in managed,
        )
        by_policy, unplaced = _placed_by(workload, space, webhooks, policies)
        its_sets = by_owner[workload.key]
        uids = [workload.uid, *[each.uid for each in its_sets]]
        candidates.append(
            msgspec.structs.replace(
                candidate,
                replica_sets=its_sets,
                moves={uid: moves[uid] for uid in uids if uid in moves},
                trace=written.get(workload.uid),
                by_policy=by_policy,
                unplaced=unplaced,
            )
        )
    members = Counter([group_of(pod) for pod in pods if pod.active])
    return Snapshot(
        now=clock.now(),
        candidates=candidates,
        fleet=fleet,
        pods=pods,
        terms=terms,
        members={group: number for group, number in members.items() if group is not None},
        rest=rest,
        namespaces=namespaces,
        move_leases=move_leases,
        template_leases=traces,
    )


def _kept[T: KubernetesObject](among: Collection[str] | None, item: T) -> T | None:
    """An object of one of these namespaces; an old ReplicaSet, as most are, without template."""
    if among is not None and item.namespace not in among:
        return None
    if not isinstance(item, ReplicaSet) or item.spec.replicas:
        return item
    bare = msgspec.structs.replace(item.spec, template=PodTemplate())
    return msgspec.structs.replace(item, spec=bare)


def read_again(cluster: Cluster, candidates: Sequence[Candidate]) -> Mapping[str, Candidate]:
    """Workloads and their pods as they are now, by key. Raises ClusterError.

    Without those that are gone or too large to be read, or that their owners have changed: the
    snapshot knows neither the ReplicaSets of a rollout that has begun since, nor another floor. All
    are asked for at once: what an API server proves to be fresh it answers about 0.1 s later.
    """
    workloads = [each.workload for each in candidates]
    asked = [pods_selected(w.namespace, w.spec.selector) for w in workloads]
    pods = cluster.perform(asked)
    listings([each for each in pods if not isinstance(each.error, TooLargeError)])
    replies = cluster.perform([Get(type(each), each.name, each.namespace) for each in workloads])
    found = {}
    for candidate, listed, reply in zip(candidates, pods, replies, strict=True):
        workload = reply.result
        if listed.error is not None or not isinstance(workload, Deployment | StatefulSet):
            continue
        # Whether it is another now, or wants another size, template or floor.
        old, new = candidate.workload.metadata, workload.metadata
        floors = [each.annotations.get(names.ON_DEMAND) for each in (old, new)]
        if (old.uid, old.generation, floors[0]) == (new.uid, new.generation, floors[1]):
            owners = {workload.key} | {each.key for each in candidate.replica_sets}
            mine = [pod for pod in of_kind(Pod, listed.result) if pod.origin_key in owners]
            found[workload.key] = candidate.with_pods(mine, workload)
    return found


def _read_groups(
    cluster: Cluster, workloads: Iterable[Movable], namespace: str
) -> Sequence[KubernetesObject]:
    """The groups of the kinds that templates name.

    A kind that the cluster does not have, or does not show, has none. Raises ClusterError where
    the API server does not answer.
    """
    named = {name.kind for name in map(group_of_template, workloads) if name is not None}
    if not named:
        return ()
    requests = [List(Selection(kind, namespace), fresh=False) for kind in named]
    replies = answered(cluster.perform(requests))
    return of_kind(KubernetesObject, *(reply.result for reply in replies))


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
    leader: Sequence[Lease],
    now: datetime,
) -> Fleet:
    """The nodes, and the lost pools that the Lease notes, to which the doomed nodes add."""
    labels = labels.among(nodes)
    marked = [node for node in nodes if names.DOOMED in node.metadata.labels]
    doomed = [node for node in marked if not mark.is_only_noted(node)]
    notes = next((lease.metadata.annotations for lease in leader), {})
    return Fleet(
        {node.name: node for node in nodes},
        frozenset(node.name for node in doomed),
        used_by(pods),
        labels,
        losses=[*losses_in(notes.get(names.LOST_POOLS), now), *warned(doomed, labels, now)],
        volumes=None if volumes is None else {each.name: each for each in volumes},
    )


def _placed_by(
    workload: Movable,
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
