"""The messages between the scheduler and an extender.

Keys of the extender API are Go's field names; the pod inside is an API object as ever.
https://github.com/kubernetes/kube-scheduler/blob/master/extender/v1/types.go
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from evenkeel.model.placement import NewPod, NewPodMetadata

MOST: Final = 10
"""The highest score of a node; 0 is the lowest."""


class PendingMetadata(NewPodMetadata, frozen=True, kw_only=True):
    """The part of a pending pod's metadata that is read."""

    namespace: str = ""
    uid: str = ""
    creation_timestamp: datetime | None = None


class PendingPod(NewPod, frozen=True, kw_only=True):
    """A pod that waits for its node."""

    metadata: PendingMetadata = PendingMetadata()

    @property
    def controller_key(self) -> str:
        """As ``KubernetesObject.controller_key``."""
        owner = self.controller
        return f"{self.metadata.namespace}/{owner.uid}" if owner is not None else ""


class ExtenderArgs(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """The question of both calls: about which pod, and among which nodes.

    ``node_names`` None: the scheduler sends whole nodes, because ``nodeCacheCapable`` is not set.
    """

    pod: PendingPod
    node_names: Sequence[str] | None = None


class FilterResult(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """The nodes to which the pod may go, and why it may not go to the others.

    With ``error`` the call counts as failed, and a scheduler that may ignore the extender does.
    The other nodes are unresolvable: preempting pods there would not help.
    """

    node_names: Sequence[str] | None = None
    failed_and_unresolvable_nodes: Mapping[str, str] = {}
    error: str = ""


class HostPriority(msgspec.Struct, frozen=True, rename="pascal", gc=False):
    """A node's score, 0 to ``MOST``."""

    host: str
    score: int
