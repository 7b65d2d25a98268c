"""Who reaches whom, by what EKS and EC2 tell."""

from typing import Any

import msgspec
import pytest

from evenkeel_cli.aws import vpc as asking
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.decisions.network import egress, reaching
from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.decisions.network.functions import SERVICES, FunctionNetwork, called
from evenkeel_cli.decisions.network.vpc import Vpc
from tests.kit.aws_clients import Scripted
from tests.kit.clusters import (
    CLUSTERS,
    GROUP,
    INTERNET,
    NAT,
    OFFICE,
    OTHER_VPC,
    REGION,
    SUBNETS,
    a_group,
    a_table,
    an_endpoint,
    described,
    its_own,
    rule,
    subnets,
)

INSIDE = FunctionNetwork(SUBNETS, (GROUP,))
OUTSIDE = FunctionNetwork()
EVERY = tuple(SERVICES)
OPEN = ControlPlane(vpc_id="vpc-1", cluster_security_group_id=GROUP, subnet_ids=SUBNETS)


def of(kind: str, **others: Any) -> ControlPlane:
    """The network of a cluster of this kind."""
    told = CLUSTERS[kind]["cluster"]["resourcesVpcConfig"]
    return msgspec.convert(told | others, ControlPlane)


def vpc(*args: Any, functions: FunctionNetwork = INSIDE, **kwargs: Any) -> Vpc:
    """What EC2 tells, read as it answers."""
    client = Scripted(described(*args, **kwargs))
    return asking.gather(Aws(REGION, lambda _: client), of("private"), functions)


@pytest.mark.parametrize(
    ("listed", "is_open"),
    [
        ([], True),
        (["0.0.0.0/0"], True),
        (["0.0.0.0/0", "::/0"], True),
        (["0.0.0.0/1", "128.0.0.0/1", "::/0"], True),
        ([OFFICE], False),
        (["0.0.0.0/1", OFFICE], False),
        (["::/0"], False),
    ],
    ids=str,
)
def test_a_public_endpoint_is_open_if_its_list_has_all_addresses(
    listed: list[str], *, is_open: bool
) -> None:
    assert of("public", publicAccessCidrs=listed).is_open is is_open
    assert not of("private", publicAccessCidrs=listed).is_open


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("public", ""),
        ("private", "its endpoint is private, and they are in no network"),
        ("CIDR list", f"its endpoint lets in {OFFICE}"),
        ("CIDR list without private access", "a NAT gateway whose address is in the list"),
    ],
)
def test_functions_in_no_network_reach_an_endpoint_that_is_open_to_all(
    kind: str, said: str
) -> None:
    found = reaching.obstacle(of(kind), OUTSIDE)
    assert said in found
    assert bool(found) == bool(said)
    assert not reaching.obstacle(of(kind), INSIDE)


def test_private_access_needs_no_address_of_a_nat_gateway() -> None:
    assert "NAT" not in reaching.obstacle(of("CIDR list"), OUTSIDE)


@pytest.mark.parametrize("half", [{"subnets": SUBNETS}, {"groups": (GROUP,)}], ids=str)
def test_subnets_without_groups_are_half_a_network(half: dict[str, Any]) -> None:
    given = FunctionNetwork(**half)
    assert "both subnets and security groups" in reaching.obstacle(of("public"), given)
    assert reaching.proposal(of("private"), given, None) == INSIDE


def test_parameters_tell_the_network() -> None:
    given = {"SubnetIds": "subnet-a, subnet-b", "SecurityGroupIds": GROUP}
    assert FunctionNetwork.of(given) == INSIDE
    assert FunctionNetwork.of({"SubnetIds": ""}) == OUTSIDE
    assert FunctionNetwork.of({}) == OUTSIDE
    assert str(INSIDE) == (
        "--parameter SubnetIds=subnet-a,subnet-b --parameter SecurityGroupIds=sg-cluster"
    )
    assert "SubnetIds=SUBNET " in str(OUTSIDE)


def test_the_cluster_s_own_private_subnets_are_proposed() -> None:
    private = [a_table(NAT)]
    mixed = [a_table(INTERNET, of=["subnet-a"]), a_table(NAT, of=["subnet-b"])]
    public = [a_table(INTERNET)]
    control_plane = of("private")
    assert reaching.proposal(control_plane, OUTSIDE, vpc(private)) == INSIDE
    assert reaching.proposal(control_plane, OUTSIDE, vpc(mixed)).subnets == ("subnet-b",)
    assert reaching.proposal(control_plane, OUTSIDE, vpc(public)) == INSIDE
    assert reaching.proposal(control_plane, OUTSIDE, None) == INSIDE
    assert reaching.proposal(ControlPlane(), OUTSIDE, None) == OUTSIDE


@pytest.mark.parametrize(
    ("parameters", "services"),
    [
        ({}, ["ec2", "sqs"]),
        ({"Webhook": "false", "LifecycleHook": ""}, ["ec2", "sqs"]),
        ({"Webhook": "true"}, ["ec2", "secretsmanager", "sqs"]),
        ({"LifecycleHook": "evenkeel"}, ["autoscaling", "ec2", "sqs"]),
    ],
    ids=str,
)
def test_which_services_are_called_follows_from_the_parameters(
    parameters: dict[str, str], services: list[str]
) -> None:
    assert called(parameters) == services


def lacking(found: Vpc, functions: FunctionNetwork = INSIDE, kind: str = "private") -> str:
    return "; ".join(reaching.lacking(of(kind), functions, found, EVERY))


ENDPOINTS = [an_endpoint(service) for service in SERVICES]


@pytest.mark.parametrize(
    ("tables", "endpoints"),
    [
        ([a_table(NAT)], []),
        ([a_table(NAT | {"NatGatewayId": "", "TransitGatewayId": "tgw-1"})], []),
        ([a_table(INTERNET), a_table(NAT, of=SUBNETS)], []),
        ([a_table()], ENDPOINTS),
        ([a_table(INTERNET)], ENDPOINTS),
    ],
    ids=["NAT", "transit gateway", "own tables", "endpoints", "endpoints in public subnets"],
)
def test_a_way_out_or_endpoints_suffice(tables: list[Any], endpoints: list[Any]) -> None:
    assert lacking(vpc(tables, endpoints)) == ""


def test_each_service_without_an_endpoint_is_named() -> None:
    found = lacking(vpc([a_table()]))
    for service in SERVICES:
        assert (
            f"{service}: there is no interface endpoint com.amazonaws.{REGION}.{service}" in found
        )
    assert "no route to a NAT gateway leads out of subnet-a, subnet-b" in found
    assert "internet gateway" not in found


def test_an_internet_gateway_is_no_way_out_for_a_function() -> None:
    found = lacking(vpc([a_table(NAT, of=["subnet-a"]), a_table(INTERNET)]))
    assert "leads out of subnet-b (by an internet gateway a function gets nowhere)" in found


def test_a_route_to_what_is_gone_is_no_way_out() -> None:
    assert "sqs: " in lacking(vpc([a_table(NAT | {"State": "blackhole"})]))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"State": "pending"}, "there is no interface endpoint"),
        ({"VpcEndpointType": "GatewayLoadBalancer"}, "there is no interface endpoint"),
        ({"VpcId": OTHER_VPC}, "there is no interface endpoint"),
        ({"PrivateDnsEnabled": False}, "the endpoint vpce-sqs has no private DNS"),
        ({"ServiceName": f"com.amazonaws.{REGION}.sqs-fips"}, "there is no interface endpoint"),
    ],
    ids=str,
)
def test_an_endpoint_that_does_not_serve_by_the_service_s_name_is_none(
    changed: dict[str, Any], said: str
) -> None:
    others = [each for each in ENDPOINTS if each["VpcEndpointId"] != "vpce-sqs"]
    found = lacking(vpc([a_table()], [*others, an_endpoint("sqs", **changed)]))
    assert found.startswith("sqs: ")
    assert said in found
    assert ";" not in found
    assert lacking(vpc([a_table(NAT)], [*others, an_endpoint("sqs", **changed)])) == ""


@pytest.mark.parametrize(
    ("rules", "is_let_in"),
    [
        ([rule([GROUP])], True),
        ([rule(ranges=["10.0.0.0/16"])], True),
        ([rule(ranges=["10.0.0.0/24", "10.0.1.0/24"])], True),
        ([rule(PrefixListIds=[{"PrefixListId": "pl-1"}])], True),
        ([rule([GROUP], FromPort=0, ToPort=65535)], True),
        ([rule([GROUP], IpProtocol="6")], True),
        ([], False),
        ([rule(["sg-other"])], False),
        ([rule(ranges=["10.0.0.0/24"])], False),
        ([rule([GROUP], IpProtocol="udp")], False),
        ([rule([GROUP], FromPort=80, ToPort=80)], False),
        ([rule([GROUP], FromPort=444, ToPort=500)], False),
    ],
    ids=str,
)
def test_the_endpoint_s_group_has_to_let_the_functions_in(
    rules: list[Any], *, is_let_in: bool
) -> None:
    """A NAT gateway does not help: the service's name leads to the endpoint."""
    behind = an_endpoint("sqs", Groups=[{"GroupId": "sg-e"}])
    found = lacking(vpc([a_table(NAT)], [behind], [its_own(), a_group("sg-e", *rules)]))
    said = "sqs: the endpoint vpce-sqs does not let in sg-cluster on port 443 (sg-e)"
    assert found == ("" if is_let_in else said)


FUNCTIONS = FunctionNetwork(SUBNETS, ("sg-f",))


def test_the_cluster_s_group_has_to_let_the_functions_in() -> None:
    def found(*rules: Any) -> str:
        groups = [a_group(GROUP, *rules), a_group("sg-f")]
        return lacking(vpc([a_table(NAT)], groups=groups), FUNCTIONS)

    assert found(rule(["sg-f"])) == ""
    assert found() == (
        "the cluster's security group sg-cluster does not let in sg-f on port 443: aws ec2"
        " authorize-security-group-ingress --group-id sg-cluster --protocol tcp --port 443"
        " --source-group sg-f"
    )


def test_what_ec2_does_not_tell_of_the_cluster_s_group_is_not_held_against_it() -> None:
    assert lacking(vpc([a_table(NAT)], groups=[a_group("sg-f")]), FUNCTIONS) == ""


def test_a_group_that_lets_nothing_out_is_told() -> None:
    closed = a_group("sg-f", out=[rule(ranges=["0.0.0.0/0"], FromPort=53, ToPort=53)])
    found = lacking(vpc([a_table(NAT)], groups=[a_group(GROUP, rule(["sg-f"])), closed]), FUNCTIONS)
    assert found == "sg-f let nothing out on port 443"


def test_what_is_not_there_is_told_first() -> None:
    other = FunctionNetwork(("subnet-x",), ("sg-x",))
    assert lacking(vpc([a_table()]), other) == (
        f"there is no subnet subnet-x in {REGION}; there is no security group sg-x in {REGION}"
    )


def test_a_public_endpoint_is_reached_by_a_way_out_whose_address_counts() -> None:
    control_plane = of("CIDR list without private access")
    assert "endpoint is public, and no route" in lacking(
        vpc([a_table()], ENDPOINTS), kind="CIDR list without private access"
    )
    found = vpc([a_table(NAT)])
    assert lacking(found, kind="CIDR list without private access") == ""
    said = "the address of the functions' NAT gateway has to be in the cluster's publicAccessCidrs"
    assert said in reaching.unseen(control_plane, INSIDE, found)
    assert reaching.unseen(of("CIDR list"), INSIDE, found) == ""
    open_to_all = of("public", endpointPrivateAccess=False)
    assert reaching.unseen(open_to_all, INSIDE, found) == ""


def test_a_private_endpoint_of_another_vpc_is_told() -> None:
    elsewhere = FunctionNetwork(("subnet-x",), (GROUP,))
    found = vpc(
        [a_table(NAT, vpc=OTHER_VPC)],
        functions=elsewhere,
        others=subnets(subnet_x=OTHER_VPC),
    )
    assert lacking(found, elsewhere) == ""
    assert "in vpc-1, and the functions are in vpc-2" in reaching.unseen(
        of("private"), elsewhere, found
    )


def test_the_api_server_at_another_address_is_not_looked_for() -> None:
    found = vpc([a_table(NAT)], groups=[a_group(GROUP), a_group("sg-f")])
    assert list(reaching.lacking(None, FUNCTIONS, found, EVERY)) == []


ROUTED = of("routed egress")


@pytest.mark.parametrize(
    ("control_plane", "found", "said"),
    [
        (of("public"), None, []),
        (of("isolated egress"), None, ["CUSTOMER_ISOLATED: the API server does not reach"]),
        (ROUTED, None, []),
        (ROUTED, vpc([a_table(NAT)]), []),
        (ROUTED, vpc([a_table()]), ["leads out of the cluster's subnet-a, subnet-b"]),
        (ROUTED, vpc([a_table(INTERNET)]), ["leads out of the cluster's subnet-a, subnet-b"]),
        (
            ROUTED,
            vpc([a_table(NAT)], groups=[a_group(out=[])]),
            ["the cluster's security groups let nothing out"],
        ),
        (
            ROUTED,
            vpc([a_table(NAT)], [an_endpoint("execute-api")]),
            ["vpce-execute-api takes the names of all HTTP APIs"],
        ),
        (ROUTED, vpc([a_table(NAT)], [an_endpoint("execute-api", PrivateDnsEnabled=False)]), []),
    ],
    ids=range(9),
)
def test_the_api_server_reaches_the_webhook_as_its_egress_has_it(
    control_plane: ControlPlane, found: Vpc | None, said: list[str]
) -> None:
    obstacles = egress.obstacles(control_plane, found)
    assert len(obstacles) == len(said)
    for each, text in zip(obstacles, said, strict=True):
        assert text in each


def test_what_to_know_of_routed_egress_names_the_other_way() -> None:
    assert "--webhook in-cluster" in egress.warning(ROUTED)
