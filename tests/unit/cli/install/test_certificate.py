"""The certificate of the Service: a client that trusts it alone gets through to that name."""

import socket
import ssl
from pathlib import Path
from threading import Thread

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel_cli.install import certificate, serving


def handshake(folder: Path, host: str) -> None:
    """Shake hands as a client that trusts the certificate and nothing else. Raises SSLError."""
    made = certificate.made(serving.HOST, SystemClock().now())
    (folder / "tls.crt").write_text(made.certificate)
    (folder / "tls.key").write_text(made.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    ours, theirs = socket.socketpair()

    def serve() -> None:
        try:
            context.wrap_socket(theirs, server_side=True).close()
        except OSError:
            theirs.close()

    server = Thread(target=serve, daemon=True)
    server.start()
    client = ssl.create_default_context(cadata=made.certificate)
    with ours, client.wrap_socket(ours, server_hostname=host) as channel:
        channel.do_handshake()
    server.join(5)


def test_it_is_for_the_service_and_trusted_by_itself(tmp_path: Path) -> None:
    handshake(tmp_path, serving.HOST)


def test_it_is_for_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(tmp_path, "elsewhere.svc")
