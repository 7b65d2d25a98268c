"""Where Evenkeel is installed: an account, a cluster, and the stack that is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import msgspec

from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.ports import Clock
from evenkeel_cli.aws import asking, eks, stack
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.aws.eks import Authority, Described
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install import steps, template
from evenkeel_cli.install.objects import Objects
from evenkeel_cli.install.patience import USUAL, ImpatientClock
from evenkeel_cli.install.steps import Say
from evenkeel_cli.install.template import Template
from evenkeel_cli.output import Output
from evenkeel_cli.targets import Target


@dataclass(frozen=True, slots=True)
class Place:
    """What a person names: the EKS cluster, the stack, and how the API server is reached.

    ``endpoint`` and ``authority`` (base64 of PEM) stand in for what EKS tells; ``target`` is the
    kubeconfig by which to change the cluster, where the AWS credentials may not. ``region`` and
    ``profile`` stand in for those of the environment; ``bucket`` has the stack's files, and
    CloudFormation works by the role ``role_arn``.
    """

    cluster: str
    stack: str = ""
    endpoint: str = ""
    authority: str = ""
    target: Target = field(default_factory=Target)
    region: str = ""
    profile: str = ""
    bucket: str = ""
    role_arn: str = ""

    @property
    def stack_name(self) -> str:
        """The stack's name."""
        return self.stack or f"evenkeel-{self.cluster}"


@dataclass(frozen=True, slots=True)
class Site:
    """An account and a cluster, both open. ``described`` is the cluster as EKS has it.

    ``say`` prints what a step that takes long is about.
    """

    place: Place
    aws: Aws
    described: Described
    cluster: RestCluster
    objects: Objects
    clock: Clock
    say: Say

    def stack(self) -> Stack | None:
        """The stack as it is now; None if there is none. Raises AwsError."""
        return stack.gather(self.aws, self.place.stack_name)

    def template(self) -> Template:
        """The template of the stack that is there. Raises AwsError and UnmetError."""
        found = stack.template(self.aws, self.place.stack_name)
        return template.read(found) if isinstance(found, str) else dict(found)

    @property
    def title(self) -> str:
        """How to call it."""
        return f"{self.place.cluster} in {self.aws.region}, stack {self.place.stack_name}"


@contextmanager
def opened(place: Place, output: Output, patience: timedelta = USUAL) -> Iterator[Site]:
    """Ask EKS where the cluster is, and open it. Raises CommandError.

    What takes long tells of itself in the output. The site's clock lets nothing be waited for
    longer than ``patience``, all in all.
    """
    if bool(place.endpoint) != bool(place.authority):
        raise BadInputError("--server and --certificate-authority belong together: give both")
    aws = asking.of_environment(place.region, place.profile)
    if isinstance(aws, str):
        raise BadInputError(f"AWS cannot be asked: {aws}")
    described = eks.describe(aws, place.cluster)
    if place.endpoint:
        authority = Authority(data=place.authority)
        described = msgspec.structs.replace(
            described, endpoint=place.endpoint, certificate_authority=authority
        )
    clock = ImpatientClock(SystemClock(), patience)
    with (
        place.target.connect()
        if place.target.is_named
        else eks.connect(aws, place.cluster, described)
    ) as cluster:
        objects = Objects(cluster.transport, clock)
        say = partial(steps.tell, output)
        yield Site(place, aws, described, cluster, objects, clock, say)
