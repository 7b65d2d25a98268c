"""Whether functions reach the API server and the services of AWS that they call."""

from collections.abc import Iterable, Iterator, Sequence

from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.decisions.network.functions import FunctionNetwork
from evenkeel_cli.decisions.network.vpc import Vpc


def obstacle(control_plane: ControlPlane, functions: FunctionNetwork) -> str:
    """Why functions cannot reach the API server as they are placed; empty if nothing is known.

    - subnets without groups, or groups without subnets: Lambda does not take them;
    - in subnets of yours: `lacking` tells what the subnets lack;
    - in none, and the endpoint is open to all: they reach it;
    - in none, and the endpoint has a list: they come from any address of AWS's;
    - in none, and there is no public endpoint: only from its VPC is it reached.
    """
    if functions.is_half:
        return "the functions need both subnets and security groups to be in your network"
    if functions.is_whole or control_plane.is_open:
        return ""
    if not control_plane.endpoint_public_access:
        return (
            "the functions do not reach the API server: its endpoint is private, and they are in no"
            " network of yours"
        )
    listed = ", ".join(control_plane.public_access_cidrs)
    by_nat = (
        ""
        if control_plane.endpoint_private_access
        else "; without private access they also need a NAT gateway whose address is in the list"
    )
    return (
        f"the functions do not reach the API server: its endpoint lets in {listed} (its"
        f" publicAccessCidrs), and they come from any address of AWS's{by_nat}"
    )


def proposal(
    control_plane: ControlPlane, functions: FunctionNetwork, vpc: Vpc | None
) -> FunctionNetwork:
    """The network that the functions may have; what is given already stays.

    It is made of the cluster's own subnets, without public ones if there are others, and of the
    cluster's security group, which lets itself in.
    """
    subnets = control_plane.subnet_ids
    if vpc is not None:
        private = [e for e in subnets if e in vpc.subnets and not vpc.is_public(e)]
        subnets = tuple(private) or subnets
    groups = tuple(filter(None, (control_plane.cluster_security_group_id,)))
    return FunctionNetwork(functions.subnets or subnets, functions.groups or groups)


def lacking(
    control_plane: ControlPlane | None,
    functions: FunctionNetwork,
    vpc: Vpc,
    called: Iterable[str],
) -> Sequence[str]:
    """What keeps functions in a network from the API server or a service, one sentence each.

    ``control_plane`` None: they reach the API server by another address than EKS's.
    """
    unknown = [
        *(f"there is no subnet {e}" for e in functions.subnets if e not in vpc.subnets),
        *(f"there is no security group {e}" for e in functions.groups if e not in vpc.groups),
    ]
    if unknown:
        return [f"{each} in {vpc.region}" for each in unknown]
    found = []
    if not vpc.let_out(functions.groups):
        found.append(f"{_all(functions.groups)} let nothing out on port 443")
    if control_plane is not None:
        found.extend(_to_the_api_server(control_plane, functions, vpc))
    for service in called:
        found.extend(_to_a_service(service, functions, vpc))
    return found


def unseen(control_plane: ControlPlane, functions: FunctionNetwork, vpc: Vpc) -> str:
    """On what it depends, besides, whether functions in a network reach the API server.

    Empty if on nothing else. What it says was not looked at.
    """
    if _by_private_endpoint(control_plane, functions, vpc):
        return ""
    if not control_plane.endpoint_public_access:
        return (
            f"the API server's endpoint is private, in {control_plane.vpc_id}, and the functions"
            f" are in {_all(_vpcs(functions, vpc))}: one has to lead to the other"
        )
    if control_plane.is_open:
        return ""
    return (
        "the address of the functions' NAT gateway has to be in the cluster's publicAccessCidrs,"
        f" {', '.join(control_plane.public_access_cidrs)}"
    )


def _by_private_endpoint(control_plane: ControlPlane, functions: FunctionNetwork, vpc: Vpc) -> bool:
    at_home = _vpcs(functions, vpc) == {control_plane.vpc_id}
    return control_plane.endpoint_private_access and at_home


def _to_the_api_server(
    control_plane: ControlPlane, functions: FunctionNetwork, vpc: Vpc
) -> Iterator[str]:
    """By the private endpoint from the cluster's own VPC, else by the public one."""
    if _by_private_endpoint(control_plane, functions, vpc):
        if not vpc.let_in(control_plane.groups, functions.groups, functions.subnets):
            target = control_plane.cluster_security_group_id
            yield (
                f"the cluster's security group {target} does not let in {_all(functions.groups)} on"
                f" port 443: aws ec2 authorize-security-group-ingress --group-id {target}"
                f" --protocol tcp --port 443 --source-group {functions.groups[0]}"
            )
        return
    stuck = _without_way_out(functions, vpc)
    if control_plane.endpoint_public_access and stuck:
        yield f"the API server's endpoint is public, and {_no_way_out(stuck, vpc)}"


def _to_a_service(service: str, functions: FunctionNetwork, vpc: Vpc) -> Iterator[str]:
    """By an interface endpoint with private DNS; without one by a way out.

    Where there is one, its names lead to it: no way out helps against a group that is closed.
    """
    name = f"com.amazonaws.{vpc.region}.{service}"
    every = vpc.endpoints_of(service, _vpcs(functions, vpc))
    by_name = [each for each in every if each.private_dns_enabled]
    if by_name:
        groups = [group.group_id for each in by_name for group in each.groups]
        if not vpc.let_in(groups, functions.groups, functions.subnets):
            yield (
                f"{service}: the endpoint {_all(e.vpc_endpoint_id for e in by_name)} does not let"
                f" in {_all(functions.groups)} on port 443 ({_all(groups)})"
            )
        return
    stuck = _without_way_out(functions, vpc)
    if not stuck:
        return
    if every:
        named = _all(each.vpc_endpoint_id for each in every)
        yield f"{service}: the endpoint {named} has no private DNS, and {_no_way_out(stuck, vpc)}"
        return
    yield f"{service}: there is no interface endpoint {name}, and {_no_way_out(stuck, vpc)}"


def _vpcs(functions: FunctionNetwork, vpc: Vpc) -> set[str]:
    return {vpc.subnets[each].vpc_id for each in functions.subnets if each in vpc.subnets}


def _without_way_out(functions: FunctionNetwork, vpc: Vpc) -> Sequence[str]:
    return [each for each in functions.subnets if not vpc.has_way_out(each)]


def _no_way_out(subnets: Sequence[str], vpc: Vpc) -> str:
    public = (
        " (by an internet gateway a function gets nowhere)" if _any_public(subnets, vpc) else ""
    )
    return f"no route to a NAT gateway leads out of {_all(subnets)}{public}"


def _any_public(subnets: Sequence[str], vpc: Vpc) -> bool:
    return any(map(vpc.is_public, subnets))


def _all(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
