"""A threaded HTTPS server: one thread for each connection, and only so many of them."""

import resource
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Condition, Thread
from typing import Any, Final

from evenkeel.handlers import Handler
from evenkeel.handlers.requests import LARGEST, RefusedError
from evenkeel_runtime.serve.connection import Connection, Note
from evenkeel_runtime.serve.slots import MOST, Client, Slots

WAITING: Final = 4096
"""Connections that wait for a thread, as far as the process may have files; and those that wait to
be accepted, as far as the kernel allows. An API server opens one for each of many reviews."""

BODIES: Final = 2 * LARGEST
"""Bytes that all bodies have together which are read or answered at one time.

A body takes at most half of what is free: small ones find room beside any number of large ones.
Whoever may make pods may have the API server send as many of 3 MB as he likes, and each takes up to
twenty times as much while it is decoded.
"""

OTHER_FILES: Final = 256
"""Files that the process has besides the connections of its clients."""

POLL: Final = 0.1
"""Seconds after which the server looks whether it is to end, and whose time is over."""

ENDING: Final = 5.0
"""Seconds that the requests under way have in the end."""


class WebhookServer(HTTPServer):
    """Serves a handler. Handshakes and requests happen in the connections' own threads.

    The server's own thread accepts, and never waits for a client: so it sees the addresses of all.
    """

    request_queue_size = WAITING

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
        self._state = Condition()
        self._working = 0
        self._held = 0
        self._slots = Slots(max(1, _files(WAITING + MOST + OTHER_FILES) - MOST - OTHER_FILES))
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, BaseHTTPRequestHandler)  # a Connection is made in its thread

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count a request as under way."""
        with self._state:
            self._working += 1
        try:
            yield
        finally:
            with self._state:
                self._working -= 1
                self._state.notify_all()

    @contextmanager
    def holding(self, size: int) -> Iterator[None]:
        """Hold a body of so many bytes. Raises RefusedError where there is no room for it."""
        with self._state:
            if size > (BODIES - self._held) // 2:
                raise RefusedError(503, "there is no room for a review of this size now")
            self._held += size
        try:
            yield
        finally:
            with self._state:
                self._held -= size

    def prove(self, client: Client) -> None:
        """A connection has brought a request with the token, and keeps its thread."""
        with self._state:
            self._slots.prove(client)

    def serve_forever(self, poll_interval: float = POLL) -> None:
        """Accept connections until the end."""
        super().serve_forever(poll_interval)

    def end(self) -> bool:
        """Take no more, and wait for what is under way; whether all of it was answered."""
        self.is_ending = True
        self.shutdown()
        self.server_close()
        with self._state:
            waiting = self._slots.end()
        for client in waiting:
            self._close(client)
        with self._state:
            return self._state.wait_for(lambda: self._working == 0, ENDING)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Let a connection wait for its thread, which it mostly gets at once."""
        with self._state:
            turned_away = self._slots.wait(Client(client_address[0], request))
        if turned_away is not None:
            self._give_up(turned_away)
        self._start()

    def service_actions(self) -> None:
        """Close connections whose time is over. Their threads end then, and others begin."""
        with self._state:
            for client in self._slots.overdue(time.monotonic()):
                if _is_silent(client.socket):
                    with suppress(OSError):
                        client.socket.shutdown(socket.SHUT_RDWR)

    def _start(self) -> None:
        """Give threads to connections that wait, as far as there are any."""
        while not self.is_ending:
            with self._state:
                client = self._slots.next(time.monotonic())
            if client is None:
                return
            try:
                Thread(target=self._serve, args=(client,), daemon=True).start()
            except RuntimeError:  # the machine has no thread left
                self._give_up(client)

    def _serve(self, client: Client) -> None:
        """Serve a connection, and give its thread to another."""
        try:
            Connection(client, self)
        except Exception:  # noqa: BLE001 - a handshake that failed, a client that went away
            self._give_up(client)
        else:
            self._close(client)
        self._start()

    def _give_up(self, client: Client) -> None:
        """Close a connection that never got as far as a request."""
        self._close(client)
        self.note(client.address, "-", 0, 0.0)

    def _close(self, client: Client) -> None:
        """Forget a connection, and only then close it: the next one has the same file number."""
        with self._state:
            self._slots.leave(client)
        with suppress(OSError):
            client.socket.close()


def _is_silent(client: socket.socket) -> bool:
    """Whether a client has sent nothing that was not read yet: then it is not us who are late."""
    number = client.fileno()
    if number < 0:  # it is about to get TLS
        return False
    ready = select.poll()
    ready.register(number, select.POLLIN)
    return not ready.poll(0)


def _files(wanted: int) -> int:
    """How many files the process may have open, once it has asked for so many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most
