"""Kinds beside pods, nodes and workloads: budgets, services, claims, quotas, Leases, Events."""

from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar

import msgspec

from evenkeel.model import names
from evenkeel.model.affinity import NodeSelector
from evenkeel.model.deployment import IntOrString
from evenkeel.model.meta import ApiStruct, KubernetesObject, LabelSelector, Metadata, Resource
from evenkeel.model.times import sound_time


class PodDisruptionBudgetSpec(ApiStruct, frozen=True, kw_only=True):
    """What a budget demands; exactly one of the two bounds is set."""

    selector: LabelSelector | None = None
    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None


class PodDisruptionBudgetStatus(ApiStruct, frozen=True, kw_only=True):
    """What the disruption controller counted last; it lags behind Ready."""

    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0


class PodDisruptionBudget(KubernetesObject, frozen=True, kw_only=True):
    """A PodDisruptionBudget."""

    resource: ClassVar = Resource(kind="PodDisruptionBudget", group="policy")

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class ServiceSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a Service's spec that Evenkeel reads."""

    selector: dict[str, str] = {}
    type: str = ""


class Service(KubernetesObject, frozen=True, kw_only=True):
    """A Service."""

    resource: ClassVar = Resource(kind="Service")

    spec: ServiceSpec = ServiceSpec()


class NetworkPolicyPeer(ApiStruct, frozen=True, kw_only=True):
    """Whose traffic a rule allows; without ``pod_selector`` pods are not told apart."""

    pod_selector: LabelSelector | None = None

    @property
    def is_by_hash(self) -> bool:
        """Whether it tells pods apart by their template hash."""
        return self.pod_selector is not None and self.pod_selector.mentions(*names.HASHES)


class NetworkPolicyRule(ApiStruct, frozen=True, kw_only=True):
    """One rule: of ingress it has ``from``, of egress ``to``. Peers by template hash are kept."""

    from_: tuple[NetworkPolicyPeer, ...] = msgspec.field(default=(), name="from")
    to: tuple[NetworkPolicyPeer, ...] = ()

    def __post_init__(self) -> None:
        """Forget the other peers: there may be thousands."""
        for field in ("from_", "to"):
            kept = tuple(peer for peer in getattr(self, field) if peer.is_by_hash)
            msgspec.structs.force_setattr(self, field, kept)


class NetworkPolicySpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a NetworkPolicy's spec that Evenkeel reads. Rules with such peers are kept."""

    pod_selector: LabelSelector = LabelSelector()
    ingress: tuple[NetworkPolicyRule, ...] = ()
    egress: tuple[NetworkPolicyRule, ...] = ()

    def __post_init__(self) -> None:
        """Forget the other rules."""
        for field in ("ingress", "egress"):
            kept = tuple(rule for rule in getattr(self, field) if rule.from_ or rule.to)
            msgspec.structs.force_setattr(self, field, kept)

    @property
    def by_hash(self) -> Iterator[LabelSelector]:
        """The selectors by which it tells pods apart by their template hash.

        Its own, and those of the peers whose traffic it allows.
        """
        if self.pod_selector.mentions(*names.HASHES):
            yield self.pod_selector
        for rule in (*self.ingress, *self.egress):
            for peer in (*rule.from_, *rule.to):
                if peer.pod_selector is not None:
                    yield peer.pod_selector


class NetworkPolicy(KubernetesObject, frozen=True, kw_only=True):
    """A NetworkPolicy."""

    resource: ClassVar = Resource(
        kind="NetworkPolicy", group="networking.k8s.io", plural="networkpolicies"
    )

    spec: NetworkPolicySpec = NetworkPolicySpec()


class PersistentVolumeClaimSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a claim's spec that Evenkeel reads."""

    access_modes: tuple[str, ...] = ()
    volume_name: str = ""


class PersistentVolumeClaim(KubernetesObject, frozen=True, kw_only=True):
    """A PersistentVolumeClaim."""

    resource: ClassVar = Resource(kind="PersistentVolumeClaim")

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()

    @property
    def single_node(self) -> bool:
        """Whether only one node (or one pod) can mount it at a time."""
        shared = {"ReadWriteMany", "ReadOnlyMany"}
        return bool(self.spec.access_modes) and not shared.intersection(self.spec.access_modes)


class VolumeNodeAffinity(ApiStruct, frozen=True, kw_only=True):
    """The nodes that can mount a volume; without it every node can."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a volume's spec that Evenkeel reads."""

    node_affinity: VolumeNodeAffinity | None = None


class PersistentVolume(KubernetesObject, frozen=True, kw_only=True):
    """A PersistentVolume."""

    resource: ClassVar = Resource(kind="PersistentVolume", namespaced=False)

    spec: PersistentVolumeSpec = PersistentVolumeSpec()

    @property
    def required(self) -> NodeSelector | None:
        """Which nodes can mount it; None: every node."""
        affinity = self.spec.node_affinity
        return affinity.required if affinity is not None else None


class Namespace(KubernetesObject, frozen=True, kw_only=True):
    """A namespace."""

    resource: ClassVar = Resource(kind="Namespace", namespaced=False)


class ConfigMap(KubernetesObject, frozen=True, kw_only=True):
    """A ConfigMap."""

    resource: ClassVar = Resource(kind="ConfigMap")

    data: dict[str, str] = {}


class LeaseSpec(ApiStruct, frozen=True, kw_only=True):
    """Who holds a lease and since when; times are RFC 3339 with microseconds."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int = 0


class Lease(KubernetesObject, frozen=True, kw_only=True):
    """A Lease."""

    resource: ClassVar = Resource(kind="Lease", group="coordination.k8s.io")

    spec: LeaseSpec = LeaseSpec()

    @property
    def held_since(self) -> datetime | None:
        """When it was taken or renewed last; None if that makes no sense."""
        return sound_time(self.spec.renew_time)


class ObjectReference(ApiStruct, frozen=True, kw_only=True):
    """The object that a Kubernetes Event is about."""

    kind: str
    name: str
    namespace: str = ""
    uid: str = ""
    api_version: str = ""


class EventSource(ApiStruct, frozen=True, kw_only=True):
    """Who reports a Kubernetes Event."""

    component: str = ""


class Event(KubernetesObject, frozen=True, kw_only=True):
    """A Kubernetes Event (core/v1): what `kubectl describe` shows. Not an EventBridge event."""

    resource: ClassVar = Resource(kind="Event")

    involved_object: ObjectReference
    reason: str
    message: str
    type: str = ""
    count: int = 0
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    source: EventSource = EventSource()
    reporting_component: str = ""


class Matched(ApiStruct, frozen=True, kw_only=True):
    """Whose new objects are placed: those of these namespaces, with these labels."""

    namespace_selector: LabelSelector = LabelSelector()
    object_selector: LabelSelector = LabelSelector()

    def has(self, namespace: Metadata, labels: dict[str, str]) -> bool:
        """Whether new objects of a namespace that have these labels are among them."""
        of_namespace = {names.NAMESPACE_NAME: namespace.name, **namespace.labels}
        return self.namespace_selector.matches(of_namespace) and self.object_selector.matches(
            labels
        )


class MutatingWebhookConfiguration(KubernetesObject, frozen=True, kw_only=True):
    """A configuration of webhooks. Where they answer is not read: the URL has a secret."""

    resource: ClassVar = Resource(
        kind="MutatingWebhookConfiguration", group="admissionregistration.k8s.io", namespaced=False
    )

    webhooks: tuple[Matched, ...] | None = None

    @property
    def matched(self) -> tuple[Matched, ...]:
        """Whose new objects its webhooks are asked about."""
        return self.webhooks or ()


class BindingSpec(ApiStruct, frozen=True, kw_only=True):
    """Whose new objects a policy is bound to."""

    match_resources: Matched = Matched()


class MutatingAdmissionPolicyBinding(KubernetesObject, frozen=True, kw_only=True):
    """What has the API server go by a policy."""

    resource: ClassVar = Resource(
        kind="MutatingAdmissionPolicyBinding",
        group="admissionregistration.k8s.io",
        namespaced=False,
    )

    spec: BindingSpec = BindingSpec()

    @property
    def matched(self) -> tuple[Matched, ...]:
        """Whose new objects it is about."""
        return (self.spec.match_resources,)
