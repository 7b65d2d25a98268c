"""Stands between Evenkeel and the API server, and lets requests go wrong."""

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import urllib3
import yaml

from tests.kit.api_server import Handler, ScriptedServer, Step, refusal, reset, serving
from tests.kit.control_plane import ControlPlane

REFUSALS: dict[str, Step] = {
    "429": refusal(429, "TooManyRequests"),
    "500": refusal(500, "InternalError"),
    "503": refusal(503, "ServiceUnavailable"),
    "reset before it was carried out": reset,
}
CONFLICT: dict[str, Step] = {"409": refusal(409, "Conflict")}
"""Kubernetes answers it to writes alone."""
RESET_AFTER = "reset after it was carried out"
CONNECTIONS = 64
OF_THE_CONNECTION = frozenset({"connection", "content-length", "host", "transfer-encoding"})


class Between:
    """The ``script`` of a server: ``share`` of all requests go wrong, all ways alike often."""

    def __init__(self, upstream: urllib3.PoolManager, url: str, share: float = 0.0) -> None:
        self.wrong = Counter[str]()
        self._upstream = upstream
        self._url = url
        self._share = share
        self._random = Random(1)  # noqa: S311 - no secret
        self._open = set[socket.socket]()
        self._is_away = False

    def go(self) -> None:
        """From now on every connection breaks, and those that are open."""
        self._is_away = True
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def come_back(self) -> None:
        """Requests are passed on again."""
        self._is_away = False

    def __call__(self, handler: Handler) -> None:
        """Answer a request, or do not."""
        if self._is_away:
            handler.reset()
        elif self._random.random() < self._share:
            steps = REFUSALS | ({} if handler.command == "GET" else CONFLICT)
            way = self._random.choice([*steps, RESET_AFTER])
            self.wrong[way] += 1
            steps.get(way, self._carry_out_and_reset)(handler)
        else:
            self._open.add(handler.connection)
            try:
                self._pass_on(handler)
            finally:
                self._open.discard(handler.connection)

    def _carry_out_and_reset(self, handler: Handler) -> None:
        self._ask(handler).close()
        handler.reset()

    def _pass_on(self, handler: Handler) -> None:
        answer = self._ask(handler)
        try:
            handler.send_response_only(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in OF_THE_CONNECTION:
                    handler.send_header(name, value)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            while piece := answer.read1(decode_content=False):
                handler.piece(piece)
            handler.wfile.write(b"0\r\n\r\n")
        finally:
            answer.close()

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


@contextmanager
def between(
    control_plane: ControlPlane, folder: Path, share: float = 0.0
) -> Iterator[tuple[Between, Path]]:
    """One before the API server, and a kubeconfig that leads through it, in this folder."""
    of_it = control_plane._http.connection_pool_kw | {"maxsize": CONNECTIONS}
    with urllib3.PoolManager(**of_it) as upstream, serving() as server:
        made = Between(upstream, control_plane._server, share)
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
