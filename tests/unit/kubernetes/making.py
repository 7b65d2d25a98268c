"""Objects as the API server sends them, and clusters to ask for them."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from evenkeel.adapters.kubernetes.cluster import RestCluster
from evenkeel.adapters.kubernetes.endpoint import Endpoint, Limits
from evenkeel.adapters.kubernetes.tokens import TokenSource
from evenkeel.adapters.kubernetes.transport import SILENT, Transport
from evenkeel.errors import ClusterError
from evenkeel.model.metrics import Metric
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict, Get, List, Patch, Request, Selection
from evenkeel.ports import Journal
from tests.fixtures.api_server import HandClock, ScriptedServer, Step, answer

READ = Get(Pod, "web-1", "shop")
LIST = List(Selection(Pod, namespace="shop", labels="app=web"))
WRITE = Patch(Pod, "web-1", {"metadata": {"labels": {"a": "b"}}}, "shop")
EVICT = Evict("web-1", "shop", uid="u1")


def tokens_seen(server: ScriptedServer) -> list[str | None]:
    """What each request said of who asks."""
    return [seen.headers.get("Authorization") for seen in server.seen]


@dataclass
class Lines:
    """A Journal: the lines, and how much was counted of each metric."""

    told: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def counted(self, metric: Metric, value: float = 1) -> None:
        self.counts[metric] += int(value)

    def noted(self, message: str, **_: object) -> None:
        self.told.append(message)


PATIENT = Limits(read=timedelta(minutes=1))
"""No answer takes so long, however slow the machine is."""

HASTY = Limits(read=timedelta(seconds=1))
"""For servers that never answer. Where they do, it is within a second."""


class Connect(Protocol):
    """What the fixture ``connect`` offers."""

    def __call__(
        self,
        limits: Limits = ...,
        tokens: TokenSource | None = ...,
        path: str = ...,
        journal: Journal = ...,
    ) -> RestCluster: ...


@contextmanager
def connecting(server: ScriptedServer, clock: HandClock) -> Iterator[Connect]:
    with ExitStack() as clusters:

        def connect(
            limits: Limits = PATIENT,
            tokens: TokenSource | None = None,
            path: str = "",
            journal: Journal = SILENT,
        ) -> RestCluster:
            endpoint = Endpoint(server.url + path, tokens=tokens, remedy="let it in")
            jitter = random.Random(1)  # noqa: S311
            transport = Transport(endpoint, limits, clock=clock, jitter=jitter, journal=journal)
            return clusters.enter_context(RestCluster(transport))

        yield connect


def error_of(cluster: RestCluster, request: Request) -> ClusterError | None:
    """The error that one request meets."""
    (reply,) = cluster.perform([request])
    return reply.error


def pod(name: str = "web-1", version: int = 1, **metadata: Any) -> dict[str, Any]:
    """A pod, with parts that the model does not know."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
            "creationTimestamp": "2026-11-21T11:00:00Z",
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}],
            **metadata,
        },
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i", "tty": True}]},
        "status": {"phase": "Running", "hostIP": "10.0.0.1"},
    }


def page(*pods: dict[str, Any], version: int = 10, more: str = "") -> Step:
    """Answer one page of a list."""
    metadata = {"resourceVersion": str(version), "continue": more}
    return answer(200, {"kind": "PodList", "metadata": metadata, "items": list(pods)})


def event(kind: str, thing: dict[str, Any]) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"


def bookmark(version: int) -> bytes:
    """The line that says how far a watch has come."""
    metadata = {"resourceVersion": str(version), "creationTimestamp": None}
    return event("BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": metadata})
