"""The webhook's server with a handler of the test's, and a client that trusts it."""

import http.client
import socket
import ssl
import threading
from functools import partial
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from evenkeel.handlers.requests import authenticate
from evenkeel_runtime.serve.certificate import Certificate
from evenkeel_runtime.serve.server import WebhookServer
from tests.kit.certificates import Authority

PATH = "/v1/secret-path"


class Served:
    """A server that answers with what it was asked, and what it noted."""

    def __init__(self, folder: Path) -> None:
        authority = Authority()
        files = authority.issue("server", "127.0.0.1").write(folder, "server")
        self.client = ssl.create_default_context(cadata=authority.certificate)
        self.notes: list[tuple[str, str, int, float]] = []
        self.has_noted = threading.Condition()
        self.events: list[dict[str, Any]] = []
        self.has_begun = threading.Event()
        self.wait = threading.Event()
        self.wait.set()
        self.server = WebhookServer(
            ("127.0.0.1", 0),
            Certificate(*files, CollectorRegistry(), "prod").tls,
            self.handle,
            partial(authenticate, tokens=(PATH.removeprefix("/v1/"),)),
            self.note,
        )
        self.address = ("127.0.0.1", self.server.server_address[1])
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def handle(self, event: dict[str, Any], _context: object) -> dict[str, Any]:
        self.events.append(event)
        self.has_begun.set()
        self.wait.wait(20)
        return {"statusCode": 200, "body": "answered"}

    def note(self, *facts: Any) -> None:
        with self.has_noted:
            self.notes.append(facts)
            self.has_noted.notify()

    def noted(self, number: int) -> list[tuple[str, str, int, float]]:
        """What was noted, once it is so much: an answer is noted when it is sent already."""
        with self.has_noted:
            self.has_noted.wait_for(lambda: len(self.notes) >= number, 20)
            return list(self.notes)

    def connect(self, source: str = "127.0.0.1") -> http.client.HTTPSConnection:
        """A connection from this address of the machine's, to be made when it is used."""
        return http.client.HTTPSConnection(
            *self.address, context=self.client, timeout=20, source_address=(source, 0)
        )

    def ask(
        self,
        method: str = "POST",
        path: str = PATH,
        body: str | None = "{}",
        source: str = "127.0.0.1",
    ) -> tuple[int, str]:
        """Status and body of an answer, over a connection of its own."""
        made = self.connect(source)
        try:
            made.request(method, path, body, {"Content-Type": "application/json"})
            answer = made.getresponse()
            return answer.status, answer.read().decode()
        finally:
            made.close()

    def raw(self, sent: bytes) -> bytes:
        """What comes back for these bytes, until the server closes."""
        with (
            socket.create_connection(self.address, timeout=20) as plain,
            self.client.wrap_socket(plain, server_hostname="127.0.0.1") as secure,
        ):
            secure.sendall(sent)
            received = b""
            while part := secure.recv(65536):
                received += part
            return received
