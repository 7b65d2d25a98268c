"""The Kubernetes API server over HTTPS: requests, watches, authentication."""

from base64 import b64decode
from datetime import timedelta

from evenkeel.adapters.kubernetes.cluster import RestCluster
from evenkeel.adapters.kubernetes.endpoint import (
    BUDGET,
    LISTING,
    Endpoint,
    Limits,
    TokenSource,
    tls_context,
)
from evenkeel.adapters.kubernetes.transport import SILENT, Transport
from evenkeel.errors import SettingsError
from evenkeel.ports import Journal

__all__ = ["RestCluster", "TokenSource", "connect"]

EKS_REMEDY = (
    "the role's access entry, or its line in aws-auth, is missing or was taken away; put it back"
    " (docs/troubleshoot.md)"
)


def connect(
    endpoint: str,
    ca_data: str,
    token_source: TokenSource,
    *,
    budget: timedelta = BUDGET,
    listing: timedelta = LISTING,
    journal: Journal = SILENT,
) -> RestCluster:
    """The API server of an EKS cluster. Nothing is sent yet.

    ``endpoint`` is its URL and ``ca_data`` its certificate authority, base64 of PEM, both as
    DescribeCluster answers them. ``budget`` bounds the time of one request with all its tries,
    ``listing`` that of a list with all its pages. ``journal`` gets a line where the API server
    refuses the credentials, and where an object cannot be read. Raises SettingsError.
    """
    if not endpoint.startswith("https://"):
        raise SettingsError(f"the endpoint {endpoint!r} should start with https://")
    try:
        context = tls_context(b64decode(ca_data, validate=True).decode("ascii"))
    except (ValueError, OSError) as error:
        raise SettingsError(
            f"the certificate authority should be base64 of a PEM certificate: {error}"
        ) from error
    where = Endpoint(endpoint, tls=context, tokens=token_source, remedy=EKS_REMEDY)
    limits = Limits(budget=budget, listing=listing)
    return RestCluster(Transport(where, limits, journal=journal))
