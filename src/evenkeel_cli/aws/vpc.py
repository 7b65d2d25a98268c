"""What EC2 tells of the network in which functions and control plane are."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.decisions.network.functions import FunctionNetwork
from evenkeel_cli.decisions.network.vpc import Endpoint, RouteTable, SecurityGroup, Subnet, Vpc

MOST_PAGES: Final = 10


class Subnets(msgspec.Struct, frozen=True, rename="pascal"):
    """A page of DescribeSubnets."""

    subnets: tuple[Subnet, ...] = ()
    next_token: str = ""


class RouteTables(msgspec.Struct, frozen=True, rename="pascal"):
    """A page of DescribeRouteTables."""

    route_tables: tuple[RouteTable, ...] = ()
    next_token: str = ""


class Endpoints(msgspec.Struct, frozen=True, rename="pascal"):
    """A page of DescribeVpcEndpoints."""

    vpc_endpoints: tuple[Endpoint, ...] = ()
    next_token: str = ""


class Groups(msgspec.Struct, frozen=True, rename="pascal"):
    """A page of DescribeSecurityGroups."""

    security_groups: tuple[SecurityGroup, ...] = ()
    next_token: str = ""


def gather(aws: Aws, control_plane: ControlPlane, functions: FunctionNetwork) -> Vpc:
    """The subnets and groups of both, and the VPCs that these are in. Raises AwsError.

    All are asked for by filters: an id that EC2 does not know would fail the whole request.
    """
    ids = {*control_plane.subnet_ids, *functions.subnets}
    subnets = _all(aws, "describe_subnets", Subnets, "subnets", "subnet-id", ids)
    vpcs = {each.vpc_id for each in subnets} | {control_plane.vpc_id}
    tables = _all(aws, "describe_route_tables", RouteTables, "route_tables", "vpc-id", vpcs)
    endpoints = _all(aws, "describe_vpc_endpoints", Endpoints, "vpc_endpoints", "vpc-id", vpcs)
    named = {group.group_id for each in endpoints for group in each.groups}
    named |= {*control_plane.groups, *functions.groups}
    groups = _all(aws, "describe_security_groups", Groups, "security_groups", "group-id", named)
    return Vpc(
        aws.region,
        {each.subnet_id: each for each in subnets},
        tables,
        endpoints,
        {each.group_id: each for each in groups},
    )


def _all(
    aws: Aws, method: str, shape: Any, member: str, name: str, values: Iterable[str]
) -> list[Any]:
    """What all pages of an answer have."""
    wanted = sorted(filter(None, values))
    if not wanted:
        return []
    filters = {"Filters": [{"Name": name, "Values": wanted}]}
    found: list[Any] = []
    token: dict[str, str] = {}
    for _ in range(MOST_PAGES):
        page = aws.ask("ec2", method, shape, **filters, **token)
        found.extend(getattr(page, member))
        if not page.next_token:
            break
        token = {"NextToken": page.next_token}
    return found
