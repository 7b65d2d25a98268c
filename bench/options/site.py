"""A workload by one option on the real control plane, and what becomes of it."""

import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from bench.options.options import REPLICAS, Option
from tests.e2e.placement.webhook import EVENKEEL, Ground
from tests.kit.control_plane import ROOT

SPOT: Final = 8
ON_DEMAND: Final = 2
"""As many nodes as replicas: a ReplicaSet scales in those first that share one."""
EVERY: Final = 0.2
"""Seconds between two looks; how exact a time is."""
RESTORING: Final = 180.0

type Obj = dict[str, Any]


class Site:
    """The nodes, and the Deployments of one workload after the other."""

    def __init__(self, ground: Ground, option: Option) -> None:
        """No workload is there yet; the nodes are."""
        self.ground = ground
        self.option = option
        self.on_demand = {
            name for name in self._nodes() if "-demand-" in name and ground.namespace in name
        }
        self._made: Sequence[Obj] = ()

    @contextmanager
    def workload(self, name: str) -> Iterator[None]:
        """A fresh one, at rest; afterwards nothing of it is left."""
        self._made = self.option.manifests(name)
        for manifest in self._made:
            self.ground.apply(manifest)
        self.settle(REPLICAS, 60.0)
        try:
            yield
        finally:
            for manifest in self._made:
                name = manifest["metadata"]["name"]
                self.ground.control_plane.delete(
                    "apps/v1", "Deployment", name, self.ground.namespace
                )
            self.ground.wait_for("no pods to be left", lambda: not self._items("v1", "Pod"))

    def scale(self, replicas: int) -> None:
        """Set the workload's size: that of the last Deployment, the others keep theirs."""
        *others, last = self._made
        rest = sum(each["spec"]["replicas"] for each in others)
        self.ground.scale("Deployment", last["metadata"]["name"], replicas - rest)

    def roll_out(self) -> None:
        """A new version of all Deployments."""
        template = {"metadata": {"annotations": {"version": "2"}}}
        for each in self._made:
            self.ground.control_plane.merge(
                "apps/v1",
                "Deployment",
                each["metadata"]["name"],
                {"spec": {"template": template}},
                self.ground.namespace,
            )

    def lose_spot(self) -> None:
        """All spot nodes are gone at once, without a notice."""
        for number in range(SPOT):
            self.ground.control_plane.delete_node(f"{self.ground.namespace}-spot-{number}")

    def give_spot(self) -> None:
        """They are back, empty."""
        self.ground.add_nodes(spot=SPOT, on_demand=0)

    def restore(self) -> set[str]:
        """Run ``evenkeel restore --apply`` once; the uids of the pods that are new since.

        It says itself what it does, and is ended where it takes too long.
        """
        before = {pod["metadata"]["uid"] for pod in self.ground.pods()}
        kubeconfig = str(self.ground.control_plane.kubeconfig)
        command = [*EVENKEEL, "restore", "--kubeconfig", kubeconfig, "-n", self.ground.namespace]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run([*command, "--apply"], timeout=RESTORING, check=False, cwd=ROOT)
        return {pod["metadata"]["uid"] for pod in self.ground.pods()} - before

    def settle(self, replicas: int, longest: float) -> None:
        """Wait until all pods are Ready on nodes that are there, or for so many seconds."""
        give_up = time.monotonic() + longest
        while not self._is_settled(replicas) and time.monotonic() < give_up:
            time.sleep(EVERY)  # noqa: TID251 - a real cluster has its own clock

    def count(self) -> tuple[int, int, int]:
        """How many pods are Ready, Ready on on-demand nodes, and without a node."""
        pods, nodes = self.ground.pods(), self._nodes()
        places = [_node(pod) for pod in pods if _is_ready(pod) and _node(pod) in nodes]
        return (
            len(places),
            sum(place in self.on_demand for place in places),
            sum(not _node(pod) for pod in pods),
        )

    def versions(self) -> int:
        """How many versions the templates of the Deployments have had."""
        made = [each["metadata"]["name"] for each in self._made]
        return sum(
            owner["name"] in made
            for each in self._items("apps/v1", "ReplicaSet")
            for owner in each["metadata"].get("ownerReferences", ())
        )

    def refusals(self, name: str) -> Sequence[str]:
        """What the scheduler said of pods of this workload that it found no node for."""
        told = [
            each["message"]
            for each in self._items("v1", "Event")
            if each["reason"] == "FailedScheduling"
            and each["involvedObject"]["name"].startswith(name)
        ]
        return list(dict.fromkeys(told))

    def _is_settled(self, replicas: int) -> bool:
        names = [each["metadata"]["name"] for each in self._made]
        found = [
            each
            for each in self._items("apps/v1", "Deployment")
            if each["metadata"]["name"] in names
        ]
        pods, nodes = self._items("v1", "Pod"), self._nodes()
        return (
            sum(each["spec"]["replicas"] for each in found) == replicas == len(pods)
            and all(_is_through(each) for each in found)
            and all(_is_ready(pod) and _node(pod) in nodes for pod in pods)
        )

    def _items(self, api_version: str, kind: str) -> Sequence[Obj]:
        return self.ground.control_plane.items(api_version, kind, self.ground.namespace)

    def _nodes(self) -> set[str]:
        nodes = self.ground.control_plane.items("v1", "Node")
        return {node["metadata"]["name"] for node in nodes}


def _is_through(deployment: Mapping[str, Any]) -> bool:
    """Whether all of a Deployment's pods are of its last version and available."""
    status, wanted = deployment.get("status", {}), deployment["spec"]["replicas"]
    seen = status.get("observedGeneration") == deployment["metadata"]["generation"]
    counts = ("replicas", "updatedReplicas", "availableReplicas")
    return seen and all(status.get(each, 0) == wanted for each in counts)


def _is_ready(pod: Obj) -> bool:
    conditions = pod.get("status", {}).get("conditions", ())
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


def _node(pod: Obj) -> str:
    return str(pod["spec"].get("nodeName", ""))
