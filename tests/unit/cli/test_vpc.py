"""What is read of a VPC, from EC2 as moto plays it."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from evenkeel_cli.aws import vpc
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.decisions.network import reaching
from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.decisions.network.functions import FunctionNetwork
from tests.kit.aws_clients import Scripted
from tests.kit.clusters import REGION, SUBNETS, described, subnets

MOST = {"ec2", "sqs"}


@pytest.fixture
def ec2(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield boto3.client("ec2", region_name=REGION)


def test_a_private_network_becomes_whole_step_by_step(ec2: Any) -> None:
    home = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=home, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
    group, other = (
        ec2.create_security_group(GroupName=name, Description=name, VpcId=home)["GroupId"]
        for name in ("cluster", "functions")
    )
    control_plane = ControlPlane(
        subnet_ids=(subnet,),
        cluster_security_group_id=group,
        vpc_id=home,
        endpoint_public_access=False,
        endpoint_private_access=True,
    )
    functions = FunctionNetwork((subnet,), (other,))
    aws = Aws(REGION, lambda _: ec2)

    def lacking() -> list[str]:
        found = vpc.gather(aws, control_plane, functions)
        return [
            each.split()[0]
            for each in reaching.lacking(control_plane, functions, found, sorted(MOST))
        ]

    assert lacking() == ["the", "ec2:", "sqs:"]
    pair = {"GroupId": other}
    rule = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "UserIdGroupPairs": [pair]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    assert lacking() == ["ec2:", "sqs:"]
    ec2.create_vpc_endpoint(
        VpcEndpointType="Interface",
        VpcId=home,
        ServiceName=f"com.amazonaws.{REGION}.sqs",
        SubnetIds=[subnet],
        SecurityGroupIds=[group],
        PrivateDnsEnabled=True,
    )
    assert lacking() == ["ec2:"]
    (table,) = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [home]}])[
        "RouteTables"
    ]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    gateway = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]
    ec2.create_route(
        RouteTableId=table["RouteTableId"],
        DestinationCidrBlock="0.0.0.0/0",
        NatGatewayId=gateway["NatGatewayId"],
    )
    assert lacking() == []
    functions = FunctionNetwork(("subnet-0",), ("sg-0",))
    assert lacking() == ["there", "there"]


def test_all_pages_are_read() -> None:
    first, second = subnets()

    def pages(*, NextToken: str = "", **_: Any) -> Any:  # noqa: N803 - AWS's name
        if NextToken:
            return {"Subnets": [second]}
        return {"Subnets": [first], "NextToken": "more"}

    client = Scripted(described() | {"describe_subnets": pages})
    found = vpc.gather(
        Aws(REGION, lambda _: client), ControlPlane(subnet_ids=SUBNETS), FunctionNetwork()
    )
    assert list(found.subnets) == list(SUBNETS)


def test_nothing_is_asked_about_nothing() -> None:
    found = vpc.gather(Aws(REGION, lambda _: Scripted()), ControlPlane(), FunctionNetwork())
    assert (found.subnets, found.endpoints) == ({}, [])
