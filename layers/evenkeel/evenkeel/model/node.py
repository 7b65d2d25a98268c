"""Nodes."""

from typing import ClassVar

import msgspec

from evenkeel.model import names
from evenkeel.model.meta import ApiStruct, Condition, KubernetesObject, Resource


class Taint(ApiStruct, frozen=True, kw_only=True):
    """One taint of a node."""

    key: str
    effect: str
    value: str = ""


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

    resource: ClassVar = Resource(
        group="", version="v1", plural="nodes", kind="Node", namespaced=False
    )

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def instance_id(self) -> str:
        """The EC2 instance id from ``spec.providerID`` (``aws:///<zone>/<id>``), or empty."""
        last = self.spec.provider_id.rsplit("/", 1)[-1]
        return last if last.startswith("i-") else ""

    def may_be(self, instance_id: str) -> bool:
        """Whether it is this instance, as far as it says: without ``spec.providerID`` it may be."""
        return not self.spec.provider_id or self.instance_id == instance_id

    @property
    def ready(self) -> bool:
        """Whether the kubelet reports the node Ready."""
        return any(c.type == "Ready" and c.status == "True" for c in self.status.conditions)

    @property
    def is_kept_empty(self) -> bool:
        """Whether it is cordoned, or has the taint of a drainer that does not cordon."""
        return self.spec.unschedulable or any(map(self.has_taint, names.DRAINING_TAINTS))

    def has_taint(self, key: str) -> bool:
        """Whether the node carries a taint with this key, whatever its value and effect."""
        return any(taint.key == key for taint in self.spec.taints)
