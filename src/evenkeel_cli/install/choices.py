"""What is wanted of an installation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from evenkeel.settings import Mode
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.decisions.network import egress
from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install import placement_policy, serving
from evenkeel_cli.install.objects import Objects, named, own
from evenkeel_cli.install.policies import Policies
from evenkeel_cli.placement_policy import API


class Webhook(StrEnum):
    """Where the webhook runs that places pods and gates evictions, or what is in its place."""

    LAMBDA = "lambda"
    IN_CLUSTER = "in-cluster"
    POLICY = "policy"
    NONE = "none"

    @property
    def answers(self) -> bool:
        """Whether there is a webhook, which the API server can ask."""
        return self in (Webhook.LAMBDA, Webhook.IN_CLUSTER)


OURS: Final = (
    "ClusterName",
    "ClusterEndpoint",
    "ClusterCertificateAuthority",
    "AccessEntries",
    "Mode",
    "Webhook",
    "WebhookToken",
)
"""Parameters of the stack that follow from other options."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person said; None and empty: nothing. ``parameters`` are KEY=VALUE, of the stack."""

    mode: Mode | None = None
    webhook: Webhook | None = None
    policies: Policies | None = None
    image: str = ""
    namespaces: tuple[str, ...] = ()
    is_everywhere: bool = False
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choices:
    """What is to be, all of it decided.

    ``namespaces`` get the labels by which they take part; ``is_everywhere``: all take part
    without. ``parameters`` are those of the stack that differ from its defaults, or from what it
    has.
    """

    mode: Mode
    webhook: Webhook
    policies: Policies = Policies.NONE
    image: str = ""
    namespaces: Sequence[str] = ()
    is_everywhere: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict)


def made(
    asked: Asked, stack: Stack | None, objects: Objects, control_plane: ControlPlane
) -> Choices:
    """What was asked for; what nobody said stays as it is, or is as for a first time.

    A stack without outputs was never made. At first the webhook is on Lambda if AWS sees to it
    that the API server can call it there, else in the cluster.

    Raises BadInputError where it does not fit together, ClusterError where the cluster does not
    tell how it is.
    """
    have = stack.parameters if stack is not None else {}
    deployment = objects.find(own("apps/v1", "Deployment", serving.NAME))
    if asked.webhook is not None:
        webhook = asked.webhook
    elif deployment is not None:
        webhook = Webhook.IN_CLUSTER
    elif objects.find(placement_policy.MADE) is not None:
        webhook = Webhook.POLICY
    elif stack is None or not stack.outputs:
        webhook = Webhook.LAMBDA if control_plane.calls_out_by_aws else Webhook.IN_CLUSTER
    else:
        webhook = Webhook.LAMBDA if "PlacementUrl" in stack.outputs else Webhook.NONE
    if asked.webhook is Webhook.LAMBDA and control_plane.is_isolated:
        raise BadInputError(
            f"--webhook lambda: {egress.mode(control_plane)}, by which the API server does not"
            " reach it: --webhook in-cluster --image IMAGE, or --webhook policy"
        )
    if webhook is Webhook.POLICY and not objects.serves(API, "MutatingAdmissionPolicy"):
        raise BadInputError(
            f"--webhook policy: the API server has no MutatingAdmissionPolicy in {API}, which is"
            " stable since Kubernetes 1.36"
        )
    image = asked.image or (serving.image_of(deployment) if deployment is not None else "")
    if webhook is Webhook.IN_CLUSTER and not image:
        raise BadInputError(
            f"{_why_in_cluster(asked, control_plane)} needs --image: the image that the Dockerfile"
            " makes, where your nodes can pull it"
        )
    for name in asked.namespaces:
        if objects.find(named("v1", "Namespace", name)) is None:
            raise BadInputError(f"there is no namespace {name}: make it first")
    parameters = _parameters(asked.parameters)
    everywhere = {"Namespaces": "all", "Gate": "managed"} if asked.is_everywhere else {}
    return Choices(
        mode=asked.mode or Mode(have.get("Mode", Mode.OBSERVE)),
        webhook=webhook,
        policies=asked.policies or Policies.found(objects),
        image=image,
        namespaces=asked.namespaces,
        is_everywhere=asked.is_everywhere or have.get("Namespaces") == "all",
        parameters=parameters | everywhere,
    )


def _why_in_cluster(asked: Asked, control_plane: ControlPlane) -> str:
    if asked.webhook is Webhook.IN_CLUSTER:
        return "--webhook in-cluster"
    return (
        f"{egress.mode(control_plane)}, so the webhook belongs into the cluster, or --webhook"
        " policy: --webhook in-cluster"
    )


def _parameters(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for each in given:
        key, equals, value = each.partition("=")
        if not equals or not key.isalnum():
            raise BadInputError(f"--parameter {each!r}: it should be KEY=VALUE")
        if key in OURS:
            raise BadInputError(f"--parameter {key}: the command's own options say that")
        found[key] = value
    return found
