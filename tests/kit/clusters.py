"""EKS clusters and VPCs as AWS describes them, each answer held to botocore's model of it."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import botocore.session
from botocore.model import Shape
from botocore.parsers import create_parser
from botocore.validate import ParamValidator

REGION = "eu-central-1"
ENDPOINT = "https://0123456789ABCDEF.gr7.eu-central-1.eks.amazonaws.com"
OFFICE = "203.0.113.0/24"
VPC, OTHER_VPC = "vpc-1", "vpc-2"
GROUP = "sg-cluster"
SUBNETS = ("subnet-a", "subnet-b")


@cache
def answer_of(service: str, operation: str) -> Shape:
    """The shape of an operation's answer, as botocore has it."""
    model = botocore.session.get_session().get_service_model(service).operation_model(operation)
    assert model.output_shape is not None
    return model.output_shape


def held[T: Mapping[str, Any]](service: str, operation: str, answer: T) -> T:
    """An answer, all of whose members are those of the model, and of its types."""
    report = ParamValidator().validate(dict(answer), answer_of(service, operation))
    assert not report.has_errors(), report.generate_report()
    return answer


def a_cluster(compute: bool | None = None, mode: str = "API", **network: Any) -> dict[str, Any]:  # noqa: FBT001 - a value of the answer
    """DescribeCluster's answer, as botocore parses it. ``network`` differs from EKS's defaults."""
    described = {
        "name": "prod",
        "endpoint": ENDPOINT,
        "certificateAuthority": {"data": "LS0t"},
        "version": "1.36",
        "status": "ACTIVE",
        "resourcesVpcConfig": {
            "subnetIds": list(SUBNETS),
            "securityGroupIds": [],
            "clusterSecurityGroupId": GROUP,
            "vpcId": VPC,
            "endpointPublicAccess": True,
            "endpointPrivateAccess": True,
            "publicAccessCidrs": ["0.0.0.0/0"],
            "controlPlaneEgressMode": "AWS_MANAGED",
        }
        | network,
        "accessConfig": {"authenticationMode": mode},
        "computeConfig": {} if compute is None else {"enabled": compute},
    }
    answer = held("eks", "DescribeCluster", {"cluster": described})
    sent = {"body": json.dumps(answer).encode(), "headers": {}, "status_code": 200}
    shape = answer_of("eks", "DescribeCluster")
    parsed: dict[str, Any] = create_parser("rest-json").parse(sent, shape)
    return {"cluster": parsed["cluster"]}


PRIVATE: dict[str, Any] = {"endpointPublicAccess": False, "publicAccessCidrs": []}
CLUSTERS = {
    "public": a_cluster(),
    "CIDR list": a_cluster(publicAccessCidrs=[OFFICE]),
    "CIDR list without private access": a_cluster(
        publicAccessCidrs=[OFFICE], endpointPrivateAccess=False
    ),
    "private": a_cluster(**PRIVATE),
    "routed egress": a_cluster(controlPlaneEgressMode="CUSTOMER_ROUTED"),
    "isolated egress": a_cluster(**PRIVATE, controlPlaneEgressMode="CUSTOMER_ISOLATED"),
    "Auto Mode": a_cluster(compute=True),
    "Fargate only": a_cluster(),
    "CONFIG_MAP authentication": a_cluster(mode="CONFIG_MAP"),
}
"""A cluster of each kind. That of Fargate alone is told by its nodes."""


def rule(groups: Sequence[str] = (), ranges: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """A rule of a security group, for HTTPS unless another port is named."""
    return {
        "IpProtocol": "tcp",
        "FromPort": 443,
        "ToPort": 443,
        "UserIdGroupPairs": [{"GroupId": each} for each in groups],
        "IpRanges": [{"CidrIp": each} for each in ranges],
        "PrefixListIds": [],
    } | more


ALL = {"IpProtocol": "-1", "UserIdGroupPairs": [], "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
"""The rule for what goes out that each new group has."""


def a_group(name: str = GROUP, *rules: dict[str, Any], out: Any = (ALL,)) -> dict[str, Any]:
    """A security group."""
    return {"GroupId": name, "IpPermissions": list(rules), "IpPermissionsEgress": list(out)}


def its_own(name: str = GROUP) -> dict[str, Any]:
    """A group that lets itself in, as a cluster's does."""
    everything = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": name}], "IpRanges": []}
    return a_group(name, everything)


def an_endpoint(service: str, **others: Any) -> dict[str, Any]:
    """A working interface endpoint behind the cluster's group."""
    return {
        "VpcEndpointId": f"vpce-{service}",
        "VpcEndpointType": "Interface",
        "VpcId": VPC,
        "ServiceName": f"com.amazonaws.{REGION}.{service}",
        "State": "available",
        "PrivateDnsEnabled": True,
        "Groups": [{"GroupId": GROUP, "GroupName": "cluster"}],
    } | others


NAT = {"DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-1", "State": "active"}
INTERNET = {"DestinationCidrBlock": "0.0.0.0/0", "GatewayId": "igw-1", "State": "active"}
LOCAL = {"DestinationCidrBlock": "10.0.0.0/16", "GatewayId": "local", "State": "active"}


def a_table(*routes: dict[str, str], of: Sequence[str] = (), vpc: str = VPC) -> dict[str, Any]:
    """A route table of these subnets, else the main one."""
    owned = [{"SubnetId": each, "Main": False} for each in of]
    return {
        "VpcId": vpc,
        "Routes": [LOCAL, *routes],
        "Associations": owned or [{"Main": True}],
    }


def subnets(**vpcs: str) -> list[dict[str, str]]:
    """The cluster's subnets and further ones, each with a block of its own."""
    places = {**dict.fromkeys(SUBNETS, VPC), **{k.replace("_", "-"): v for k, v in vpcs.items()}}
    return [
        {"SubnetId": name, "VpcId": vpc, "CidrBlock": f"10.0.{i}.0/24"}
        for i, (name, vpc) in enumerate(places.items())
    ]


def described(
    tables: Sequence[dict[str, Any]] = (),
    endpoints: Sequence[dict[str, Any]] = (),
    groups: Sequence[dict[str, Any]] = (),
    others: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """The answers of EC2, by boto3's methods; the cluster's group lets itself in by default."""
    return {
        "describe_subnets": held("ec2", "DescribeSubnets", {"Subnets": others or subnets()}),
        "describe_route_tables": held("ec2", "DescribeRouteTables", {"RouteTables": tables}),
        "describe_vpc_endpoints": held("ec2", "DescribeVpcEndpoints", {"VpcEndpoints": endpoints}),
        "describe_security_groups": held(
            "ec2", "DescribeSecurityGroups", {"SecurityGroups": groups or [its_own()]}
        ),
    }
