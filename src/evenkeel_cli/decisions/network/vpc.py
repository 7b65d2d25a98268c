"""A part of a VPC, as EC2 describes it: where subnets lead to, and who lets whom in.

https://docs.aws.amazon.com/vpc/latest/privatelink/interface-endpoints.html
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Final

import msgspec

HTTPS: Final = 443
EVERYWHERE: Final = "0.0.0.0/0"
ANY: Final = "-1"
"""A rule's protocol, if it is for all."""

INTERNET_GATEWAY: Final = "igw-"
"""What the id of one begins with. It serves public addresses, and a function's interface has none.

https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc-internet.html
"""


class Subnet(msgspec.Struct, frozen=True, rename="pascal"):
    """A subnet. One of IPv6 alone has no ``cidr_block``."""

    subnet_id: str
    vpc_id: str
    cidr_block: str = ""


class Route(msgspec.Struct, frozen=True, rename="pascal"):
    """A route. ``gateway_id`` is of an internet gateway, or ``local``, or a gateway endpoint."""

    destination_cidr_block: str = ""
    gateway_id: str = ""
    state: str = ""

    @property
    def is_default(self) -> bool:
        """Whether it takes all of IPv4 that no other route takes, and leads anywhere."""
        return self.destination_cidr_block == EVERYWHERE and self.state != "blackhole"


class Association(msgspec.Struct, frozen=True, rename="pascal"):
    """Whose route table it is; ``main``: that of each subnet of the VPC without one of its own."""

    subnet_id: str = ""
    main: bool = False


class RouteTable(msgspec.Struct, frozen=True, rename="pascal"):
    """A route table."""

    vpc_id: str
    associations: tuple[Association, ...] = ()
    routes: tuple[Route, ...] = ()


class Group(msgspec.Struct, frozen=True, rename="pascal"):
    """A security group that something names."""

    group_id: str = ""


class Endpoint(msgspec.Struct, frozen=True, rename="pascal"):
    """A VPC endpoint."""

    vpc_endpoint_id: str
    vpc_id: str
    service_name: str
    vpc_endpoint_type: str = ""
    state: str = ""
    private_dns_enabled: bool | None = False
    groups: tuple[Group, ...] = ()

    def is_of(self, service: str, region: str) -> bool:
        """Whether it is a working interface endpoint of a service: com.amazonaws.REGION.SERVICE."""
        return (
            self.vpc_endpoint_type == "Interface"
            and self.state.lower() == "available"
            and self.service_name.endswith(f".{region}.{service}")
        )


class IpRange(msgspec.Struct, frozen=True, rename="pascal"):
    """Addresses of a rule."""

    cidr_ip: str


class PrefixList(msgspec.Struct, frozen=True, rename="pascal"):
    """A list of addresses that a rule names."""

    prefix_list_id: str = ""


class Rule(msgspec.Struct, frozen=True, rename="pascal"):
    """A rule of a security group."""

    ip_protocol: str = ANY
    from_port: int | None = None
    to_port: int | None = None
    user_id_group_pairs: tuple[Group, ...] = ()
    ip_ranges: tuple[IpRange, ...] = ()
    prefix_list_ids: tuple[PrefixList, ...] = ()

    @property
    def is_for_https(self) -> bool:
        """Whether TCP's port 443 is among its ports."""
        if self.ip_protocol == ANY:
            return True
        first, last = self.from_port, self.to_port
        is_tcp = self.ip_protocol in ("tcp", "6")
        return is_tcp and first is not None and last is not None and first <= HTTPS <= last

    def names(self, groups: Iterable[str], addresses: Iterable[str]) -> bool:
        """Whether it is for one of these groups, or for each of these ranges of addresses.

        What is in a prefix list is not read, so one counts.
        """
        if self.prefix_list_ids or {e.group_id for e in self.user_id_group_pairs} & set(groups):
            return True
        listed = [IPv4Network(each.cidr_ip) for each in self.ip_ranges]
        return bool(listed) and all(
            any(IPv4Network(each).subnet_of(range_) for range_ in listed) for each in addresses
        )


class SecurityGroup(msgspec.Struct, frozen=True, rename="pascal"):
    """A security group; what comes in and goes out by its rules."""

    group_id: str
    ip_permissions: tuple[Rule, ...] = ()
    ip_permissions_egress: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Vpc:
    """What EC2 knows of the subnets and groups that were asked for, and of their VPCs."""

    region: str
    subnets: Mapping[str, Subnet]
    route_tables: Sequence[RouteTable]
    endpoints: Sequence[Endpoint]
    groups: Mapping[str, SecurityGroup]

    def is_public(self, subnet: str) -> bool:
        """Whether its default route is an internet gateway."""
        return any(each.gateway_id.startswith(INTERNET_GATEWAY) for each in self._defaults(subnet))

    def has_way_out(self, subnet: str) -> bool:
        """Whether it has a default route by which what has no public address gets out."""
        return bool(self._defaults(subnet)) and not self.is_public(subnet)

    def endpoints_of(self, service: str, vpcs: Iterable[str]) -> Sequence[Endpoint]:
        """The working interface endpoints of a service in these VPCs."""
        return [e for e in self.endpoints if e.vpc_id in vpcs and e.is_of(service, self.region)]

    def let_in(self, targets: Iterable[str], groups: Iterable[str], subnets: Iterable[str]) -> bool:
        """Whether a target group lets in, on port 443, these groups or all of these subnets.

        It does as far as is known if EC2 tells nothing of the targets.
        """
        blocks = [self.subnets[each].cidr_block for each in subnets]
        addresses = list(filter(None, blocks))
        known = [self.groups[each] for each in targets if each in self.groups]
        return not known or any(
            rule.is_for_https and rule.names(groups, addresses)
            for each in known
            for rule in each.ip_permissions
        )

    def let_out(self, groups: Iterable[str]) -> bool:
        """Whether one of these groups lets anything out on port 443, as far as is known."""
        known = [self.groups[each] for each in groups if each in self.groups]
        return not known or any(
            rule.is_for_https for each in known for rule in each.ip_permissions_egress
        )

    def _defaults(self, subnet: str) -> Sequence[Route]:
        """The default routes of a subnet: of its own table, else of its VPC's main one."""
        vpc = self.subnets[subnet].vpc_id
        own = [
            table
            for table in self.route_tables
            if any(each.subnet_id == subnet for each in table.associations)
        ]
        main = [
            table
            for table in self.route_tables
            if table.vpc_id == vpc and any(each.main for each in table.associations)
        ]
        return [route for table in own or main for route in table.routes if route.is_default]
