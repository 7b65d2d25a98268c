"""A stand-in for Azure's eviction-autoscaler beside a `kubectl drain`.

It makes that controller's writes, as its source has them: a budget that allows no pod of a
Deployment to be missing, as for a maxUnavailable of 0, a condition on each pod of a cordoned node,
and one replica more of a Deployment that has such a pod and whose budget allows no eviction. A
minute after the last of them has gone it takes that replica back.
https://github.com/Azure/eviction-autoscaler/blob/495b4d0/internal/controller/evictionautoscaler_controller.go
"""

import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

from bench.lab.drainers import FILLING, KubectlDrain, Site
from bench.lab.manifests import NAMESPACE
from tests.e2e.manifests import budget

COOLDOWN: Final = 60.0
SURGE: Final = 1
"""The Deployments' maxSurge: 25 % of one replica or of three."""
EVERY: Final = 0.5
SURGED: Final = "evictionSurgeReplicas"
BEFORE: Final = "eviction-autoscaler.azure.com/original-min-replicas"
CONDITION: Final = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionAttempt",
    "message": "eviction attempt anticipated by node cordon",
}


class EvictionAutoscaler(KubectlDrain):
    """A drain, and one replica more of what it would leave without a pod."""

    def __init__(self, site: Site, log: Path) -> None:
        """It watches nothing yet."""
        super().__init__(site, log)
        self._stopping = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._told: set[str] = set()
        self._asked: dict[str, float] = {}
        self._surged: set[str] = set()

    def begin(self) -> None:
        """Its budgets, which are counted before the drain begins."""
        for name, replicas in self.site.replicas.items():
            self.site.apply(budget(name, minAvailable=replicas))
        self.site.control_plane.wait_for(
            "the budgets to know of them", self.site.are_budgets_counted, seconds=FILLING
        )
        self._thread.start()
        super().begin()

    def is_done(self) -> bool:
        """Whether the drain is through, and each replica more was taken back."""
        return super().is_done() and not self._surged

    def close(self) -> None:
        """Stop, and end the drain."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(FILLING)
        super().close()

    def _watch(self) -> None:
        while not self._stopping.wait(EVERY):
            self._look()

    def _look(self) -> None:
        control_plane = self.site.control_plane
        nodes = control_plane.items("v1", "Node")
        cordoned = {n["metadata"]["name"] for n in nodes if n["spec"].get("unschedulable")}
        pods = [pod for pod in self.site.pods() if pod["spec"].get("nodeName") in cordoned]
        for pod in pods:
            self._tell(pod["metadata"])
        there = {pod["metadata"]["labels"]["app"] for pod in pods}
        self._asked |= dict.fromkeys(there, time.monotonic())
        budgets = {
            each["metadata"]["name"]: each["status"].get("disruptionsAllowed", 0)
            for each in control_plane.items("policy/v1", "PodDisruptionBudget", NAMESPACE)
        }
        for name in self.site.replicas:
            if name in there - self._surged and not budgets[name]:
                self._surge(name)
            elif name in self._surged and budgets[name]:
                self._take_back(name)

    def _tell(self, pod: Mapping[str, Any]) -> None:
        if pod["uid"] not in self._told:
            self._told.add(pod["uid"])
            self.site.control_plane.request(
                "PATCH",
                f"api/v1/namespaces/{NAMESPACE}/pods/{pod['name']}/status",
                {"status": {"conditions": [CONDITION]}},
                "application/strategic-merge-patch+json",
                fine=(404,),
            )

    def _surge(self, name: str) -> None:
        before = self.site.replicas[name]
        after = before + SURGE
        self._set(name, after, {SURGED: f"{after}", BEFORE: f"{before}"})
        self._surged.add(name)

    def _take_back(self, name: str) -> None:
        if time.monotonic() - self._asked[name] > COOLDOWN:
            self._set(name, self.site.replicas[name], {SURGED: None, BEFORE: None})
            self._surged.remove(name)

    def _set(self, name: str, replicas: int, annotations: Mapping[str, str | None]) -> None:
        change = {"metadata": {"annotations": annotations}, "spec": {"replicas": replicas}}
        self.site.control_plane.merge("apps/v1", "Deployment", name, change, NAMESPACE)
