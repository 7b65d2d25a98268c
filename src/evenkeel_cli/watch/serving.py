"""The page on a port of this machine: what changes goes to whoever looks, as server-sent events.

It listens on the loopback address alone, and answers those alone who ask for that: a page elsewhere
whose name was made to lead here learns nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import Any, Final, override

ADDRESS: Final = "127.0.0.1"
HOSTS: Final = (ADDRESS, "localhost")

STILL_THERE: Final = 15.0
"""Seconds after which a silent stream says that it lives: who went away is noticed by that."""

PATIENCE: Final = 10.0
"""Seconds that a client has to send its request, and to take a piece of the answer."""


@dataclass(slots=True)
class Board:
    """The last event of the stream, for all who look. ``number`` counts them."""

    _event: bytes = b""
    _number: int = 0
    _ended: bool = False
    _changed: Condition = field(default_factory=Condition)

    def put(self, data: bytes) -> None:
        """Show this from now on, a JSON text on one line; nothing where it is shown already."""
        event = b"event: screen\ndata: " + data + b"\n\n"
        with self._changed:
            if event != self._event:
                self._event = event
                self._number += 1
                self._changed.notify_all()

    def end(self) -> None:
        """Nothing more comes."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def events(self) -> Iterator[bytes]:
        """What there is now, then what comes; a comment where nothing does for long."""
        known = 0
        while True:
            with self._changed:
                if self._number == known and not self._ended:
                    self._changed.wait(STILL_THERE)
                news = self._event if self._number != known else b""
                known, ended = self._number, self._ended
            yield news or b": still there\n\n"
            if ended:
                yield b"event: over\ndata: \n\n"
                return


@contextmanager
def served(page: str, board: Board, port: int) -> Iterator[str]:
    """Serve the page and the board's events; the address. Port 0 is a free one.

    Raises OSError where the port cannot be had.
    """

    class Handler(_Handler):
        content, shown = page.encode(), board

    server = _Server((ADDRESS, port), Handler)
    Thread(target=server.serve_forever, name="page", daemon=True).start()
    try:
        yield f"http://{ADDRESS}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nobody is told: a client went away."""


class _Handler(BaseHTTPRequestHandler):
    content: bytes
    shown: Board
    timeout = PATIENCE
    server_version, sys_version = "evenkeel", ""

    def do_GET(self) -> None:
        """Answer."""
        host, _, _ = self.headers.get("Host", "").rpartition(":")
        if host not in HOSTS:
            self.send_error(HTTPStatus.FORBIDDEN, "this is for 127.0.0.1 alone")
        elif self.path == "/":
            self._begin("text/html; charset=utf-8")
            self.wfile.write(self.content)
        elif self.path == "/events":
            self._begin("text/event-stream")
            for event in self.shown.events():
                self.wfile.write(event)
        else:
            self.send_error(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _begin(self, content_type: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", content_type)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Connection", "close")
        self.end_headers()

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""
