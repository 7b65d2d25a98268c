"""Where an EKS cluster is, and how to get in as whoever has the AWS credentials."""

from datetime import timedelta
from typing import Final

import botocore.session
import msgspec

from evenkeel.adapters import kubernetes
from evenkeel.adapters.aws.eks_token import EksToken
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.adapters.kubernetes.endpoint import BUDGET
from evenkeel.errors import SettingsError
from evenkeel_cli.aws.asking import Aws, AwsError
from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.errors import BadInputError, UnmetError

BY_CONFIG_MAP: Final = "CONFIG_MAP"
BY_API: Final = "API"
"""The authentication modes of a cluster that knows no access entries, and of one without aws-auth.

The third, API_AND_CONFIG_MAP, knows both.
https://docs.aws.amazon.com/eks/latest/userguide/grant-k8s-access.html
"""


class Authority(msgspec.Struct, frozen=True, rename="camel"):
    """The cluster's certificate authority, base64 of PEM."""

    data: str = ""


class Access(msgspec.Struct, frozen=True, rename="camel"):
    """How roles get in."""

    authentication_mode: str = BY_CONFIG_MAP


class Compute(msgspec.Struct, frozen=True, rename="camel"):
    """Whether the cluster is in EKS Auto Mode."""

    enabled: bool | None = False


class Described(msgspec.Struct, frozen=True, rename="camel"):
    """A cluster, as DescribeCluster has it; one that is being made has no endpoint yet."""

    endpoint: str = ""
    certificate_authority: Authority = Authority()
    access_config: Access | None = None
    compute_config: Compute | None = None
    control_plane: ControlPlane = msgspec.field(default=ControlPlane(), name="resourcesVpcConfig")

    @property
    def reads_aws_auth(self) -> bool:
        """Whether the ConfigMap aws-auth lets roles in."""
        return self.access_config is None or self.access_config.authentication_mode != BY_API

    @property
    def takes_access_entries(self) -> bool:
        """Whether access entries let roles in; else the ConfigMap aws-auth does.

        A cluster that was made before there were access entries tells no mode.
        """
        access = self.access_config or Access()
        return access.authentication_mode != BY_CONFIG_MAP

    @property
    def is_auto(self) -> bool:
        """Whether it is in EKS Auto Mode."""
        return bool(self.compute_config and self.compute_config.enabled)


class Answer(msgspec.Struct, frozen=True, rename="camel"):
    """The answer of DescribeCluster."""

    cluster: Described


class NodeGroups(msgspec.Struct, frozen=True, rename="camel"):
    """The answer of ListNodegroups, its first hundred."""

    nodegroups: tuple[str, ...] = ()


def gather(aws: Aws, name: str) -> Described:
    """Ask EKS. Raises AwsError."""
    return aws.ask("eks", "describe_cluster", Answer, name=name).cluster


def describe(aws: Aws, name: str) -> Described:
    """Ask EKS. Raises CommandError, which says what to do instead."""
    try:
        return gather(aws, name)
    except AwsError as error:
        if error.aws_code == "ResourceNotFoundException":
            message = f"there is no EKS cluster {name} in {aws.region}: check name and region"
            raise BadInputError(message) from None
        raise UnmetError(
            f"EKS does not tell where {name} is: {error}; or name a --context"
        ) from None


def node_groups(aws: Aws, name: str) -> tuple[str, ...]:
    """The managed node groups of a cluster, by name. Raises AwsError."""
    return aws.ask("eks", "list_nodegroups", NodeGroups, clusterName=name).nodegroups


def tokens(aws: Aws, name: str) -> EksToken:
    """Tokens for a cluster, signed by the credentials that AWS is asked with."""
    session = botocore.session.Session(profile=aws.profile) if aws.profile else None
    return EksToken(name, aws.region, SystemClock(), session)


def connect(aws: Aws, name: str, found: Described, budget: timedelta = BUDGET) -> RestCluster:
    """The API server of a cluster; nothing is sent to it yet. Raises CommandError."""
    try:
        return kubernetes.connect(
            found.endpoint, found.certificate_authority.data, tokens(aws, name), budget=budget
        )
    except SettingsError as error:
        raise UnmetError(f"EKS cluster {name}: {error}; or name a --context") from None
