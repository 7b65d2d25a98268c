"""The API server, asked for what the port Cluster has no request for."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from evenkeel.adapters.kubernetes.failures import time_in, warnings_in
from evenkeel.adapters.kubernetes.objects import expected
from evenkeel.adapters.kubernetes.transport import Transport
from evenkeel.adapters.kubernetes.wire import Call
from evenkeel.model.names import FIELD_MANAGER

AT_ONCE: Final = 16
"""Questions at once: a person's look should not weigh more than a function's work."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its body, what webhooks had to say, and when the server gave it."""

    body: bytes
    warnings: Sequence[str]
    date: datetime | None


class ApiServer:
    """Reads, and questions that are asked by POST; nothing that is stored.

    Its methods raise ClusterError. All of them end within the transport's budget.
    """

    def __init__(self, transport: Transport) -> None:
        """Ask by this way."""
        self._transport = transport

    def read(self, target: str, what: str, *, accept: str = "application/json") -> Answer:
        """GET a path; ``what`` names it in errors."""
        return self._send(Call("GET", target, what, safe=True, accept=accept))

    def read_as[T](self, shape: type[T], target: str, what: str) -> T:
        """GET a path and decode what it answers."""
        return expected(shape, self.read(target, what).body, what)

    def try_out(self, target: str, body: Mapping[str, Any], what: str) -> Answer:
        """POST a dry run: admitted like any other request, and not stored."""
        query = f"?dryRun=All&fieldManager={FIELD_MANAGER}-doctor"
        return self._send(Call("POST", target + query, what, body=msgspec.json.encode(body)))

    def ask[T](self, target: str, bodies: Sequence[Mapping[str, Any]], shape: type[T]) -> list[T]:
        """POST questions that are no objects, such as reviews of access; several at once."""
        what = f"ask {target.rpartition('/')[2]}"

        def one(body: Mapping[str, Any]) -> T:
            call = Call("POST", target, what, body=msgspec.json.encode(body), safe=True)
            return expected(shape, self._send(call).body, what)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(one, bodies))

    def _send(self, call: Call) -> Answer:
        response = self._transport.respond(call)
        return Answer(
            response.data,
            warnings_in(response.headers.getlist("Warning")),
            time_in(response.headers.get("Date")),
        )
