"""Whether the API server reaches the webhook on Lambda, which is an HTTP API on the internet.

By AWS_MANAGED it does. By CUSTOMER_ROUTED its calls of webhooks leave by the cluster's network
interfaces in your VPC, which have no public address, and names are resolved by that VPC's DNS. An
interface endpoint of execute-api with private DNS takes the names of all HTTP APIs there, and
serves private APIs alone.

https://docs.aws.amazon.com/eks/latest/userguide/control-plane-egress.html
https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-private-apis.html
"""

from collections.abc import Sequence
from typing import Final

from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.decisions.network.vpc import Vpc

HTTP_API: Final = "execute-api"


def mode(control_plane: ControlPlane) -> str:
    """How the API server calls out, in words."""
    return f"the control plane's egress mode is {control_plane.control_plane_egress_mode}"


def warning(control_plane: ControlPlane) -> str:
    """What to know where the API server calls out by your network, and nothing hinders it."""
    return (
        f"{mode(control_plane)}: the API server calls the webhook on Lambda by your network. If"
        " there is no way out each new pod of a managed namespace waits 3 s; --webhook in-cluster"
        " needs none"
    )


def obstacles(control_plane: ControlPlane, vpc: Vpc | None) -> Sequence[str]:
    """What keeps the API server from the webhook, one sentence each; none: nothing is known.

    ``vpc`` None: EC2 was not asked.
    """
    if control_plane.calls_out_by_aws:
        return []
    if control_plane.is_isolated:
        return [f"{mode(control_plane)}: the API server does not reach a webhook on Lambda"]
    if vpc is None:
        return []
    known = [each for each in control_plane.subnet_ids if each in vpc.subnets]
    found = []
    if stuck := sorted(each for each in known if not vpc.has_way_out(each)):
        found.append(
            f"{mode(control_plane)}, and no route to a NAT gateway leads out of the cluster's"
            f" {', '.join(stuck)}"
        )
    if not vpc.let_out(control_plane.groups):
        found.append(
            f"{mode(control_plane)}, and the cluster's security groups let nothing out on port 443"
        )
    private = [
        each.vpc_endpoint_id
        for each in vpc.endpoints_of(HTTP_API, {control_plane.vpc_id})
        if each.private_dns_enabled
    ]
    if private:
        found.append(
            f"{mode(control_plane)}, and the VPC's endpoint {', '.join(private)} takes the names of"
            f" all HTTP APIs for private ones ({HTTP_API} with private DNS)"
        )
    return found
