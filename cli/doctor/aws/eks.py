"""Where an EKS cluster is, and how to get in as whoever has the AWS credentials."""

from datetime import timedelta

import msgspec

from cli.doctor.aws.asking import Aws, AwsError
from cli.errors import BadInputError, UnmetError
from evenkeel.adapters import kubernetes
from evenkeel.adapters.aws.eks_token import EksToken
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.errors import SettingsError


class Authority(msgspec.Struct, frozen=True, rename="camel"):
    """The cluster's certificate authority, base64 of PEM."""

    data: str = ""


class Described(msgspec.Struct, frozen=True, rename="camel"):
    """A cluster, as far as it tells where it is; one that is being made has no endpoint yet."""

    endpoint: str = ""
    certificate_authority: Authority = Authority()


class Answer(msgspec.Struct, frozen=True, rename="camel"):
    """The answer of DescribeCluster."""

    cluster: Described


def connect(aws: Aws, name: str, budget: timedelta) -> RestCluster:
    """The API server of a cluster; nothing is sent to it yet. Raises CommandError."""
    try:
        found = aws.ask("eks", "describe_cluster", Answer, name=name).cluster
    except AwsError as error:
        if error.code == "ResourceNotFoundException":
            message = f"there is no EKS cluster {name} in {aws.region}: check name and region"
            raise BadInputError(message) from None
        raise UnmetError(
            f"EKS does not tell where {name} is: {error}; or name a --context"
        ) from None
    tokens = EksToken(name, aws.region, SystemClock())
    try:
        return kubernetes.connect(
            found.endpoint, found.certificate_authority.data, tokens, budget=budget
        )
    except SettingsError as error:
        raise UnmetError(f"EKS cluster {name}: {error}; or name a --context") from None
