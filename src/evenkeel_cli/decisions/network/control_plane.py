"""The network of a cluster's control plane, as DescribeCluster has it."""

from ipaddress import IPv4Network, collapse_addresses, ip_network
from typing import Final

import msgspec

AWS_MANAGED: Final = "AWS_MANAGED"
CUSTOMER_ISOLATED: Final = "CUSTOMER_ISOLATED"
"""Ways by which the API server calls out, of those that DescribeCluster knows.

https://docs.aws.amazon.com/eks/latest/userguide/control-plane-egress.html
"""

EVERYWHERE: Final = IPv4Network("0.0.0.0/0")


class ControlPlane(msgspec.Struct, frozen=True, rename="camel"):
    """A cluster's ``resourcesVpcConfig``; what it does not tell is as EKS has it by default.

    https://docs.aws.amazon.com/eks/latest/APIReference/API_VpcConfigResponse.html
    """

    subnet_ids: tuple[str, ...] = ()
    security_group_ids: tuple[str, ...] = ()
    cluster_security_group_id: str = ""
    vpc_id: str = ""
    endpoint_public_access: bool = True
    endpoint_private_access: bool = False
    public_access_cidrs: tuple[str, ...] = ()
    control_plane_egress_mode: str = AWS_MANAGED

    @property
    def is_open(self) -> bool:
        """Whether its endpoint lets in every address of IPv4, as EKS's default list does.

        A function that is in no network of yours comes from any of AWS's addresses.
        """
        if not self.endpoint_public_access or not self.public_access_cidrs:
            return self.endpoint_public_access
        listed = map(ip_network, self.public_access_cidrs)
        return EVERYWHERE in collapse_addresses(e for e in listed if isinstance(e, IPv4Network))

    @property
    def groups(self) -> frozenset[str]:
        """The security groups of its network interfaces in the VPC."""
        return frozenset(filter(None, (self.cluster_security_group_id, *self.security_group_ids)))

    @property
    def calls_out_by_aws(self) -> bool:
        """Whether AWS sees to it that the API server can call what is on the internet."""
        return self.control_plane_egress_mode == AWS_MANAGED

    @property
    def is_isolated(self) -> bool:
        """Whether the API server can call nothing there."""
        return self.control_plane_egress_mode == CUSTOMER_ISOLATED
