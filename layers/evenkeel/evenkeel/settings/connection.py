"""How a function reaches its cluster."""

import base64
from dataclasses import dataclass
from typing import Annotated, Final

from evenkeel.settings.shared import CLUSTER_NAME
from evenkeel.settings.variable import Settings, Variable, text


def _endpoint(given: str) -> str:
    """Only https: a token travels there."""
    if not given.startswith("https://"):
        raise ValueError(given)
    return given.rstrip("/")


def _certificate(given: str) -> str:
    if b"-----BEGIN CERTIFICATE-----" not in base64.b64decode(given, validate=True):
        raise ValueError(given)
    return given


CLUSTER_ENDPOINT: Final = Variable(
    "EVENKEEL_CLUSTER_ENDPOINT",
    "The API server's URL, as EKS's DescribeCluster answers it.",
    "the cluster's endpoint, https://...",
    _endpoint,
)

CLUSTER_CA: Final = Variable(
    "EVENKEEL_CLUSTER_CA",
    "The certificate of the authority that signed the API server's.",
    "the cluster's certificate authority, in base64 as `aws eks describe-cluster` shows it",
    _certificate,
    secret=True,
)

REGION: Final = text(
    "AWS_REGION",
    "The region whose EC2, SQS, Secrets Manager and STS are asked.",
    "a region such as eu-central-1; Lambda sets it",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings(Settings):
    """How a function reaches its cluster.

    ``certificate_authority`` is its PEM text, in base64.
    """

    cluster_name: Annotated[str, CLUSTER_NAME]
    endpoint: Annotated[str, CLUSTER_ENDPOINT]
    certificate_authority: Annotated[str, CLUSTER_CA]
    region: Annotated[str, REGION]
