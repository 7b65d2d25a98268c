"""A threaded HTTPS server: one thread for each connection, and only so many of them."""

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import ThreadingHTTPServer
from threading import BoundedSemaphore, Condition
from typing import Any, Final

from evenkeel.handlers import Handler
from runtime.serve import connection
from runtime.serve.connection import Connection

MOST: Final = 256
"""Connections at a time, each with a thread. The others wait in the kernel's queue, in their order:
a connection that is refused lets its eviction pass. More threads answer later, each and all. One
that has brought nothing in REQUEST seconds is closed as soon as another waits.

An API server keeps 25 idle ones, and gives one that is free to the next of its requests: so none
that has brought a good request is closed, however many wait. A handshake takes longer than
a refusal.
"""

QUEUED: Final = 4096
"""Connections that wait to be taken, as far as the kernel allows."""

POLL: Final = 0.5
"""Seconds after which a server that has no thread left looks whether it is to end."""

ENDING: Final = 5.0
"""Seconds that the requests under way have in the end."""

type Note = Callable[[str, str, int, float], None]
"""Told of each answer: the client's address, the method, the status, the seconds it took."""


class WebhookServer(ThreadingHTTPServer):
    """Serves a handler. Handshakes and requests happen in the connections' own threads."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = QUEUED

    def __init__(
        self,
        address: tuple[str, int],
        tls: ssl.SSLContext,
        handler: Handler,
        authenticate: Callable[[str], object],
        note: Note,
    ) -> None:
        """Listen. Raises OSError where that is not possible.

        ``authenticate`` raises RefusedError for paths of which not even the body is read.
        """
        self.tls = tls
        self.handler = handler
        self.authenticate = authenticate
        self.note = note
        self.is_ending = False
        self._slots = BoundedSemaphore(MOST)
        self._idle = Condition()
        self._working = 0
        self._unproven: dict[socket.socket, float] = {}
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, Connection)

    @contextmanager
    def waiting(self, client: socket.socket) -> Iterator[None]:
        """Know of a connection that has brought no good request yet, and brings none now."""
        with self._idle:
            self._unproven[client] = time.monotonic()
        try:
            yield
        finally:
            with self._idle:
                self._unproven.pop(client, None)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count a request as under way."""
        with self._idle:
            self._working += 1
        try:
            yield
        finally:
            with self._idle:
                self._working -= 1
                self._idle.notify_all()

    def end(self) -> bool:
        """Take no more, and wait for what is under way; whether all of it was answered."""
        self.is_ending = True
        self.shutdown()
        self.server_close()
        with self._idle:
            return self._idle.wait_for(lambda: self._working == 0, ENDING)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection a thread, once there is one left."""
        while not self._has_slot():
            if self.is_ending:
                self.shutdown_request(request)
                return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._slots.release()
            raise

    def _has_slot(self) -> bool:
        """Whether a thread is left, or gets free soon."""
        if self._slots.acquire(blocking=False):
            return True
        self._close_oldest()
        return self._slots.acquire(timeout=POLL)

    def _close_oldest(self) -> None:
        """Close the connection that has waited longest and shown no token, if it did for long."""
        with self._idle:
            found = next(iter(self._unproven.items()), None)
            if found is None or time.monotonic() - found[1] < connection.REQUEST:
                return
            with suppress(OSError):
                found[0].shutdown(socket.SHUT_RDWR)  # its thread ends then
            del self._unproven[found[0]]

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, and give its place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A handshake that failed, a client that went away: no traceback."""
        del request
        self.note(str(client_address[0]), "-", 0, 0.0)


def tls_context(certificate: str, key: str) -> ssl.SSLContext:
    """What a server with this certificate needs. Raises OSError (ssl.SSLError is one)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context
