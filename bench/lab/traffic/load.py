"""A steady load: each request is sent at its time, also while those before it wait, or failed."""

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Final

import msgspec

from bench.lab.traffic.kubelets import PORT, host_of

RATE: Final = 25.0
PATIENCE: Final = 10.0
"""Seconds that an answer may take."""

REQUEST: Final = b"GET / HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n"
REFUSED: Final = "refused"
RESET: Final = "reset"
NO_TARGET: Final = "no target"
TOO_LONG: Final = "too long"
CAUSES: Final = (REFUSED, RESET, NO_TARGET, TOO_LONG)


class Failure(msgspec.Struct, frozen=True):
    """A request that failed, ``at`` so many seconds after the load began."""

    app: str
    balancer: str
    at: float
    cause: str
    host: str


class Stream:
    """The requests of one balancer to one app."""

    def __init__(self, app: str, balancer: str, target: Callable[[float], str | None]) -> None:
        """``target`` is asked for the address of each request, at its moment."""
        self.app = app
        self.balancer = balancer
        self.failures: list[Failure] = []
        self.latest = 0.0
        self.sent = 0
        self._target = target

    async def run(self, began: float, seconds: float) -> None:
        """Send them for so long; returns once each has its outcome."""
        async with asyncio.TaskGroup() as under_way:
            for number in range(round(seconds * RATE)):
                due = began + number / RATE
                await asyncio.sleep(due - time.monotonic())
                under_way.create_task(self._send(due - began, due))

    async def _send(self, at: float, due: float) -> None:
        now = time.monotonic()
        self.sent += 1
        self.latest = max(self.latest, now - due)
        address = self._target(now)
        host = "" if address is None else host_of(address)
        cause = await _cause(host) if host else NO_TARGET
        if cause:
            self.failures.append(Failure(self.app, self.balancer, round(at, 2), cause, host))


async def _cause(host: str) -> str:
    """Why a request to this host fails; empty if it does not."""
    try:
        async with asyncio.timeout(PATIENCE):
            answer = await _answer(host)
    except ConnectionRefusedError:
        return REFUSED
    except TimeoutError:
        return TOO_LONG
    except OSError:
        return RESET
    return "" if answer.endswith(b"ok") else RESET


async def _answer(host: str) -> bytes:
    loop = asyncio.get_running_loop()
    with socket.socket() as connection:
        connection.settimeout(0)
        await loop.sock_connect(connection, (host, PORT))
        await loop.sock_sendall(connection, REQUEST)
        return await loop.sock_recv(connection, 4096)
