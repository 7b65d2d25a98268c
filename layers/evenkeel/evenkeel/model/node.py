"""Nodes."""

from typing import Any, ClassVar, Final

import msgspec

from evenkeel.model import names
from evenkeel.model.meta import ApiStruct, Condition, KubernetesObject, Metadata, Resource


class OwnedSpec(ApiStruct, frozen=True, kw_only=True):
    """The fields of a node's spec that a manager owns, as far as Evenkeel asks."""

    unschedulable: dict[str, Any] | None = msgspec.field(default=None, name="f:unschedulable")


class OwnedFields(ApiStruct, frozen=True, kw_only=True):
    """The fields of a node that a manager owns."""

    spec: OwnedSpec = msgspec.field(default=OwnedSpec(), name="f:spec")


class ManagedFields(ApiStruct, frozen=True, kw_only=True):
    """Who wrote some of a node's fields.

    https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
    """

    manager: str = ""
    fields: OwnedFields = msgspec.field(default=OwnedFields(), name="fieldsV1")


class NodeMetadata(Metadata, frozen=True, kw_only=True):
    """A node's metadata, and what the API server keeps of who wrote its fields."""

    managed_fields: tuple[ManagedFields, ...] = ()


class Taint(ApiStruct, frozen=True, kw_only=True):
    """One taint of a node."""

    key: str
    effect: str
    value: str = ""

    def __str__(self) -> str:
        """As kubectl spells it: key=value:effect."""
        value = f"={self.value}" if self.value else ""
        return f"{self.key}{value}:{self.effect}"


NO_SCHEDULE: Final = "NoSchedule"
"""Effect of a taint that keeps new pods off a node."""


def drain_taint(name: str) -> Taint:
    """The taint of a node that Evenkeel drains for a notice of this name."""
    return Taint(key=names.DOOMED, value=name, effect=NO_SCHEDULE)


def seat_taint(node_uid: str) -> Taint:
    """The taint of a node on which room is kept for the next pod in a seat's place."""
    return Taint(key=names.SEAT, value=node_uid, effect=NO_SCHEDULE)


class NodeSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a node's spec that Evenkeel reads."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = msgspec.field(default="", name="providerID")


class NodeInfo(ApiStruct, frozen=True, kw_only=True):
    """What the kubelet says of its machine, as far as Evenkeel reads it.

    ``boot_id`` is another one after each start of the machine.
    """

    boot_id: str = msgspec.field(default="", name="bootID")


class NodeStatus(ApiStruct, frozen=True, kw_only=True):
    """The part of a node's status that Evenkeel reads."""

    conditions: tuple[Condition, ...] = ()
    allocatable: dict[str, str] = {}
    node_info: NodeInfo = NodeInfo()


class Node(KubernetesObject, frozen=True, kw_only=True):
    """A node."""

    resource: ClassVar = Resource(kind="Node", namespaced=False, short="no")

    metadata: NodeMetadata
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def is_held(self) -> bool:
        """Whether the room of its seats is kept for those that tolerate that."""
        return seat_taint(self.uid) in self.spec.taints

    @property
    def instance_id(self) -> str:
        """The EC2 instance id from ``spec.providerID`` (``aws:///<zone>/<id>``), or empty."""
        last = self.spec.provider_id.rsplit("/", 1)[-1]
        return last if last.startswith("i-") else ""

    @property
    def zone(self) -> str:
        """Its availability zone; empty where it does not say it."""
        return self.metadata.labels.get(names.ZONE, "")

    @property
    def elsewhere(self) -> str:
        """What runs it, if no EC2 instance does: then no notice can be about it. Else empty.

        Such as ``fargate`` or ``hybrid``, by EKS's label, ``gce``, by ``spec.providerID``, or
        ``virtual-kubelet``. A node without any of them may be an EC2 instance.
        https://docs.aws.amazon.com/eks/latest/userguide/fargate-pod-configuration.html
        """
        labels = self.metadata.labels
        if self.instance_id:
            return ""
        if (kind := labels.get(names.EKS_COMPUTE, "")) in names.WITHOUT_INSTANCES:
            return kind
        is_virtual = labels.get(names.NODE_TYPE) == names.VIRTUAL
        return names.VIRTUAL if is_virtual else self.spec.provider_id.partition("://")[0]

    def may_be(self, instance_id: str) -> bool:
        """Whether it is this instance, as far as it says: without ``spec.providerID`` it may be."""
        return not self.spec.provider_id or self.instance_id == instance_id

    @property
    def ready(self) -> bool:
        """Whether the kubelet reports the node Ready."""
        return any(c.type == "Ready" and c.status == "True" for c in self.status.conditions)

    @property
    def cordoned_by(self) -> frozenset[str]:
        """The field managers whose cordon it is; empty where there is none, or none is known."""
        managed = self.metadata.managed_fields
        return frozenset(
            each.manager for each in managed if each.fields.spec.unschedulable is not None
        )

    @property
    def is_kept_empty(self) -> bool:
        """Whether it is cordoned, or has the taint of a drainer that does not cordon."""
        return self.spec.unschedulable or any(map(self.has_taint, names.DRAINING_TAINTS))

    def has_taint(self, key: str) -> bool:
        """Whether the node carries a taint with this key, whatever its value and effect."""
        return any(taint.key == key for taint in self.spec.taints)
