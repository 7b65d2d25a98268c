"""Who reaches whom: the functions the API server and AWS, the API server the webhook on Lambda."""

from collections.abc import Iterator, Sequence
from typing import Final

from evenkeel_cli.aws import vpc
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.aws.eks import Described
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.decisions.network import egress, reaching
from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.decisions.network.functions import FunctionNetwork, called
from evenkeel_cli.decisions.network.vpc import Vpc
from evenkeel_cli.doctor.findings import Finding, broken, fine, looked, not_looked, unknown
from evenkeel_cli.program import NAME

OF_FUNCTIONS: Final = "network of functions"
OF_API_SERVER: Final = "way to the webhook"
MEND: Final = "see docs/install.md, A cluster whose endpoint is not open to all"
IN_CLUSTER: Final = f"{NAME} install --webhook in-cluster, or mend that (docs/install.md)"


def look(aws: Aws, stack: Stack, described: Described) -> Iterator[Finding]:
    """Both ways; the second one only of a stack that has the webhook."""
    yield from looked(OF_FUNCTIONS, _of_functions, aws, stack, described)
    if "PlacementUrl" in stack.outputs:
        yield from looked(OF_API_SERVER, _of_api_server, aws, described.control_plane)


def judge_functions(
    control_plane: ControlPlane | None,
    functions: FunctionNetwork,
    known: Vpc | None,
    services: Sequence[str],
) -> Finding:
    """Whether the functions reach what they need.

    ``control_plane`` None: they reach the API server by another address than EKS's. ``known``
    None: EC2 was not asked, because the functions are in no network.
    """
    if control_plane is not None:
        obstacle = reaching.obstacle(control_plane, functions)
        if obstacle:
            proposed = reaching.proposal(control_plane, functions, known)
            return broken(OF_FUNCTIONS, obstacle, f"{NAME} install {proposed}")
    if known is None:
        if control_plane is None:
            said = "the functions have another address of the API server than the one of EKS"
            return not_looked(OF_FUNCTIONS, said)
        return fine(OF_FUNCTIONS, "the API server's endpoint is open to all addresses")
    lacking = reaching.lacking(control_plane, functions, known, services)
    if lacking:
        return broken(OF_FUNCTIONS, "; ".join(lacking), MEND)
    unseen = reaching.unseen(control_plane, functions, known) if control_plane else ""
    if unseen:
        return unknown(OF_FUNCTIONS, unseen, "see that it is so; the probe says whether it works")
    reached = ", ".join(("the API server", *services) if control_plane else services)
    return fine(OF_FUNCTIONS, f"{reached} can be reached from {', '.join(functions.subnets)}")


def judge_api_server(control_plane: ControlPlane, known: Vpc | None) -> Finding:
    """Whether the API server reaches the webhook on Lambda."""
    obstacles = egress.obstacles(control_plane, known)
    if obstacles:
        return broken(OF_API_SERVER, "; ".join(obstacles), IN_CLUSTER)
    if control_plane.calls_out_by_aws:
        return fine(OF_API_SERVER, "AWS manages how the control plane calls out")
    return fine(OF_API_SERVER, f"{egress.mode(control_plane)}, and there is a way out")


def _of_functions(aws: Aws, stack: Stack, described: Described) -> Finding:
    functions = FunctionNetwork.of(stack.parameters)
    by_eks = stack.parameters.get("ClusterEndpoint") == described.endpoint
    control_plane = described.control_plane if by_eks else None
    is_asked = functions.is_whole
    known = vpc.gather(aws, described.control_plane, functions) if is_asked else None
    services = called(stack.parameters)
    return judge_functions(control_plane, functions, known, services)


def _of_api_server(aws: Aws, control_plane: ControlPlane) -> Finding:
    is_asked = not control_plane.calls_out_by_aws and not control_plane.is_isolated
    known = vpc.gather(aws, control_plane, FunctionNetwork()) if is_asked else None
    return judge_api_server(control_plane, known)
