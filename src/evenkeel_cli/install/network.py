"""The network of what is to be installed: whether all that is needed is reached from there."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenkeel_cli.aws import vpc
from evenkeel_cli.aws.asking import AwsError
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.decisions.network import egress, reaching
from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.decisions.network.functions import FunctionNetwork, called
from evenkeel_cli.decisions.network.vpc import Vpc
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.settling import NEVER_MADE
from evenkeel_cli.install.site import Site
from evenkeel_cli.program import NAME


@dataclass(frozen=True, slots=True)
class Looked:
    """What is to be said of the network, a sentence each, and why nothing is to be installed."""

    sentences: Sequence[str] = ()
    obstacle: str = ""

    def check(self) -> None:
        """Raises BadInputError where the functions would not reach the API server."""
        if self.obstacle:
            raise BadInputError(self.obstacle)


def look(site: Site, choices: Choices, stack: Stack | None) -> Looked:
    """Decide by what EKS and the parameters tell, and ask EC2 where that matters.

    Functions that reach the API server by another address (``--server``) may be anywhere.
    """
    control_plane = site.described.control_plane
    is_new = stack is None or stack.status in NEVER_MADE
    have = {} if stack is None or is_new else stack.parameters
    parameters = {**have, **choices.parameters}
    functions = FunctionNetwork.of(parameters)
    by_eks = not site.place.endpoint
    obstacle = reaching.obstacle(control_plane, functions) if by_eks or functions.is_half else ""
    by_lambda = choices.webhook is Webhook.LAMBDA
    calls_out = by_lambda and not control_plane.calls_out_by_aws
    if not (functions.is_whole or obstacle or calls_out):
        return Looked()
    known, sentences = _asked(site, functions)
    if calls_out:
        sentences += egress.obstacles(control_plane, known) or [egress.warning(control_plane)]
    proposed = functions
    if obstacle:
        proposed = reaching.proposal(control_plane, functions, known)
        obstacle += f": add {proposed} to {NAME} install"
    if known is not None and proposed.is_whole:
        webhook = {"Webhook": str(by_lambda).lower()}
        services = called({**parameters, **webhook})
        there = control_plane if by_eks else None
        sentences += _from(there, proposed, known, services)
    return Looked(sentences, obstacle)


def _asked(site: Site, functions: FunctionNetwork) -> tuple[Vpc | None, list[str]]:
    """What EC2 tells; None where it does not, and why."""
    try:
        return vpc.gather(site.aws, site.described.control_plane, functions), []
    except AwsError as error:
        return None, [f"subnets, routes, endpoints and security groups were not looked at: {error}"]


def _from(
    control_plane: ControlPlane | None,
    functions: FunctionNetwork,
    known: Vpc,
    services: Sequence[str],
) -> Sequence[str]:
    """What the functions lack in their network, and on what else it depends."""
    lacking = reaching.lacking(control_plane, functions, known, services)
    unseen = reaching.unseen(control_plane, functions, known) if control_plane else ""
    return [*lacking, *([unseen] if unseen else [])]
