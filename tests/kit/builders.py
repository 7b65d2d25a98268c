"""Small builders of model objects for tests: sane defaults, and only what a test cares about.

Every object is as the API server would send it: a pod that is given a ReplicaSet as its owner
carries that ReplicaSet's labels and an owner reference; a released pod carries Evenkeel's label
and annotations instead. Uids are made from names, so equal calls give equal objects.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.nodes import Nodes
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.route import Route
from evenkeel.decisions.interruption import wording
from evenkeel.model import names
from evenkeel.model.affinity import (
    Affinity,
    NodeRequirement,
    NodeSelector,
    NodeSelectorTerm,
    PodAntiAffinity,
    PodTerm,
)
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import (
    NetworkPolicy,
    NetworkPolicySpec,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    Service,
    ServiceSpec,
    VolumeNodeAffinity,
)
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.job import Job, JobSpec, PodFailurePolicy
from evenkeel.model.controllers.replica_set import ReplicaSet, ReplicaSetStatus
from evenkeel.model.controllers.replicated import ReplicatedSpec
from evenkeel.model.controllers.stateful_set import StatefulSet, StatefulSetSpec
from evenkeel.model.deployment import (
    Deployment,
    DeploymentSpec,
    DeploymentStrategy,
    IntOrString,
    RollingUpdate,
)
from evenkeel.model.interruption import Interruption, Untold
from evenkeel.model.meta import (
    Condition,
    KubernetesObject,
    LabelSelector,
    Metadata,
    OwnerReference,
)
from evenkeel.model.node import (
    ManagedFields,
    Node,
    NodeInfo,
    NodeMetadata,
    NodeSpec,
    NodeStatus,
    OwnedFields,
    OwnedSpec,
    Taint,
)
from evenkeel.model.notes import VERSION
from evenkeel.model.notice import LEAD, NodeNotice, NoticeKind
from evenkeel.model.notification import Notification, Phase
from evenkeel.model.placement import Placed
from evenkeel.model.pod import (
    ClaimSource,
    Container,
    ContainerState,
    ContainerStatus,
    ContainerWaiting,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Volume,
)
from evenkeel.model.pool import Pool
from evenkeel.model.reasons import Reason
from evenkeel.model.release import Cooldown, Release, ReleaseReason
from evenkeel.model.request import Patch
from evenkeel.model.way import Way
from evenkeel_sandbox.simulator.api.patches import json_patch
from tests.kit import clocks

NOW = clocks.NOW
"""When tests take place, unless they say otherwise."""

LONG_AGO = NOW - timedelta(hours=1)
"""When what was there before was made."""

HASH = "6d5f8c7b9"
"""The template hash of ReplicaSets, unless told otherwise."""

INTERRUPTION_DEADLINE = timedelta(seconds=120)
REBALANCE_DEADLINE = timedelta(minutes=15)


def notification(phase: Phase = Phase.BEGAN) -> Notification:
    """What is told of an interruption of two nodes."""
    about = Interruption(
        began_at=NOW, active_at=NOW, to_move=3, deadline=NOW + LEAD, nodes=2, named=("a", "b")
    )
    untold = Untold(at=NOW, is_over=phase is Phase.OVER, about=about)
    return wording.of(untold, "prod", "act")


def seconds(number: float) -> timedelta:
    """A span of so many seconds."""
    return timedelta(seconds=number)


def metadata(
    name: str,
    *,
    namespace: str = "default",
    uid: str = "",
    revision: int = 1,
    owner: KubernetesObject | OwnerReference | None = None,
    leaving: bool = False,
    **other: Any,
) -> Metadata:
    """The metadata of any object; ``other`` are Metadata's own fields."""
    values: dict[str, Any] = {"creation_timestamp": LONG_AGO} | other
    if leaving:
        values["deletion_timestamp"] = NOW
    return Metadata(
        name=name,
        namespace=namespace,
        uid=uid or f"{name}-uid",
        resource_version=str(revision),
        owner_references=() if owner is None else (owner_reference(owner),),
        **values,
    )


def owner_reference(owner: KubernetesObject | OwnerReference) -> OwnerReference:
    """The entry in ownerReferences that makes this object the controller."""
    return owner if isinstance(owner, OwnerReference) else owner.as_controller


def foreign_owner(kind: str, api_version: str = "example.com/v1") -> OwnerReference:
    """A controller of a kind that Evenkeel does not read."""
    return OwnerReference(
        api_version=api_version, kind=kind, name="x", uid=f"{kind}-uid", controller=True
    )


ABOVE = OwnerReference(
    api_version="apps/v1", kind="Deployment", name="web", uid="web-uid", controller=True
)
"""The Deployment of a ReplicaSet of which no more is said."""


def deployment(
    name: str = "web",
    *,
    replicas: int = 3,
    strategy: str = "RollingUpdate",
    max_surge: IntOrString = "25%",
    max_unavailable: IntOrString = "25%",
    min_ready_seconds: int = 0,
    annotations: Mapping[str, str] | None = None,
    **meta: Any,
) -> Deployment:
    """A Deployment, with the strategy that the API server fills in."""
    rolling = RollingUpdate(max_surge=max_surge, max_unavailable=max_unavailable)
    return Deployment(
        metadata=metadata(name, annotations=dict(annotations or {}), **meta),
        spec=DeploymentSpec(
            replicas=replicas,
            selector=LabelSelector(match_labels={"app": name}),
            strategy=DeploymentStrategy(
                type=strategy, rolling_update=rolling if strategy == "RollingUpdate" else None
            ),
            min_ready_seconds=min_ready_seconds,
        ),
    )


def replica_set(
    name: str = "",
    *,
    of: Deployment | OwnerReference | None = ABOVE,
    replicas: int = 3,
    template_hash: str = HASH,
    selector: Mapping[str, str] | None = None,
    min_ready_seconds: int = 0,
    failure: str = "",
    annotations: Mapping[str, str] | None = None,
    **meta: Any,
) -> ReplicaSet:
    """A ReplicaSet of a Deployment, unless ``of`` is None.

    ``failure`` is why its controller cannot create pods, if it cannot.
    """
    sized = {names.DESIRED_REPLICAS: str(of.spec.replicas)} if isinstance(of, Deployment) else {}
    app = of.name if of is not None else "web"
    failed = Condition(type="ReplicaFailure", status="True", reason="FailedCreate", message=failure)
    if selector is None:
        selector = {"app": app, names.TEMPLATE_HASH: template_hash}
    return ReplicaSet(
        metadata=metadata(
            name or f"{app}-{template_hash}",
            owner=of,
            labels=dict(selector),
            annotations=sized | dict(annotations or {}),
            **meta,
        ),
        spec=ReplicatedSpec(
            replicas=replicas,
            selector=LabelSelector(match_labels=dict(selector)),
            min_ready_seconds=min_ready_seconds,
        ),
        status=ReplicaSetStatus(conditions=(failed,) if failure else ()),
    )


def stateful_set(
    name: str = "db",
    *,
    replicas: int = 3,
    min_ready_seconds: int = 0,
    annotations: Mapping[str, str] | None = None,
    **meta: Any,
) -> StatefulSet:
    """A StatefulSet."""
    return StatefulSet(
        metadata=metadata(name, annotations=dict(annotations or {}), **meta),
        spec=StatefulSetSpec(
            replicas=replicas,
            selector=LabelSelector(match_labels={"app": name}),
            min_ready_seconds=min_ready_seconds,
        ),
    )


def job(
    name: str = "batch",
    *,
    parallelism: int = 1,
    ignores_disruptions: bool = False,
    annotations: Mapping[str, str] | None = None,
    **meta: Any,
) -> Job:
    """A Job. ``ignores_disruptions``: a podFailurePolicy does not count disrupted pods."""
    return Job(
        metadata=metadata(name, annotations=dict(annotations or {}), **meta),
        spec=JobSpec(
            parallelism=parallelism,
            pod_failure_policy=PodFailurePolicy() if ignores_disruptions else None,
        ),
    )


def pod(
    name: str = "web-1",
    *,
    of: KubernetesObject | OwnerReference | None = None,
    node: str = "n1",
    ready: bool = True,
    ready_since: datetime = LONG_AGO,
    released: Release | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    conditions: Sequence[Condition] = (),
    phase: str = "",
    start_time: datetime | None = LONG_AGO,
    waiting: str = "",
    grace: int | None = None,
    priority: int = 0,
    claim: str = "",
    requests: Mapping[str, str] | None = None,
    **meta: Any,
) -> Pod:
    """A pod, running and ready on node n1.

    ``of`` is its controller; a ReplicaSet, StatefulSet or Job gives it its labels, too.
    ``released``: Evenkeel took it out of the ReplicaSet ``of``, and its Deployment has it.
    ``claim`` is the PersistentVolumeClaim that it mounts. ``node`` empty: it was not scheduled
    yet. ``waiting``: why its container does. ``meta`` goes to ``metadata``.
    """
    its_labels = dict(_selector_of(of)) | dict(labels or {})
    its_annotations = dict(annotations or {})
    if released is not None:
        own = its_labels.get(names.TEMPLATE_HASH, HASH)
        its_labels[names.RELEASED_FROM] = own
        its_labels[names.TEMPLATE_HASH] = names.released_hash(own)
        its_annotations |= {
            names.RELEASE: msgspec.json.encode(released).decode(),
            names.DO_NOT_DISRUPT: "true",
        }
    readiness = Condition(
        type="Ready",
        status="True" if ready else "False",
        last_transition_time=ready_since if ready else None,
    )
    volume = Volume(persistent_volume_claim=ClaimSource(claim_name=claim))
    return Pod(
        metadata=metadata(
            name,
            owner=of if released is None else ABOVE,
            labels=its_labels,
            annotations=its_annotations,
            **meta,
        ),
        spec=PodSpec(
            node_name=node,
            termination_grace_period_seconds=grace,
            priority=priority,
            volumes=(volume,) if claim else (),
            containers=(
                (Container(resources=ResourceRequirements(requests=dict(requests))),)
                if requests
                else ()
            ),
        ),
        status=PodStatus(
            phase=phase or ("Running" if ready else "Pending"),
            conditions=(readiness, *conditions),
            start_time=start_time,
            container_statuses=(
                ContainerStatus(state=ContainerState(waiting=ContainerWaiting(reason=waiting))),
            )
            if waiting
            else (),
        ),
    )


def apart(pod: Pod, *keys: str) -> Pod:
    """The same pod, kept off others of its kind in the same node, zone, or what else."""
    rule = PodAntiAffinity(required=tuple(PodTerm(topology_key=key) for key in keys))
    spec = msgspec.structs.replace(pod.spec, affinity=Affinity(pod_anti_affinity=rule))
    return msgspec.structs.replace(pod, spec=spec)


def pods(
    number: int,
    *,
    of: KubernetesObject | OwnerReference | None = None,
    prefix: str = "",
    **same: Any,
) -> list[Pod]:
    """So many pods that differ in their names alone: ``<prefix>-0``, ``<prefix>-1`` ..."""
    prefix = prefix or (of.name if of is not None else "pod")
    return [pod(f"{prefix}-{i}", of=of, **same) for i in range(number)]


def _selector_of(owner: KubernetesObject | OwnerReference | None) -> Mapping[str, str]:
    if isinstance(owner, ReplicaSet | StatefulSet):
        return owner.spec.selector.match_labels
    return {"batch.kubernetes.io/controller-uid": owner.uid} if isinstance(owner, Job) else {}


def release(
    replica_set: Controller | None = None,
    *,
    reason: ReleaseReason = ReleaseReason.INTERRUPTION,
    deadline: datetime | None = None,
    since: datetime = NOW,
    wanted: int | None = None,
    do_not_disrupt: str | None = None,
    target: Capacity | None = None,
    avoid: tuple[Pool, ...] = (),
    there: int = 0,
    asked_by: str = "",
) -> Release:
    """A release from a ReplicaSet; by default everything that it asks for was there."""
    if deadline is None:
        voluntary = reason is not ReleaseReason.INTERRUPTION
        deadline = NOW + (REBALANCE_DEADLINE if voluntary else INTERRUPTION_DEADLINE)
    if wanted is None:
        wanted = replica_set.at_a_time if replica_set is not None else 1
    return Release(
        reason=reason,
        deadline=deadline,
        since=since,
        wanted=wanted,
        controller=replica_set.name if replica_set is not None else f"web-{HASH}",
        controller_uid=replica_set.uid if replica_set is not None else f"web-{HASH}-uid",
        do_not_disrupt=do_not_disrupt,
        target=target,
        avoid=avoid,
        there=there,
        asked_by=asked_by,
    )


def cooldown(failures: int, until: datetime, key: str = names.COOLDOWN) -> dict[str, str]:
    """The annotations of a workload that cools down."""
    value = Cooldown(failures=failures, until=until)
    return {key: msgspec.json.encode(value).decode()}


def notice(
    kind: NoticeKind = NoticeKind.INTERRUPTION,
    *,
    deadline: datetime | None = None,
    since: datetime = NOW,
    cordoned: bool = True,
    **other: Any,
) -> NodeNotice:
    """The notice of a doomed node; ``other`` are NodeNotice's own fields."""
    if deadline is None:
        hint = kind is NoticeKind.REBALANCE
        deadline = since + (REBALANCE_DEADLINE if hint else INTERRUPTION_DEADLINE)
    values: dict[str, Any] = {
        "event_id": "event-1",
        "cordoned_at": since if cordoned else None,
    } | other
    return NodeNotice(kind=kind, deadline=deadline, since=since, **values)


def hint(**changes: Any) -> NodeNotice:
    """A rebalance recommendation; ``changes`` go to ``notice``."""
    return notice(NoticeKind.REBALANCE, **changes)


def node(
    name: str = "n1",
    *,
    notice: NodeNotice | None = None,
    spot: bool = True,
    ready: bool = True,
    unschedulable: bool = False,
    taints: Sequence[Taint] = (),
    labels: Mapping[str, str] | None = None,
    instance_id: str = "i-0123456789abcdef0",
    allocatable: Mapping[str, str] | None = None,
    boot_id: str = "",
    cordoned_by: Sequence[str] = (),
    **meta: Any,
) -> Node:
    """A node; with a notice it is marked, and drained where the notice says so.

    ``cordoned_by`` are the field managers of its cordon.
    """
    its_labels = {names.CAPACITY_LABELS[-1]: "spot" if spot else "on-demand"} | dict(labels or {})
    annotations: dict[str, str] = {}
    its_taints = list(taints)
    if notice is not None:
        its_labels[names.DOOMED] = notice.kind.value
        annotations[names.NOTICE] = msgspec.json.encode(notice).decode()
        if notice.cordoned_at is not None:
            unschedulable = unschedulable or notice.cordons
            its_taints.append(Taint(key=names.DOOMED, value=notice.kind, effect="NoSchedule"))
    its = metadata(name, namespace="", labels=its_labels, annotations=annotations, **meta)
    fields = OwnedFields(spec=OwnedSpec(unschedulable={}))
    managed = tuple(ManagedFields(manager=each, fields=fields) for each in cordoned_by)
    return Node(
        metadata=NodeMetadata(**msgspec.structs.asdict(its), managed_fields=managed),
        spec=NodeSpec(
            unschedulable=unschedulable,
            taints=tuple(its_taints),
            provider_id=f"aws:///eu-central-1a/{instance_id}",
        ),
        status=NodeStatus(
            conditions=(Condition(type="Ready", status="True" if ready else "False"),),
            allocatable=dict(allocatable or {}),
            node_info=NodeInfo(boot_id=boot_id),
        ),
    )


def budget(
    name: str = "web",
    *,
    selects: Mapping[str, str] | None = None,
    min_available: IntOrString | None = None,
    max_unavailable: IntOrString | None = None,
    healthy: int = 3,
    demanded: int = 2,
) -> PodDisruptionBudget:
    """A PodDisruptionBudget and what was counted under it last; selects app=web by default."""
    return PodDisruptionBudget(
        metadata=metadata(name),
        spec=PodDisruptionBudgetSpec(
            selector=LabelSelector(match_labels=dict(selects or {"app": "web"})),
            min_available=min_available,
            max_unavailable=max_unavailable,
        ),
        status=PodDisruptionBudgetStatus(
            disruptions_allowed=max(0, healthy - demanded),
            current_healthy=healthy,
            desired_healthy=demanded,
        ),
    )


def service(name: str = "web", *, selects: Mapping[str, str] | None = None) -> Service:
    """A Service; selects app=web by default."""
    return Service(
        metadata=metadata(name),
        spec=ServiceSpec(selector={"app": "web"} if selects is None else dict(selects)),
    )


def policy(name: str = "web", *, selects: LabelSelector | None = None) -> NetworkPolicy:
    """A NetworkPolicy; selects every pod of its namespace by default."""
    return NetworkPolicy(
        metadata=metadata(name), spec=NetworkPolicySpec(pod_selector=selects or LabelSelector())
    )


def claim(name: str = "data", *modes: str, bound_to: str = "") -> PersistentVolumeClaim:
    """A PersistentVolumeClaim; ReadWriteOnce by default. ``bound_to`` names its volume."""
    return PersistentVolumeClaim(
        metadata=metadata(name),
        spec=PersistentVolumeClaimSpec(
            access_modes=modes or ("ReadWriteOnce",), volume_name=bound_to
        ),
    )


def in_zone(zone: str, of: str = "pv") -> PersistentVolume:
    """A volume of this name that the nodes of a zone can mount."""
    clause = NodeRequirement(key=names.ZONE, operator="In", values=(zone,))
    terms = (NodeSelectorTerm(match_expressions=(clause,)),)
    affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))
    return PersistentVolume(
        metadata=metadata(of, namespace=""), spec=PersistentVolumeSpec(node_affinity=affinity)
    )


def owner(controller: Controller | None = None, deployment: Deployment | None = None) -> Owner:
    """The owner of pods that Evenkeel can read."""
    kind = controller.resource.kind if controller is not None else ""
    return Owner(kind=kind, controller=controller, deployment=deployment)


def moving(
    pod: Pod, way: Way, notice: NodeNotice, *, warning: bool = False, **other: Any
) -> MovingPod:
    """A pod that has to move, this way; ``other`` are MovingPod's own fields."""
    route = Route(way=way, reason=Reason.RECREATE, cause="it is so", warning=warning)
    return MovingPod(pod, route, notice, **other)


NO_NODES: Final = Nodes()
"""Nothing is known of any node."""


def census(
    replica_set: ReplicaSet | None,
    *,
    owned: Sequence[Pod] = (),
    released: Sequence[Pod] = (),
    dooms: Mapping[str, NodeNotice] | None = None,
    lost: Sequence[str] = (),
    deployment: Deployment | None = None,
    now: datetime = NOW,
    **other: Any,
) -> Census:
    """The census of a ReplicaSet's pods; ``replica_set`` None: it is gone.

    ``other`` are Census's own fields.
    """
    owner = Owner(kind="ReplicaSet", controller=replica_set, deployment=deployment)
    nodes = Nodes(dooms=dooms or {}, lost=frozenset(lost))
    return census_of(owner, [*owned, *released], nodes=nodes, now=now, **other)


def census_of(
    owner: Owner, pods: Sequence[Pod], *, nodes: Nodes = NO_NODES, now: datetime = NOW, **other: Any
) -> Census:
    """The census of anybody's pods; ``other`` are Census's own fields."""
    return Census(now=now, owner=owner, pods=pods, nodes=nodes, **other)


def with_nodes(of: Census, **fields: Any) -> Census:
    """The same census with other fields of its Nodes."""
    return msgspec.structs.replace(of, nodes=msgspec.structs.replace(of.nodes, **fields))


def placed_as(capacity: Capacity, at: datetime, **fields: Any) -> Placed:
    """What placement notes on a pod, in this version's format."""
    return Placed(v=VERSION, as_=capacity, at=at, **fields)


def release_on(pod: Pod) -> Release:
    """What the annotation of a released pod says."""
    return msgspec.json.decode(pod.metadata.annotations[names.RELEASE], type=Release)


def manifest(item: KubernetesObject) -> dict[str, Any]:
    """The object as the API server sends it: what is empty is left out."""
    document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(item))
    return {"apiVersion": item.resource.api_version, "kind": item.resource.kind, **document}


def patched[T: KubernetesObject](item: T, patch: object) -> T:
    """The object after one of Evenkeel's JSON patches; InvalidError if a test in it fails."""
    assert isinstance(patch, Patch)
    operations = msgspec.json.decode(patch.to_wire(), type=list[dict[str, Any]])
    return msgspec.convert(json_patch(manifest(item), operations), type(item))
