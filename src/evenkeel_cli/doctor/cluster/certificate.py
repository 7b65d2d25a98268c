"""The certificate of a webhook: whether the API server would trust it, and for how long."""

import socket
import ssl
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from cryptography import x509

from evenkeel.adapters.kubernetes.endpoint import tls_context
from evenkeel.errors import ClusterError
from evenkeel_cli.doctor.check import ASK_WITH_MORE, Finding, broken, fine, not_looked
from evenkeel_cli.doctor.cluster.facts import ClientConfig, ClusterFacts, ServiceReference
from evenkeel_cli.program import NAME

PATIENCE: Final = 3.0
"""Seconds that the API server waits for the whole answer."""

SOON: Final = timedelta(days=7)
"""What renews certificates by itself, does it earlier than this before their end."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a webhook answers; ``host`` is empty where it cannot be told, as of a bad URL.

    ``authority`` is PEM; empty for those that the API server trusts anyhow. ``service`` is the one
    that it calls, if any.
    """

    host: str
    port: int
    authority: str
    service: ServiceReference | None = None


def certificates(facts: ClusterFacts) -> Iterator[Finding]:
    """Whether the API server would trust each webhook's certificate, today and in a week.

    Hands are shaken as the API server does it. What a Service serves the API server alone reaches.
    """
    for place in dict.fromkeys(place_of(hook.client_config) for hook in facts.hooks()):
        at = place.service
        found = shake_hands(place) if at is None else ask_service(place, at, facts)
        yield found if isinstance(found, Finding) else judge(place, found, facts.clock.now())


def place_of(config: ClientConfig) -> Place:
    """Where a webhook answers, and who vouches for it there."""
    try:
        authority = b64decode(config.ca_bundle, validate=True).decode("ascii")
    except ValueError:
        authority = "none"
    if config.service is not None:
        host = f"{config.service.name}.{config.service.namespace}.svc"
        return Place(host, config.service.port, authority, config.service)
    try:
        parts = urlsplit(config.url)
        return Place(parts.hostname or "", parts.port or 443, authority)
    except ValueError:
        return Place("", 443, authority)


def ask_service(place: Place, service: ServiceReference, facts: ClusterFacts) -> datetime | Finding:
    """Until when what a Service serves and the last certificate of its caBundle both hold.

    Or why that is not known. One process behind it tells in its metrics when its certificate ends,
    and is asked by way of the API server. Whether the caBundle vouches for it dry runs show.
    """
    bundle = place.authority.encode()
    try:
        vouching = x509.load_pem_x509_certificates(bundle) if bundle else ()
    except ValueError as error:
        return untrusted(place, f"its caBundle is no certificate: {error}")
    vouched = max((each.not_valid_after_utc for each in vouching), default=None)
    try:
        served = facts.served_until(service)
    except ClusterError as error:
        if vouched is not None and vouched - facts.clock.now() < SOON:
            return vouched
        return not_looked(f"what {place.host} serves cannot be seen: {error}", ASK_WITH_MORE)
    return served if vouched is None else min(served, vouched)


def shake_hands(place: Place) -> datetime | Finding:
    """Until when a certificate holds that a TLS connection shows, or why none is seen or trusted.

    Nothing is sent over it.
    """
    if not place.host:
        return unreached(place, "it names no host")
    try:
        context = tls_context(place.authority or None)
    except (OSError, ValueError) as error:
        return untrusted(place, f"its caBundle is no certificate: {error}")
    try:
        with (
            socket.create_connection((place.host, place.port), timeout=PATIENCE) as connection,
            context.wrap_socket(connection, server_hostname=place.host) as channel,
        ):
            found = channel.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        return untrusted(place, error.verify_message)
    except OSError as error:
        return unreached(place, str(error))
    until = ssl.cert_time_to_seconds(str(found["notAfter"]))
    return datetime.fromtimestamp(until, UTC)


def untrusted(place: Place, why: str) -> Finding:
    """The API server would not trust it."""
    return broken(
        f"the caBundle does not vouch for {place.host or 'its URL'}: {why}",
        "renew the certificate, or apply the configuration with the right"
        f" --certificate-authority ({NAME} webhook-config)",
    )


def unreached(place: Place, why: str) -> Finding:
    """The certificate cannot be seen from here."""
    return not_looked(f"{place.host or 'its URL'} is not reached from here: {why}")


def judge(place: Place, until: datetime, now: datetime) -> Finding:
    """Whether a certificate that is trusted holds for a week."""
    day = until.strftime("%Y-%m-%d")
    if until - now < SOON:
        return broken(
            f"that of {place.host} ends on {day}", "renew it: what serves it reads it again"
        )
    return fine(f"the API server trusts {place.host} until {day}")
