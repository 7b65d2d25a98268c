"""A person who installs: a user with the rights that docs/install.md names, who comes by TLS.

The bucket that the commands make takes no other requests. ministack listens without TLS, and
believes what a server before it says of that.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import boto3
import urllib3

from tests.kit.certificates import Authority
from tests.stack.deployed.ministack import REGION, Ministack
from tests.stack.deployed.policies import policies

USER = "installer"
ADDRESS = "127.0.0.1"
LONGEST = 60.0
OF_A_CONNECTION = {"connection", "content-length", "expect", "transfer-encoding"}
"""Headers that are not handed on."""


@dataclass(frozen=True, slots=True)
class Installer:
    """``environment`` is what AWS's clients read: keys, region, address, and whom to trust.

    At ``plain`` the same is reached without TLS.
    """

    environment: Mapping[str, str]
    plain: str

    def client(self, service: str, url: str = "") -> Any:
        """A client of this user's."""
        return boto3.client(
            service,  # type: ignore[call-overload]  # whichever service
            region_name=REGION,
            endpoint_url=url or self.environment["AWS_ENDPOINT_URL"],
            verify=self.environment["AWS_CA_BUNDLE"],
            aws_access_key_id=self.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.environment["AWS_SECRET_ACCESS_KEY"],
        )


@contextmanager
def installing(ministack: Ministack, folder: Path) -> Iterator[Installer]:
    """Such a user, for as long as the context."""
    iam = ministack.client("iam")
    iam.create_user(UserName=USER)
    rights, _ = policies()
    iam.put_user_policy(UserName=USER, PolicyName="x", PolicyDocument=json.dumps(rights))
    key = iam.create_access_key(UserName=USER)["AccessKey"]
    authority = Authority("aws")
    trusted = folder / "authority.crt"
    trusted.write_text(authority.certificate)
    with _Front(ministack.url) as front:
        context = authority.server_context(folder, ADDRESS)
        front.socket = context.wrap_socket(
            front.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = Thread(target=front.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield Installer(
                {
                    "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
                    "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
                    "AWS_REGION": REGION,
                    "AWS_ENDPOINT_URL": f"https://{ADDRESS}:{front.server_port}",
                    "AWS_CA_BUNDLE": str(trusted),
                },
                ministack.url,
            )
        finally:
            front.shutdown()
            thread.join(5)


class _Front(ThreadingHTTPServer):
    """Ends TLS before a server without."""

    daemon_threads = True

    def __init__(self, behind: str) -> None:
        super().__init__((ADDRESS, 0), _Handler)
        self.behind = behind
        self.pool = urllib3.PoolManager(maxsize=4)


class _Handler(BaseHTTPRequestHandler):
    server: _Front
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Hand a request on as it came, with its signature."""
        answer = self.server.pool.request(
            self.command,
            self.server.behind + self.path,
            body=self._body() or None,
            headers={**_handed_on(self.headers), "X-Forwarded-Proto": "https"},
            retries=False,
            redirect=False,
            timeout=LONGEST,
        )
        self.send_response(answer.status)
        for name, value in _handed_on(answer.headers).items():
            self.send_header(name, value)
        body = answer.data
        if answer.status != 204:
            size = answer.headers.get("Content-Length", "0") if self.command == "HEAD" else None
            self.send_header("Content-Length", size or str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    do_DELETE = do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815 - the library's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Keep quiet."""


def _handed_on(headers: Any) -> dict[str, str]:
    return {k: v for k, v in headers.items() if k.lower() not in OF_A_CONNECTION}
