"""Stands between Evenkeel and the API server, and lets requests go wrong."""

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import urllib3
import yaml

from tests.kit.api_server import Handler, ScriptedServer, Step, answer, refusal, reset, serving
from tests.kit.control_plane import ControlPlane

THROTTLED: bytes = b"Too many requests, please try again later."
"""In these words the API server's priorities and fairness refuse.

https://github.com/kubernetes/kubernetes/blob/v1.36.3/staging/src/k8s.io/apiserver/pkg/server/filters/priority-and-fairness.go
"""
REFUSALS: dict[str, Step] = {
    "429": answer(429, THROTTLED, Retry_After="1"),
    "500": refusal(500, "InternalError"),
    "503": refusal(503, "ServiceUnavailable"),
    "reset before it was carried out": reset,
}
CONFLICT: dict[str, Step] = {"409": refusal(409, "Conflict")}
"""Kubernetes answers it to writes alone, and where another came first: here once to each target."""
RESET_AFTER = "reset after it was carried out"
BROKEN_OFF = "broken off within a chunk"
EXPIRED: dict[str, Step] = {"410": refusal(410, "Expired")}
"""Kubernetes answers it to watches from a version that it has no more."""
CONNECTIONS = 64
LONGEST = 600.0
OF_THE_CONNECTION = frozenset({"connection", "content-length", "host", "transfer-encoding"})


class Between:
    """The ``script`` of a server: ``share`` of all requests go wrong, all ways alike often.

    So do ``of_watches`` of the watches in the two ways that watches have.
    """

    def __init__(
        self,
        upstream: urllib3.PoolManager,
        url: str,
        share: float = 0.0,
        of_watches: float = 0.0,
    ) -> None:
        self.wrong = Counter[str]()
        self._upstream = upstream
        self._url = url
        self._share = share
        self._of_watches = of_watches
        self._random = Random(1)  # noqa: S311 - no secret
        self._known = set[socket.socket]()
        self._forgotten = set[socket.socket]()
        self._conflicted = set[str]()
        self._is_away = False

    def close(self) -> None:
        """Close all connections that there are."""
        for each in list(self._known):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def forget(self) -> None:
        """Say nothing any more over the connections that there are, which stay open."""
        self._forgotten |= self._known

    def go(self) -> None:
        """From now on every connection breaks, and those that are open."""
        self._is_away = True
        self.close()

    def come_back(self) -> None:
        """Requests are passed on again."""
        self._is_away = False

    def __call__(self, handler: Handler) -> None:
        """Answer a request, or do not."""
        self._known.add(handler.connection)
        ways = self._ways(handler)
        if self._is_away:
            handler.reset()
        elif handler.connection in self._forgotten:
            _say_nothing(handler)
        elif ways:
            way = self._random.choice([*ways])
            self.wrong[way] += 1
            if way in CONFLICT:
                self._conflicted.add(handler.path)
            ways[way](handler)
        else:
            self._pass_on(handler)

    def _ways(self, handler: Handler) -> dict[str, Step]:
        """How this request goes wrong: one of these; none if it does not."""
        if "watch=" in handler.path and self._random.random() < self._of_watches:
            return {**EXPIRED, BROKEN_OFF: self._break_off}
        if self._random.random() >= self._share:
            return {}
        has_none = handler.command == "GET" or handler.path in self._conflicted
        of_writes = {} if has_none else CONFLICT
        late = {RESET_AFTER: self._carry_out_and_reset, BROKEN_OFF: self._break_off}
        return {**REFUSALS, **of_writes, **late}

    def _carry_out_and_reset(self, handler: Handler) -> None:
        self._ask(handler).close()
        handler.reset()

    def _break_off(self, handler: Handler) -> None:
        """Pass the first piece on, and half of the next, which a short answer does not have."""
        with closing(self._answered(handler)) as answer:
            handler.piece(answer.read1(decode_content=False))
            piece = answer.read1(decode_content=False)
            handler.wfile.write(f"{len(piece) + 50:x}\r\n".encode() + piece[: len(piece) // 2])
            handler.close_connection = True

    def _pass_on(self, handler: Handler) -> None:
        with closing(self._answered(handler)) as answer:
            while piece := answer.read1(decode_content=False):
                if handler.connection in self._forgotten:
                    _say_nothing(handler)
                    return
                handler.piece(piece)
            handler.wfile.write(b"0\r\n\r\n")

    def _answered(self, handler: Handler) -> Any:
        """The API server's answer, of which the head was passed on."""
        answer = self._ask(handler)
        handler.send_response_only(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in OF_THE_CONNECTION:
                handler.send_header(name, value)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        return answer

    def _ask(self, handler: Handler) -> Any:
        seen = handler.seen
        kept = {n: v for n, v in seen.headers.items() if n.lower() not in OF_THE_CONNECTION}
        return self._upstream.request(
            seen.method,
            f"{self._url}{handler.path}",
            body=seen.body or None,
            headers=kept,
            timeout=urllib3.Timeout(connect=15, read=None),
            retries=False,
            preload_content=False,
        )


def _say_nothing(handler: Handler) -> None:
    """The connection stays open for as long as the server lives."""
    handler.server.over.wait(LONGEST)
    handler.close_connection = True


@contextmanager
def between(
    control_plane: ControlPlane, folder: Path, share: float = 0.0, of_watches: float = 0.0
) -> Iterator[tuple[Between, Path]]:
    """One before the API server, and a kubeconfig that leads through it, in this folder."""
    of_it = control_plane._http.connection_pool_kw | {"maxsize": CONNECTIONS}
    with urllib3.PoolManager(**of_it) as upstream, serving() as server:
        made = Between(upstream, control_plane._server, share, of_watches)
        server.script(always=made)
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(through(control_plane, server)))
        yield made, path


def through(control_plane: ControlPlane, server: ScriptedServer) -> dict[str, Any]:
    """The kubeconfig of somebody whom the server knows: it has the credentials."""
    config: dict[str, Any] = yaml.safe_load(control_plane.kubeconfig.read_text())
    config["clusters"][0]["cluster"] = {"server": server.url}
    config["users"][0]["user"] = {}
    return config
