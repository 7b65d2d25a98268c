"""How long evictions take with the gate.

50 evictions a second for 20 s through a real API server that asks the [eviction gate](gate.md)
about each, from when one was due until its answer, by 8 clients. One that is put off is sent
again when its time has come. There are 100 Deployments of one replica and 20 of 10, whose pods
are Ready after 10 s. *at once* is the same server with a gate that reads and writes nothing: it
lets as many evictions pass as the window has room for, and puts the others off.
"""

import heapq
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from bench.figure import Figure, Mark, spread
from bench.lab import webhook
from bench.lab.cluster import launched
from bench.lab.lab import Lab
from bench.lab.worker import Watched
from evenkeel_sandbox.simulator.api.objects import is_leaving, is_ready
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import COMMAND
from tests.kit.control_plane import ControlPlane

NOTES: Final = """\
- An eviction that is decided about has its pod read, then its workload, then the pods that count,
  and a release is one write more. One that is known to wait for room in the window has nothing of
  it read.
"""
SIZES: Final = ("50 a second",)
RATE, SECONDS = 50.0, 20
SINGLES, LARGE, SIZE = 100, 20, 10
AT_ONCE: Final = "at once"
CLIENTS: Final = 8
"""Each has a connection of its own, and sends one eviction after the other."""
SETTLING: Final = 240.0
REFUSED: Final = 429
GONE: Final = 404

type Evict = Callable[[str], float | None]
"""Evicts a pod: the seconds after which it may be asked for again, None once it goes."""


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """One round of each on a cluster of its own."""
    del size
    found = [*_asked(lab, AT_ONCE, "bench.lab.at_once"), *_asked(lab, webhook.SERVE, COMMAND)]
    at_once, gate = (each.value for each in found if each.name == "an answer, p99")
    assert isinstance(at_once, float), "no eviction was answered"
    assert isinstance(gate, float), "no eviction was answered"
    of = webhook.SERVE
    return [*found, Figure("p99, times that at once", gate / at_once, mark=Mark(most=2), of=of)]


def _asked(lab: Lab, of: str, command: str) -> Sequence[Figure]:
    """What evictions take where the API server asks this command's webhook."""
    with (
        launched() as control_plane,
        control_plane.namespace() as namespace,
        webhook.ground(control_plane, namespace) as ground,
    ):
        ground.add_nodes(spot=6, on_demand=0)
        ground.start(command=command)
        ground.gate()
        process = Watched(ground.webhooks[0].process)
        for number in range(SINGLES + LARGE):
            replicas = 1 if number < SINGLES else SIZE
            ground.apply(deployment(f"app-{number}", replicas, start="10s"))
        pods = _settled(control_plane, namespace)
        lab.say(f"{len(pods)} pods are Ready, and the API server asks: {of}")
        evictor = Evictor(_evictions(control_plane, namespace), RATE, pods)
        answers = evictor.run(SECONDS)
        return [
            Figure("evictions", len(answers), of=of),
            Figure("evictions that passed", sum(not each.deferred for each in answers), of=of),
            *spread("an answer", (each.seconds for each in answers), of),
            *webhook.used(control_plane, process, of),
        ]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one eviction took, from when it was due; whether it was put off."""

    seconds: float
    deferred: bool


@dataclass
class Evictor:
    """Sends evictions at a rate: a pod that is put off is asked for again before a new one is."""

    evict: Evict
    rate: float
    new: list[str]
    answers: list[Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Nothing is sent yet."""
        self._again: list[tuple[float, str]] = []
        self._lock = Lock()
        self._turn = 0

    def run(self, seconds: float) -> Sequence[Answer]:
        """Evict for so long, or until all pods have gone."""
        began = time.monotonic() + 0.05
        with ThreadPoolExecutor(CLIENTS) as pool:
            for done in [pool.submit(self._work, began, began + seconds) for _ in range(CLIENTS)]:
                done.result()
        return self.answers

    def _work(self, began: float, until: float) -> None:
        while True:
            with self._lock:
                due = began + self._turn / self.rate
                self._turn += 1
            if due >= until:
                return
            time.sleep(max(0.0, due - time.monotonic()))  # noqa: TID251 - a real cluster's time
            with self._lock:
                pod = self._next()
            if pod is None:
                continue
            again = self.evict(pod)
            now = time.monotonic()
            with self._lock:
                self.answers.append(Answer(now - due, again is not None))
                if again is not None:
                    heapq.heappush(self._again, (now + again, pod))

    def _next(self) -> str | None:
        """The pod that was put off first, if it may be asked for by now, else a new one."""
        if self._again and self._again[0][0] <= time.monotonic():
            return heapq.heappop(self._again)[1]
        return self.new.pop() if self.new else None


def _settled(control_plane: ControlPlane, namespace: str) -> list[str]:
    """The names of the pods, once all are Ready and no other is there."""

    def look() -> list[str] | None:
        pods = control_plane.items("v1", "Pod", namespace)
        done = len(pods) == SINGLES + LARGE * SIZE and all(map(_is_settled, pods))
        return sorted(pod["metadata"]["name"] for pod in pods) if done else None

    return control_plane.wait_for("all pods to be Ready", look, seconds=SETTLING)


def _evictions(control_plane: ControlPlane, namespace: str) -> Evict:
    def evict(name: str) -> float | None:
        metadata = {"name": name, "namespace": namespace}
        answer = control_plane.request(
            "POST",
            f"api/v1/namespaces/{namespace}/pods/{name}/eviction",
            {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata},
            fine=(REFUSED, GONE),
        )
        if answer.get("code") != REFUSED:
            return None
        return float(answer["details"]["retryAfterSeconds"])

    return evict


def _is_settled(pod: dict[str, Any]) -> bool:
    """Whether a pod is Ready, stays, and is its ReplicaSet's."""
    return is_ready(pod) and not is_leaving(pod) and "ownerReferences" in pod["metadata"]
