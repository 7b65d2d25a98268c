"""One connection of the webhook's server: TLS, requests with deadlines, answers.

A client that is too slow is disconnected, and has only its own thread in the meantime. What it
asks for is never logged: the path is a secret.
"""

import io
import re
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from http.server import BaseHTTPRequestHandler
from socketserver import BaseServer
from typing import Any, Final, Protocol, cast

from evenkeel.handlers import Handler
from evenkeel.handlers.requests import LARGEST, RefusedError
from evenkeel_runtime.serve.slots import Client

REQUEST: Final = 5.0
"""Seconds for a handshake, and for one request from its first byte to its last."""

IDLE: Final = 120.0
"""Seconds that a connection may wait for its first request, or after a good one. The API server
closes idle ones after 90 s: the one that closes first does not lose a request. In a crowd it opens
some that it uses only later."""

HEAD: Final = 16_384
"""Bytes of a request's line and headers. An API server's have some 500, and each of the threads
holds as many as may come: with more than a token is not even looked for."""

HEALTH: Final = "/healthz"

_DIGITS: Final = re.compile("[0-9]+")

type Note = Callable[[str, str, int, float], None]
"""Told of each answer: the client's address, the method, the status, the seconds it took."""


class Server(Protocol):
    """What a connection asks of its server, any number of them at once.

    ``handler`` answers reviews, and ``authenticate`` raises RefusedError for paths of which not
    even the body is read. ``is_ending``: no connection is to go on after its request.
    """

    tls: ssl.SSLContext
    handler: Handler
    authenticate: Callable[[str], object]
    note: Note
    is_ending: bool

    def working(self) -> AbstractContextManager[None]:
        """Count a request as under way."""

    def holding(self, size: int) -> AbstractContextManager[None]:
        """Hold a body of so many bytes. Raises RefusedError where there is no room for it."""

    def prove(self, client: Client) -> None:
        """A connection has brought a request with the token, and keeps its thread."""


class _Reader(io.RawIOBase):
    """A socket's bytes until a deadline, however slowly they drip."""

    def __init__(self, connection: ssl.SSLSocket) -> None:
        self._connection = connection
        self.until = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the client takes too long")
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class Connection(BaseHTTPRequestHandler):
    """Reads requests, hands them to the handler as an HTTP API would, and writes its answers."""

    protocol_version = "HTTP/1.1"

    def __init__(self, client: Client, server: Server) -> None:
        """Serve it to its end."""
        self._client = client
        self._server = server
        # The library keeps the server, and asks nothing of it.
        super().__init__(client.socket, (client.address, 0), cast("BaseServer", server))

    def setup(self) -> None:
        """Shake hands, in this thread."""
        tls = self._server.tls.wrap_socket(
            self._client.socket, server_side=True, do_handshake_on_connect=False
        )
        self._client.socket = tls
        tls.settimeout(REQUEST)
        tls.do_handshake()
        tls.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request = tls
        super().setup()
        self._has_shown_the_token = False
        self._reader = _Reader(tls)
        self._buffered = io.BufferedReader(self._reader)

    def handle(self) -> None:
        """Serve requests until one is no good, or no more come."""
        self.close_connection = False
        try:
            while not self.close_connection and self._comes():
                if self._has_head():
                    self.handle_one_request()
        except (OSError, ValueError):
            self.close_connection = True

    def finish(self) -> None:
        """Send what is left, whatever the client has done to the connection."""
        with suppress(OSError):
            super().finish()

    def _comes(self) -> bool:
        """Wait for the first byte of a request; from there on it has its time."""
        self._reader.until = time.monotonic() + IDLE
        found = bool(self._buffered.peek(1))
        self._reader.until = time.monotonic() + REQUEST
        return found

    def _has_head(self) -> bool:
        """Read a head, which the library then parses; one that is too long is refused."""
        head, line = b"", b" "
        while line.strip(b"\r\n"):
            head += (line := self._buffered.readline(HEAD + 1 - len(head)))
            if len(head) > HEAD:
                self.send_error(431)
                return False
        self.rfile = io.BytesIO(head)
        return True

    def do_GET(self) -> None:
        """Answer one request: a probe, a review, or what is the handler's to refuse."""
        began = time.monotonic()
        with self._server.working():
            status = self._serve()
        self._server.note(self._client.address, self.command, status, time.monotonic() - began)

    do_POST = do_GET  # noqa: N815 - the library's name

    def _serve(self) -> int:
        if (self.command, self.path) == ("GET", HEALTH):
            return self._write({"statusCode": 200, "body": "ok\n"})
        path = self.path.partition("?")[0]
        try:
            self._server.authenticate(path)
            length = self._length()
            with self._server.holding(length):
                return self._answer(path, length)
        except RefusedError as error:
            return self._refuse(error.status, str(error))

    def _answer(self, path: str, length: int) -> int:
        """Read a body of this length, and write the handler's answer."""
        body = self._buffered.read(length)
        self.request.settimeout(REQUEST)
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return self._refuse(400, "the body is not UTF-8")
        event = {
            "version": "2.0",
            "rawPath": path,
            "headers": {key.lower(): value for key, value in self.headers.items()},
            "requestContext": {"http": {"method": self.command}},
            "body": text,
            "isBase64Encoded": False,
        }
        self._server.prove(self._client)
        self._has_shown_the_token = True
        return self._write(self._server.handler(event, None))

    def _length(self) -> int:
        """How many bytes the body has. Raises RefusedError unless that is told once, in digits.

        A length of more digits than the largest one is too long, also where zeros lead it.
        """
        told = self.headers.get_all("Content-Length", [] if self.command == "POST" else ["0"])
        if len(told) != 1 or not _DIGITS.fullmatch(told[0]) or "Transfer-Encoding" in self.headers:
            raise RefusedError(411, "Content-Length is missing")
        length = int(told[0]) if len(told[0]) <= len(str(LARGEST)) else LARGEST + 1
        if length > LARGEST:
            raise RefusedError(413, "a review has 3 MB at most")
        return length

    def _refuse(self, status: int, message: str) -> int:
        return self._write({"statusCode": status, "body": f"{message}\n"})

    def _write(self, answer: dict[str, Any]) -> int:
        """Write an answer. The connection goes on after a good one to who has shown the token."""
        status: int = answer["statusCode"]
        body = answer["body"].encode()
        self.send_response_only(status)
        for name, value in answer.get("headers", {"content-type": "text/plain"}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if status != 200 or self._server.is_ending or not self._has_shown_the_token:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        return status

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the library itself refuses: without repeating what was asked."""
        del message, explain
        self.close_connection = True
        self.request_version = self.protocol_version
        status = 405 if code == 501 else int(code)
        self._refuse(status, "this is no request that is served here")
        self._server.note(self._client.address, "-", status, 0.0)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nothing: the library's lines hold the path."""
