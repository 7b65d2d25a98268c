"""Kubelets, played: each pod has an address of its own, and a server that listens there.

The API server takes no pod IP of 127/8. So a pod's status says 10.1.x.y, and its server listens at
127.1.x.y.
"""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from bench.lab.traffic import urgent
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    annotations_of,
    at,
    is_leaving,
    stamp,
    uid_of,
)
from tests.kit.control_plane import ControlPlane

STARTING: Final = 3.0
"""Seconds from when a pod is on its node until its server listens, and it is Ready."""

TAKES: Final = 0.05
"""Seconds that a request is under way."""

PORT: Final = 8080
ON_SIGTERM: Final = "evenkeel.bench/on-sigterm"
"""The annotation that says what a pod's server does when it is told to end."""

EXITS: Final = "exits"
CLOSES: Final = "closes"
SERVES: Final = "serves"
SERVING_ON: Final = 5.0
"""Seconds that a server of the kind ``serves`` takes requests after SIGTERM."""

ANSWER: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
CONDITIONS: Final = ("Initialized", "ContainersReady", "Ready")
STRATEGIC: Final = "application/strategic-merge-patch+json"


def host_of(address: str) -> str:
    """Where the server listens of a pod whose status says this address."""
    return address.replace("10.", "127.", 1)


class App:
    """A server at an address of the loopback range.

    It takes no task for a request: on a busy machine the load would come late.
    """

    def __init__(self, host: str, on_sigterm: str) -> None:
        """It does not listen yet."""
        self._host = host
        self._on_sigterm = on_sigterm
        self._listener: socket.socket | None = None
        self._under_way: set[socket.socket] = set()

    def start(self) -> None:
        """Listen."""
        self._listener = socket.create_server((self._host, PORT), backlog=1024)
        self._listener.settimeout(0)
        asyncio.get_running_loop().add_reader(self._listener, self._accept, self._listener)

    async def terminate(self) -> None:
        """SIGTERM: it returns once the server has ended.

        One that exits drops what is under way; the others finish it.
        """
        if self._on_sigterm == EXITS:
            self.kill()
            return
        if self._on_sigterm == SERVES:
            await asyncio.sleep(SERVING_ON)
        self._close()
        while self._under_way:  # noqa: ASYNC110 - these have no tasks
            await asyncio.sleep(TAKES)

    def kill(self) -> None:
        """SIGKILL."""
        self._close()
        for connection in self._under_way:
            connection.close()
        self._under_way.clear()

    def _close(self) -> None:
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None

    def _accept(self, listener: socket.socket) -> None:
        with suppress(BlockingIOError):
            while True:
                connection, _ = listener.accept()
                connection.settimeout(0)
                self._under_way.add(connection)
                self._answer_later(connection)

    def _answer_later(self, connection: socket.socket) -> None:
        asyncio.get_running_loop().call_later(TAKES, self._answer, connection)

    def _answer(self, connection: socket.socket) -> None:
        if connection not in self._under_way:
            return
        try:
            connection.recv(4096)
            connection.sendall(ANSWER)
        except BlockingIOError:  # its request has not come yet
            self._answer_later(connection)
            return
        except OSError:
            pass
        self._under_way.remove(connection)
        connection.close()


class Kubelets:
    """The kubelets of all nodes."""

    def __init__(self, control_plane: ControlPlane) -> None:
        """No pod is known yet."""
        self._control_plane = control_plane
        self._asking = ThreadPoolExecutor(8, initializer=urgent.hurry)
        self._lives: dict[str, asyncio.Task[None]] = {}  # by uid
        self._told_to_go: dict[str, asyncio.Future[float]] = {}

    def see(self, pod: Obj, *, gone: bool) -> None:
        """A pod as it is now."""
        uid = uid_of(pod)
        if gone:
            if uid in self._lives:
                self._lives[uid].cancel()
        elif at(pod, "spec", "nodeName") and uid not in self._lives:
            self._told_to_go[uid] = asyncio.get_running_loop().create_future()
            address = f"10.1.{len(self._lives) // 250}.{len(self._lives) % 250 + 1}"
            self._lives[uid] = asyncio.create_task(self._live(pod, address))
        if is_leaving(pod) and uid in self._lives and not self._told_to_go[uid].done():
            self._told_to_go[uid].set_result(pod["metadata"]["deletionGracePeriodSeconds"])

    def check(self) -> None:
        """Raises what a kubelet failed with."""
        for life in self._lives.values():
            if life.done() and not life.cancelled():
                life.result()

    async def _live(self, pod: Obj, address: str) -> None:
        app = App(host_of(address), annotations_of(pod).get(ON_SIGTERM, EXITS))
        told_to_go = self._told_to_go[uid_of(pod)]
        try:
            await asyncio.wait([told_to_go], timeout=STARTING)
            if not told_to_go.done():
                app.start()
                await self._ask("PATCH", pod, "/status", _running(pod, address), STRATEGIC)
                grace = await told_to_go
                with suppress(TimeoutError):
                    await asyncio.wait_for(_end(pod, app), grace)
            app.kill()
            same = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid_of(pod)}}
            await self._ask("DELETE", pod, "", same)
        finally:
            app.kill()

    async def _ask(self, method: str, pod: Obj, part: str, body: object, kind: str = "") -> None:
        """Ask for it; a pod that is gone, or another one of its name, is none of a kubelet's."""
        metadata = pod["metadata"]
        path = f"api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}{part}"
        ask = partial(self._control_plane.request, method, path, body, kind, fine=(404, 409))
        await asyncio.get_running_loop().run_in_executor(self._asking, ask)


async def _end(pod: Obj, app: App) -> None:
    """What a container has its grace period for: its preStop, then SIGTERM."""
    hook = at(pod, "spec", "containers")[0].get("lifecycle", {}).get("preStop", {})
    await asyncio.sleep(hook.get("sleep", {}).get("seconds", 0))
    await app.terminate()


def _running(pod: Obj, address: str) -> dict[str, Any]:
    now = stamp(datetime.now(UTC))  # noqa: TID251 - a kubelet's own clock
    true = {"status": "True", "lastTransitionTime": now}
    return {
        "metadata": {"uid": uid_of(pod)},
        "status": {
            "phase": "Running",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "startTime": now,
            "conditions": [{"type": each} | true for each in CONDITIONS],
        },
    }
