"""Many evictions asked for at once, on the simulated clock."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from evenkeel.decisions.gate.eviction import Allowed, Eviction, Verdict
from evenkeel.flows.gate import concurrency
from evenkeel.flows.gate.flow import GateFlow
from evenkeel.model import names
from evenkeel.model.request import Request
from evenkeel.ports import Reply, Session
from evenkeel.settings import GateSettings, Mode
from evenkeel_sandbox.simulator.clock import Signal, SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.manifests import deployment, resource
from tests.kit.scene import CALM, Scene

ROUND = timedelta(seconds=0.3)
"""What a round of reads takes: a decision has two at least."""


def wait_on(clock: SimulatedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests for places wait on this clock, as processes of it."""

    class Event:
        def __init__(self) -> None:
            self._signal = Signal()

        def set(self) -> None:
            self._signal.set()

        def wait(self, timeout: float) -> bool:
            return clock.wait(self._signal, timedelta(seconds=timeout))

    monkeypatch.setattr(concurrency, "Event", Event)


class Slow:
    """Implements the port Cluster: each round of requests takes ``ROUND``."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        self._cluster.clock.sleep(ROUND)
        return self._cluster.perform(requests)

    def session(self) -> Session:
        raise NotImplementedError


class Crowding:
    """Gated namespaces with a workload ``web`` each, and one process of the gate."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **replicas: int) -> None:
        self.scene = scene = Scene(options=CALM)
        scene.add_node("s1", room="1000")
        for namespace, number in replicas.items():
            space = resource("Namespace", namespace, labels={names.GATE: "true"})
            scene.apply(space, deployment("web", number, namespace=namespace))
        scene.settle()
        scene.begin()
        wait_on(scene.clock, monkeypatch)
        settings = GateSettings(mode=Mode.ACT)
        self.flow = GateFlow(settings, Slow(scene.cluster), scene.clock, scene.recorder)
        # Only the first list of released pods is waited for, by a thread and not on the clock.
        first = next(iter(replicas))
        self.flow.review(Eviction(name=self.pods(first)[0], namespace=first, dry_run=True))
        self.decided: dict[str, list[float]] = {each: [] for each in replicas}

    def pods(self, namespace: str) -> list[str]:
        """The pods of its workload."""
        return [each.name for each in self.scene.pods("web") if each.namespace == namespace]

    def ask(
        self,
        name: str,
        namespace: str,
        then: Callable[[Verdict], float | None],
        *,
        dry_run: bool = False,
    ) -> None:
        """Ask for an eviction, and again after so many seconds, until that is None."""
        eviction = Eviction(name=name, namespace=namespace, dry_run=dry_run)

        def insist() -> None:
            pause: float | None = 0
            while pause is not None:
                self.scene.clock.sleep(timedelta(seconds=pause))
                verdict = self.flow.review(eviction)
                if verdict.reason != "Crowded":
                    self.decided[namespace].append(self.scene.seconds)
                pause = then(verdict)

        self.scene.clock.start(insist)


def in_a_hurry(verdict: Verdict) -> float | None:
    """Whatever the gate says, it is asked again at once, for ever."""
    del verdict
    return 0.1


def until_decided(verdict: Verdict) -> float | None:
    """A client that does as it is told, until something is decided about its eviction."""
    if isinstance(verdict, Allowed) or verdict.reason != "Crowded":
        return None
    return verdict.retry_after.total_seconds()
