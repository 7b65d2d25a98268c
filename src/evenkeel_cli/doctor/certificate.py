"""The certificate of a webhook: whether the API server would trust it, and for how long."""

import socket
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509

from evenkeel.adapters.kubernetes import tls
from evenkeel_cli.doctor.findings import Finding, broken, fine, not_looked
from evenkeel_cli.doctor.webhook import Place
from evenkeel_cli.program import NAME

PATIENCE: Final = 3.0
"""Seconds that the API server waits for the whole answer."""

SOON: Final = timedelta(days=7)
"""What renews certificates by itself, does it earlier than this before their end."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a handshake or a caBundle showed.

    Until when the certificate holds, why it is not trusted, or why nobody was reached.
    """

    until: datetime | None = None
    distrust: str = ""
    silence: str = ""


def look(place: Place, now: datetime) -> Finding:
    """Shake hands as the API server does, and judge.

    A Service is reached from within its cluster only: of its certificate the caBundle is judged,
    which is the same where ``evenkeel install`` made both.
    """
    if not place.host:
        return judge(place, Seen(silence="it names no host"), now)
    return judge(place, read_bundle(place) if place.is_service else shake_hands(place), now)


def read_bundle(place: Place) -> Seen:
    """Until when the last certificate of the caBundle holds."""
    if not place.authority:
        return Seen(silence="only the API server can reach a Service")
    try:
        found = x509.load_pem_x509_certificates(place.authority.encode())
    except ValueError as error:
        return Seen(distrust=f"its caBundle is no certificate: {error}")
    return Seen(until=max(each.not_valid_after_utc for each in found))


def shake_hands(place: Place) -> Seen:
    """Open a TLS connection from here; nothing is sent over it."""
    try:
        context = tls.context(place.authority or None)
    except (OSError, ValueError) as error:
        return Seen(distrust=f"its caBundle is no certificate: {error}")
    try:
        with (
            socket.create_connection((place.host, place.port), timeout=PATIENCE) as connection,
            context.wrap_socket(connection, server_hostname=place.host) as channel,
        ):
            found = channel.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        return Seen(distrust=error.verify_message)
    except OSError as error:
        return Seen(silence=str(error))
    until = ssl.cert_time_to_seconds(str(found["notAfter"]))
    return Seen(until=datetime.fromtimestamp(until, UTC))


def judge(place: Place, seen: Seen, now: datetime) -> Finding:
    """Whether the API server can trust it, today and in a week."""
    link = "webhook certificate"
    host = place.host or "its URL"
    if seen.distrust:
        return broken(
            link,
            f"the caBundle does not vouch for {host}: {seen.distrust}",
            "renew the certificate, or apply the configuration with the right"
            f" --certificate-authority ({NAME} webhook-config)",
        )
    if seen.until is None:
        return not_looked(link, f"{host} is not reached from here: {seen.silence}")
    day = seen.until.strftime("%Y-%m-%d")
    if seen.until - now < SOON:
        return broken(
            link, f"that of {host} ends on {day}", "renew it, and start what serves it again"
        )
    return fine(link, f"the API server trusts {host} until {day}")
