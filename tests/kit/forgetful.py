"""A server that says nothing any more over connections that it has forgotten.

So it is after a freeze: the other side closed the connection, or a gateway on the way forgot it,
and who was frozen does not hear of it.
"""

import ssl
from collections.abc import Callable
from threading import Event
from typing import Self

from tests.kit.http_server import Answer, HttpServer, Request

HANGING = 30.0


class Forgetful(HttpServer):
    """Answers with what ``body`` makes of a request: bytes, or an Answer."""

    def __init__(
        self, body: Callable[[Request], bytes | Answer], context: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(self._reply, context)
        self._body = body
        self._known = set[int]()
        self._forgotten = set[int]()
        self._over = Event()
        self.seen: list[Request] = []

    @property
    def connections(self) -> int:
        """How many it was asked over."""
        return len(self._known)

    def forget(self) -> None:
        """All connections so far. Nobody is told."""
        self._forgotten |= self._known

    def __enter__(self) -> Self:
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        self._over.set()
        super().__exit__(*error)

    def _reply(self, request: Request) -> Answer:
        if request.connection in self._forgotten:
            self._over.wait(HANGING)
            raise ConnectionError
        self._known.add(request.connection)
        self.seen.append(request)
        made = self._body(request)
        return made if isinstance(made, Answer) else Answer(made)
