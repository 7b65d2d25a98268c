"""How a function reaches its cluster."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from evenkeel.errors import SettingsError
from evenkeel.settings import shared
from evenkeel.settings.values import text, whole

CLUSTER_ENDPOINT: Final = "EVENKEEL_CLUSTER_ENDPOINT"
CLUSTER_CA: Final = "EVENKEEL_CLUSTER_CA"
PARALLEL: Final = "EVENKEEL_PARALLEL_REQUESTS"
REGION: Final = "AWS_REGION"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """How a function reaches its cluster.

    ``endpoint`` is the API server's https URL and ``certificate_authority`` the PEM text of
    the authority that signed its certificate, in base64: both as EKS's DescribeCluster
    answers them. ``parallel`` is how many requests the API server gets at once.
    """

    cluster_name: str
    endpoint: str
    certificate_authority: str
    region: str
    parallel: int = 32

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError."""
        return cls(
            cluster_name=shared.cluster_name(environ),
            endpoint=_endpoint(environ),
            certificate_authority=_certificate(environ),
            region=text(environ, REGION, "a region such as eu-central-1; Lambda sets it"),
            parallel=whole(environ, PARALLEL, default=32, lowest=1, highest=256),
        )


def _endpoint(environ: Mapping[str, str]) -> str:
    """Only https: a token travels there."""
    what = "the cluster's endpoint, https://..."
    value = text(environ, CLUSTER_ENDPOINT, what)
    if not value.startswith("https://"):
        raise SettingsError(f"{CLUSTER_ENDPOINT} is {value!r}: it should be {what}")
    return value.rstrip("/")


def _certificate(environ: Mapping[str, str]) -> str:
    what = "the cluster's certificate authority, in base64 as `aws eks describe-cluster` shows it"
    value = text(environ, CLUSTER_CA, what)
    try:
        decoded = base64.b64decode(value, validate=True)
    except binascii.Error:
        raise SettingsError(f"{CLUSTER_CA} is not base64: it should be {what}") from None
    if b"-----BEGIN CERTIFICATE-----" not in decoded:
        raise SettingsError(f"{CLUSTER_CA} holds no certificate: it should be {what}")
    return value
