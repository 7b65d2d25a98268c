"""The server's certificate, which what renews it writes into its files anew."""

import ssl
from datetime import datetime
from pathlib import Path
from typing import Final

from cryptography import x509
from prometheus_client import CollectorRegistry, Gauge

SERIES: Final = "evenkeel_certificate_ends_seconds"


class Certificate:
    """A certificate and its key in files, as far as they belong together.

    ``tls`` is what a server with it needs, and ``ends_at`` when it ends.
    """

    tls: ssl.SSLContext
    ends_at: datetime

    def __init__(
        self, certificate: Path, key: Path, registry: CollectorRegistry, cluster: str
    ) -> None:
        """Read both, and tell in a metric until when the certificate holds.

        Raises OSError (ssl.SSLError is one), and ValueError for what is no certificate.
        """
        self._certificate, self._key = certificate, key
        meaning = "Until when the certificate of the webhook's server holds, as a Unix time."
        self._gauge = Gauge(SERIES, meaning, ["cluster"], registry=registry).labels(cluster)
        self._read_at: object = None
        self.read_if_newer()

    def read_if_newer(self) -> bool:
        """Read both again where a file has changed; whether so. Raises as the constructor.

        What was read before goes on to count where they do not belong together, or not yet.
        """
        files = self._certificate.stat(), self._key.stat()
        at = [(each.st_ino, each.st_mtime_ns) for each in files]
        if at == self._read_at:
            return False
        self._read_at = at
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.minimum_version = ssl.TLSVersion.TLSv1_2
        tls.load_cert_chain(self._certificate, self._key)
        leaf = x509.load_pem_x509_certificate(self._certificate.read_bytes())
        self.tls, self.ends_at = tls, leaf.not_valid_after_utc
        self._gauge.set(self.ends_at.timestamp())
        return True
