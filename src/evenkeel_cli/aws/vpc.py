"""What EC2 tells of the network in which functions and control plane are."""

from collections.abc import Iterable
from typing import Any

from evenkeel_cli.aws.asking import Aws, Page
from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.decisions.network.functions import FunctionNetwork
from evenkeel_cli.decisions.network.vpc import Endpoint, RouteTable, SecurityGroup, Subnet, Vpc


class Subnets(Page, frozen=True, rename="pascal"):
    """A page of DescribeSubnets."""

    subnets: tuple[Subnet, ...] = ()


class RouteTables(Page, frozen=True, rename="pascal"):
    """A page of DescribeRouteTables."""

    route_tables: tuple[RouteTable, ...] = ()


class Endpoints(Page, frozen=True, rename="pascal"):
    """A page of DescribeVpcEndpoints."""

    vpc_endpoints: tuple[Endpoint, ...] = ()


class Groups(Page, frozen=True, rename="pascal"):
    """A page of DescribeSecurityGroups."""

    security_groups: tuple[SecurityGroup, ...] = ()


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
    pages = aws.pages("ec2", method, shape, **filters)
    return [each for page in pages for each in getattr(page, member)]
