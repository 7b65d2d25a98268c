"""A certificate for a Service, which signs itself: the API server trusts it and nothing else."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

LASTS: Final = timedelta(days=3650)
"""It is trusted by one webhook configuration; ``evenkeel rotate-token`` makes a new one."""
SKEW: Final = timedelta(hours=1)
"""Clocks may be apart."""


@dataclass(frozen=True, slots=True)
class Made:
    """A certificate and its key, both PEM."""

    certificate: str
    key: str = field(repr=False)


def made(host: str, now: datetime) -> Made:
    """A certificate for this name, with a key of its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + LASTS)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return Made(certificate.public_bytes(Encoding.PEM).decode(), plain.decode())
