"""EC2's instances.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Instance.html
"""

from collections.abc import Mapping
from typing import Final

import msgspec

LIVING: Final = frozenset({"pending", "running"})
"""The states of an instance that is, or may still become, a node."""

SPOT: Final = "spot"
"""The lifecycle of an instance that EC2 may interrupt."""

INTERRUPTIBLE: Final = "interruptible-capacity-reservation"
"""The lifecycle of an instance in a Capacity Reservation that its owner may reclaim."""

RESERVED: Final = frozenset({"capacity-block", INTERRUPTIBLE})
"""The lifecycles of instances that last as long as the capacity that they run in."""

UNLISTED: Final = "unlisted"
"""Not a state of EC2's: EC2 answered, and did not list the instance.

EC2 forgets an instance about an hour after its end. But an answer may lack one that runs: results
of DescribeInstances are only eventually consistent.

https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
"""

CLUSTER_TAGS: Final = ("eks:cluster-name", "aws:eks:cluster-name", "eks:eks-cluster-name")
"""The tags whose value is the name of a cluster: of managed node groups, of EKS, and of Karpenter
and EKS Auto Mode."""


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """An EC2 instance.

    ``state`` is EC2's word: pending, running, stopping, stopped, shutting-down, terminated; or
    ``UNLISTED``.
    ``lifecycle`` is EC2's too: spot, scheduled, capacity-block or
    interruptible-capacity-reservation, and empty for on-demand. ``reservation`` is the id of the
    Capacity Reservation that it runs in, empty without. ``operator`` is the service of AWS that
    manages it, as EKS does in Auto Mode; empty where its owner does.
    """

    instance_id: str
    state: str
    private_dns_name: str = ""
    tags: Mapping[str, str] = {}
    lifecycle: str = ""
    reservation: str = ""
    operator: str = ""

    @property
    def is_listed(self) -> bool:
        """Whether EC2 lists it."""
        return self.state != UNLISTED

    @property
    def node_name(self) -> str:
        """What its node is usually called; empty if EC2 does not tell.

        That is its private DNS name, and its id where EKS manages it, as in Auto Mode.

        https://docs.aws.amazon.com/eks/latest/userguide/automode-learn-instances.html
        """
        return self.instance_id if self.operator else self.private_dns_name

    @property
    def is_spot(self) -> bool:
        """Whether EC2 may interrupt it."""
        return self.lifecycle == SPOT

    @property
    def is_reclaimable(self) -> bool:
        """Whether EC2 may take it back with two minutes' notice, spot or reserved."""
        return self.lifecycle in (SPOT, INTERRUPTIBLE)

    @property
    def is_reserved(self) -> bool:
        """Whether it runs in capacity that was reserved."""
        return self.reservation != "" or self.lifecycle in RESERVED

    @property
    def lives(self) -> bool:
        """Whether it runs or will."""
        return self.state in LIVING

    def belongs_to(self, cluster_name: str) -> bool:
        """Whether one of the usual tags says that it is a node of this cluster."""
        return f"kubernetes.io/cluster/{cluster_name}" in self.tags or any(
            self.tags.get(key) == cluster_name for key in CLUSTER_TAGS
        )

    @property
    def belongs_to_any(self) -> bool:
        """Whether one of the usual tags names any cluster at all."""
        return any(
            key in CLUSTER_TAGS or key.startswith("kubernetes.io/cluster/") for key in self.tags
        )
