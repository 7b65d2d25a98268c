"""Somebody who knows nothing of Evenkeel writes down what happens to pods and nodes.

    python -m bench.storm.observer KUBECONFIG NAMESPACE FILE

Follows pods and nodes through watches of its own and appends one JSON array per change to FILE:
when it was seen (seconds since 1970), the revision, and what figures need. Prints `ready` once
both watches stand, and ends with its standard input. A watch that breaks is taken up again where
it was; the line says when the API server sent it, so a gap would show as late lines, never as a
change that nobody saw.
"""

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock, Thread
from typing import Any, BinaryIO

import msgspec
import urllib3
import yaml

from bench.storm.figures import Sight


class _Condition(msgspec.Struct):
    type: str
    status: str


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str = ""
    name: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}
    deletion_timestamp: str | None = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""
    unschedulable: bool = False


class _Status(msgspec.Struct):
    conditions: list[_Condition] = []


class _Object(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


class _Event(msgspec.Struct):
    type: str
    object: _Object


class _List(msgspec.Struct):
    metadata: _Metadata
    items: list[_Object]


class _Observer:
    def __init__(self, kubeconfig: Path, namespace: str, stream: BinaryIO) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        self._server = config["clusters"][0]["cluster"]["server"]
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._pool = urllib3.PoolManager(
            maxsize=4,
            ca_certs=cluster["certificate-authority"],
            cert_file=user["client-certificate"],
            key_file=user["client-key"],
        )
        self._paths = {"pod": f"api/v1/namespaces/{namespace}/pods", "node": "api/v1/nodes"}
        self._stream = stream
        self._lock = Lock()
        self._has_ended = False

    def run(self) -> None:
        for kind, path in self._paths.items():
            listing = msgspec.json.decode(self._get(path).data, type=_List)
            for item in listing.items:
                self._write(kind, item, gone=False)
            version = listing.metadata.resource_version
            Thread(target=self._follow, args=(kind, path, version), daemon=True).start()
        print("ready", flush=True)
        sys.stdin.read()
        with self._lock:
            self._has_ended = True

    def _get(self, path: str, **options: Any) -> urllib3.BaseHTTPResponse:
        response = self._pool.request("GET", f"{self._server}/{path}", retries=False, **options)
        assert response.status == 200, response.data
        return response

    def _follow(self, kind: str, path: str, version: str) -> None:
        decoder = msgspec.json.Decoder(_Event)
        while True:
            query = f"watch=1&allowWatchBookmarks=true&resourceVersion={version}"
            with contextlib.suppress(urllib3.exceptions.HTTPError, AssertionError):
                response = self._get(f"{path}?{query}", preload_content=False, timeout=None)
                for line in _lines(response):
                    event = decoder.decode(line)
                    assert event.type != "ERROR", line
                    version = event.object.metadata.resource_version
                    if event.type != "BOOKMARK":
                        self._write(kind, event.object, gone=event.type == "DELETED")
            time.sleep(0.1)  # noqa: TID251 - before the next try

    def _write(self, kind: str, item: _Object, *, gone: bool) -> None:
        ready = any(c.type == "Ready" and c.status == "True" for c in item.status.conditions)
        sight = Sight(
            at=time.time(),  # noqa: TID251 - an observer's own clock
            kind=kind,
            uid=item.metadata.uid,
            name=item.metadata.name,
            app=item.metadata.labels.get("app", ""),
            node=item.spec.node_name,
            ready=ready,
            leaving=item.metadata.deletion_timestamp is not None,
            released="evenkeel.dev/released-from" in item.metadata.labels,
            cordoned=item.spec.unschedulable,
            gone=gone,
        )
        with self._lock:
            if not self._has_ended:
                self._stream.write(msgspec.json.encode(sight) + b"\n")


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for chunk in response.stream(65_536):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


if __name__ == "__main__":
    with Path(sys.argv[3]).open("ab", buffering=0) as file:
        _Observer(Path(sys.argv[1]), sys.argv[2], file).run()
