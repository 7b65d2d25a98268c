"""A drainer of a hundred lines, without anything that Evenkeel has for clusters that differ.

    python -m bench.lab.prototype KUBECONFIG NAMESPACE < names of nodes, one a line

It cordons the nodes. Then it takes pods out of their ReplicaSets, so many that at most WINDOW
replacements wait to be made, and evicts as many of them as are Ready beyond what was Ready at the
beginning. All that are left go when LEAD has passed. It knows no budgets, no rollouts, no other
controllers, no crash, no Lease, and does not read again what a watch may have missed.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, zip_longest
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Final

import msgspec
import urllib3

from bench.lab.direct import connect
from evenkeel.model.names import RELEASED_FROM, TEMPLATE_HASH
from evenkeel_sandbox.observer.following import Change, follow
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    is_leaving,
    is_ready,
    key_of,
    labels_of,
    node_of,
    uid_of,
)

WINDOW: Final = 100
LEAD: Final = 85.0
AT_ONCE: Final = 32
TURN: Final = 0.1


class _Server:
    """The API server, by plain requests."""

    def __init__(self, kubeconfig: Path) -> None:
        self._url, self._pool = connect(kubeconfig, AT_ONCE + 1)

    def send(self, method: str, path: str, body: Obj | None = None) -> bytes:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        data = None if body is None else msgspec.json.encode(body)
        headers = {"Content-Type": kind}
        return self._pool.request(method, f"{self._url}/{path}", body=data, headers=headers).data

    def watch(self, path: str) -> urllib3.BaseHTTPResponse:
        return self._pool.request(
            "GET", f"{self._url}/{path}", preload_content=False, timeout=None, retries=False
        )


class _Drain:
    """One drain of some nodes."""

    def __init__(self, server: _Server, namespace: str, nodes: Collection[str]) -> None:
        self._server = server
        self._path = f"api/v1/namespaces/{namespace}/pods"
        self._nodes = nodes
        self._pods: dict[str, Obj] = {}
        self._changes = SimpleQueue[Change]()
        self._sent = set[tuple[str, str]]()
        self._writes = ThreadPoolExecutor(AT_ONCE)

    def run(self) -> None:
        began = time.monotonic()
        list(self._writes.map(self._cordon, self._nodes))
        listing = msgspec.json.decode(self._server.send("GET", self._path))
        self._pods = {uid_of(each): each for each in listing["items"]}
        self._wanted = {app: self._ready(pods) for app, pods in self._workloads().items()}
        Thread(
            target=self._follow, args=[listing["metadata"]["resourceVersion"]], daemon=True
        ).start()
        while any(node_of(pod) in self._nodes for pod in self._pods.values()):
            self._look()
            workloads = self._workloads()
            for app, pods in workloads.items():
                self._evict_replaced(app, pods)
            self._release(workloads)
            if time.monotonic() - began >= LEAD:
                self._evict(pod for pod in self._pods.values() if node_of(pod) in self._nodes)
        self._writes.shutdown()

    def _cordon(self, node: str) -> None:
        self._server.send("PATCH", f"api/v1/nodes/{node}", {"spec": {"unschedulable": True}})

    def _follow(self, version: str) -> None:
        for change in follow(self._server.watch, self._path, version, Event()):
            self._changes.put(change)

    def _look(self) -> None:
        """Take the changes of a turn."""
        until = time.monotonic() + TURN
        while (left := until - time.monotonic()) > 0:
            try:
                change = self._changes.get(timeout=left)
            except Empty:
                return
            if change.gone:
                self._pods.pop(uid_of(change.object), None)
            else:
                self._pods[uid_of(change.object)] = change.object

    def _workloads(self) -> dict[str, list[Obj]]:
        """The pods that stay for now, by workload."""
        found = defaultdict[str, list[Obj]](list)
        for uid, pod in self._pods.items():
            if not is_leaving(pod) and ("evict", uid) not in self._sent:
                found[labels_of(pod).get("app", "")].append(pod)
        return found

    def _ready(self, pods: list[Obj]) -> int:
        return sum(map(is_ready, pods))

    def _is_released(self, pod: Obj) -> bool:
        return ("release", uid_of(pod)) in self._sent or RELEASED_FROM in labels_of(pod)

    def _evict_replaced(self, app: str, pods: list[Obj]) -> None:
        surplus = max(0, self._ready(pods) - self._wanted.get(app, 0))
        self._evict(list(filter(self._is_released, pods))[:surplus])

    def _evict(self, pods: Collection[Obj] | Iterator[Obj]) -> None:
        for pod in pods:
            _, name = key_of(pod)
            meta = {"name": name}
            body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
            self._write("evict", pod, "POST", f"{self._path}/{name}/eviction", body)

    def _release(self, workloads: dict[str, list[Obj]]) -> None:
        """One pod of each workload in turn, as far as the window goes."""
        owned = {
            app: sum(not self._is_released(pod) for pod in pods) for app, pods in workloads.items()
        }
        missing = sum(max(0, wanted - owned.get(app, 0)) for app, wanted in self._wanted.items())
        going = [
            [pod for pod in pods if node_of(pod) in self._nodes and not self._is_released(pod)]
            for pods in workloads.values()
        ]
        in_turn = [pod for pod in chain.from_iterable(zip_longest(*going)) if pod is not None]
        for pod in in_turn[: max(0, WINDOW - missing)]:
            own = labels_of(pod)[TEMPLATE_HASH]
            metadata = {
                "labels": {TEMPLATE_HASH: None, RELEASED_FROM: own},
                "ownerReferences": None,
            }
            self._write(
                "release", pod, "PATCH", f"{self._path}/{key_of(pod)[1]}", {"metadata": metadata}
            )

    def _write(self, what: str, pod: Obj, method: str, path: str, body: Obj) -> None:
        """Send a write once."""
        if (what, uid_of(pod)) not in self._sent:
            self._sent.add((what, uid_of(pod)))
            self._writes.submit(self._server.send, method, path, body)


if __name__ == "__main__":
    _Drain(_Server(Path(sys.argv[1])), sys.argv[2], set(sys.stdin.read().split())).run()
