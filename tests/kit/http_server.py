"""A small HTTP server over real sockets: a function from a request to an answer."""

import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived. ``target`` is the path with the query; see also ``path``.

    ``connection`` tells connections apart.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def path(self) -> str:
        """Without the query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of the query."""
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered; its length is added where it is not among the headers."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


class QuietHandler(BaseHTTPRequestHandler):
    """One connection; HTTP/1.1, so that it may serve several requests."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else head and body come 40 ms apart

    def received(self) -> Request:
        """The request with its body, which it reads."""
        return Request(
            self.command,
            self.path,
            dict(self.headers),
            self._body(),
            connection=self.client_address[1],
        )

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Keep quiet."""


class QuietServer(ThreadingHTTPServer):
    """Listens on a port of its own and serves while it is a context, over TLS if that is given."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler: type[QuietHandler], context: ssl.SSLContext | None = None) -> None:
        super().__init__((HOST, 0), handler)
        self._thread = Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._scheme = "https" if context else "http"
        if context:
            # Shaking hands is for the connection's own thread: a client may take its time.
            self.socket = context.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{self._scheme}://{HOST}:{self.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join(5)
        self.server_close()


class HttpServer(QuietServer):
    """Answers requests with what ``answer`` makes of them; hangs up at its ConnectionError."""

    def __init__(
        self, answer: Callable[[Request], Answer], context: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(_Handler, context)
        self.answer = answer


class _Handler(QuietHandler):
    server: HttpServer

    def _serve(self) -> None:
        try:
            answer = self.server.answer(self.received())
        except ConnectionError:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if "Content-Length" not in answer.headers and answer.status != 204:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    do_DELETE = do_GET = do_HEAD = do_PATCH = do_POST = do_PUT = _serve  # noqa: N815 - the library's names
