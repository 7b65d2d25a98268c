"""A port of its own for probes and Prometheus: GET /healthz and GET /metrics.

One thread answers all: a silent client costs a socket, and holds up nobody.
"""

import asyncio
import socket
from collections.abc import Callable
from threading import Thread
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

MOST: Final = 128
"""Connections at a time. For one more the oldest is closed: whoever sends a request has its answer
long before so many others have come."""

AT_ONCE: Final = MOST // 4
"""Connections that are accepted before requests are looked at again."""

QUEUED: Final = 4096
"""Connections that wait to be accepted, as far as the kernel allows."""

PATIENCE: Final = 10.0
"""Seconds that a client has to send its request and to take the answer."""

APART: Final = 0.05
"""Seconds between two answers with metrics. To write them takes some milliseconds, and a client may
ask without end. Of ``MOST`` clients that ask at once the last is answered in time."""

METRICS: Final = "/metrics"

type Answer = tuple[str, str, bytes]
"""Status, content type and body."""


def serve(registry: CollectorRegistry, address: str, port: int, is_well: Callable[[], bool]) -> int:
    """Answer GET /metrics and GET /healthz until the process ends; the port that is taken.

    /healthz is 503 when ``is_well`` says so: a probe then has the process started anew. Port 0 is
    a free one. Raises OSError where the port cannot be had.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.create_server((address, port), family=family)
    taken: int = listening.getsockname()[1]

    def answer(target: str) -> Answer:
        if target == METRICS:
            return "200 OK", CONTENT_TYPE_LATEST, generate_latest(registry)
        if target != "/healthz":
            return "404 Not Found", "text/plain", b"there is nothing here\n"
        if is_well():
            return "200 OK", "text/plain", b"ok\n"
        return "503 Service Unavailable", "text/plain", b"a part of it has ended\n"

    run = _Clients(answer).run
    Thread(target=lambda: asyncio.run(run(listening)), name="metrics", daemon=True).start()
    return taken


class _Clients:
    """The connections to one port."""

    def __init__(self, answer: Callable[[str], Answer]) -> None:
        """``answer`` gives the answer to a GET of this path."""
        self._answer = answer
        self._open: dict[asyncio.StreamWriter, None] = {}
        self._turn = 0.0

    async def run(self, listening: socket.socket) -> None:
        """Serve without end."""
        server = await asyncio.start_server(self._serve, sock=listening, backlog=AT_ONCE)
        listening.listen(QUEUED)  # asyncio has one number for both
        await server.serve_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close the connection."""
        self._open[writer] = None
        if len(self._open) > MOST:
            next(iter(self._open)).transport.abort()
        try:
            async with asyncio.timeout(PATIENCE):
                method, target = _asked(await reader.readuntil(b"\r\n\r\n"))
                if target == METRICS:
                    await self._its_turn()
                writer.write(self._answered(method, target))
                writer.close()
                await writer.wait_closed()
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # too slow, gone, or no HTTP
        finally:
            del self._open[writer]
            writer.transport.abort()

    async def _its_turn(self) -> None:
        """Wait until metrics may be written again."""
        now = asyncio.get_running_loop().time()
        self._turn = max(now, self._turn + APART)
        await asyncio.sleep(self._turn - now)

    def _answered(self, method: str, target: str) -> bytes:
        """The answer to a request, as HTTP/1.1 has it."""
        status, content_type, body = self._answer(target)
        if method != "GET":
            status, content_type, body = "405 Method Not Allowed", "text/plain", b"only GET\n"
        lines = (
            f"HTTP/1.1 {status}",
            f"Content-Type: {content_type}",
            f"Content-Length: {len(body)}",
            "Connection: close",
        )
        return "\r\n".join((*lines, "", "")).encode() + body


def _asked(head: bytes) -> tuple[str, str]:
    """The method and the path of a request."""
    method, _, rest = head.decode("latin-1").partition(" ")
    return method, rest.partition(" ")[0].partition("?")[0]
