"""Objects as the API server sends them, and clusters to ask for them."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from evenkeel.adapters.kubernetes.cluster import RestCluster
from evenkeel.adapters.kubernetes.endpoint import Endpoint, Limits, TokenSource
from evenkeel.adapters.kubernetes.transport import SILENT, Transport
from evenkeel.errors import ClusterError
from evenkeel.model.metrics import Metric
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Evict, Get, List, Patch, Relisted, Request, Selection
from evenkeel.ports import Arrival, Done, Journal, Reply, Session
from evenkeel_runtime.kubeconfig.tokens import Token
from tests.kit.api_server import (
    HandClock,
    Handler,
    ScriptedServer,
    Step,
    answer,
    refusal,
)

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


PODS = Selection(Pod, namespace="shop", labels="app=web")


SOON = timedelta(seconds=5)


def arrivals(session: Session, count: int) -> Sequence[Arrival]:
    """The next so many arrivals, or as many as come in five seconds."""
    found: list[Arrival] = []
    while len(found) < count:
        more = session.next(SOON)
        if not more:
            break
        found += more
    return found


def told(arrival: Arrival) -> tuple[Any, ...]:
    """An arrival in short."""
    match arrival:
        case Relisted(listing=listing):
            return ("listed", *[item.name for item in listing.items])
        case Change(object=thing, deleted=deleted):
            return ("left" if deleted else "changed", thing.name, thing.revision)
        case Reply(error=error):
            return ("refused", type(error))
        case Done():
            return ("done",)


DONE = answer(200, pod())


DENIED = refusal(401, "Unauthorized")


class Mint:
    """Makes the tokens t1, t2, ... and counts them."""

    def __init__(self, clock: HandClock, lives: timedelta | None = None) -> None:
        self._clock, self._lives = clock, lives
        self.made = 0

    def __call__(self) -> Token:
        self.made += 1
        expires = self._clock.now() + self._lives if self._lives else None
        return Token(f"t{self.made}", expires)


def only(token: str, done: Step = DONE) -> Step:
    """Answer requests with this token; deny all others."""

    def step(handler: Handler) -> None:
        known = handler.headers["Authorization"] == f"Bearer {token}"
        (done if known else DENIED)(handler)

    return step
