"""An observer that knows nothing of Evenkeel writes down what happens to pods and nodes.

    python -m bench.lab.observer KUBECONFIG NAMESPACE FILE

Follows pods and nodes through watches of its own and appends one JSON array per change to FILE:
when it was seen (seconds since 1970), and what figures need. Prints `ready` once both watches
stand, and ends with its standard input. Changes that come late because a watch broke show as late
lines, never as changes that it did not see.
"""

import sys
import time
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, BinaryIO

import msgspec
import urllib3

from bench.lab.direct import connect
from bench.lab.sights import Sight
from evenkeel_sandbox.observer.following import follow, is_released
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    at,
    is_leaving,
    is_ready,
    key_of,
    labels_of,
    node_of,
    uid_of,
)


class _Observer:
    def __init__(self, kubeconfig: Path, namespace: str, stream: BinaryIO) -> None:
        self._server, self._pool = connect(kubeconfig, 4)
        self._paths = {"pod": f"api/v1/namespaces/{namespace}/pods", "node": "api/v1/nodes"}
        self._stream = stream
        self._lock = Lock()
        self._ending = Event()

    def run(self) -> None:
        for kind, path in self._paths.items():
            listing = msgspec.json.decode(self._get(path).data)
            for item in listing["items"]:
                self._write(kind, item, gone=False)
            version = listing["metadata"]["resourceVersion"]
            Thread(target=self._follow, args=(kind, path, version), daemon=True).start()
        print("ready", flush=True)
        sys.stdin.read()
        with self._lock:
            self._ending.set()

    def _get(self, path: str, **options: Any) -> urllib3.BaseHTTPResponse:
        response = self._pool.request("GET", f"{self._server}/{path}", retries=False, **options)
        assert response.status == 200, response.data
        return response

    def _watch(self, path: str) -> urllib3.BaseHTTPResponse:
        return self._get(path, preload_content=False, timeout=None)

    def _follow(self, kind: str, path: str, version: str) -> None:
        for change in follow(self._watch, path, version, self._ending):
            self._write(kind, change.object, gone=change.gone)

    def _write(self, kind: str, item: Obj, *, gone: bool) -> None:
        sight = Sight(
            at=time.time(),  # noqa: TID251 - an observer's own clock
            kind=kind,
            uid=uid_of(item),
            name=key_of(item)[1],
            app=labels_of(item).get("app", ""),
            node=node_of(item),
            ready=is_ready(item),
            leaving=is_leaving(item),
            released=is_released(item),
            cordoned=at(item, "spec", "unschedulable", default=False),
            gone=gone,
        )
        with self._lock:
            if not self._ending.is_set():
                self._stream.write(msgspec.json.encode(sight) + b"\n")


if __name__ == "__main__":
    with Path(sys.argv[3]).open("ab", buffering=0) as file:
        _Observer(Path(sys.argv[1]), sys.argv[2], file).run()
