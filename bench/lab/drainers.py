"""Who drains a node: `kubectl drain` and the descheduler; Karpenter is in a module of its own."""

import json
import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench.lab.manifests import NAMESPACE
from evenkeel.model.names import RELEASED_FROM
from tests.e2e.manifests import budget, deployment
from tests.kit.control_plane import ControlPlane
from tests.kit.drainers import binaries

OLD: Final = "old"
NEW: Final = "new"
ENDING: Final = 15.0
FILLING: Final = 120.0
TAINT: Final = "RemovePodsViolatingNodeTaints"


class Site:
    """A cluster without nodes and workloads yet."""

    def __init__(
        self,
        control_plane: ControlPlane,
        replicas: Mapping[str, int],
        *,
        budgets: bool,
        annotations: Mapping[str, str],
    ) -> None:
        """``replicas``: how many each workload is to have, by its name.

        ``budgets``: every other one has one that lets no pod, or only one, be missing. The pods
        have these ``annotations``.
        """
        self.control_plane = control_plane
        self.replicas = replicas
        self.budgets = budgets
        self._annotations = annotations

    def fill(self) -> None:
        """Run the workloads, and wait until all of them are Ready."""
        for number, (name, replicas) in enumerate(self.replicas.items()):
            manifest = deployment(name, replicas, start="2s")
            manifest["spec"]["template"]["metadata"]["annotations"] |= self._annotations
            self.apply(manifest)
            if self.budgets and number % 2:
                self.apply(budget(name, minAvailable=max(1, replicas - 1)))
        self.control_plane.wait_for("all pods to be Ready", self.is_whole, seconds=FILLING)
        if self.budgets:
            self.control_plane.wait_for("the budgets to know of them", self.are_budgets_counted)

    def apply(self, manifest: dict[str, Any]) -> None:
        """Apply a manifest in the namespace of the workloads."""
        self.control_plane.apply(manifest, namespace=NAMESPACE)

    def is_whole(self) -> bool:
        """Whether all replicas are available."""
        found = self.control_plane.items("apps/v1", "Deployment", NAMESPACE)
        ready = {
            each["metadata"]["name"]: each.get("status", {}).get("availableReplicas", 0)
            for each in found
        }
        return all(ready.get(name, 0) >= wanted for name, wanted in self.replicas.items())

    def add_node(self, name: str) -> None:
        """Add a node with room for all of them."""
        self.control_plane.add_node(name, cpu="64", memory="256Gi", pods=200)

    def occupied(self) -> Collection[str]:
        """The nodes that the workloads' pods are on."""
        return {pod["spec"]["nodeName"] for pod in self.pods() if "nodeName" in pod["spec"]}

    def is_moving(self) -> bool:
        """Whether a pod is on its way out, or its replacement is awaited."""
        found = [pod["metadata"] for pod in self.pods()]
        return any("deletionTimestamp" in each or RELEASED_FROM in each["labels"] for each in found)

    def pods(self) -> Sequence[dict[str, Any]]:
        """The workloads' pods, released ones too."""
        found = self.control_plane.items("v1", "Pod", NAMESPACE)
        return [pod for pod in found if pod["metadata"]["labels"].get("app") in self.replicas]

    def are_budgets_counted(self) -> bool:
        """Whether each budget knows of all pods of its workload."""
        budgets = self.control_plane.items("policy/v1", "PodDisruptionBudget", NAMESPACE)
        return all(
            each.get("status", {}).get("currentHealthy", 0)
            == self.replicas[each["metadata"]["name"]]
            for each in budgets
        )


class Drainer:
    """Somebody who drains nodes, on one cluster, as a process."""

    def __init__(self, site: Site, log: Path) -> None:
        """It writes to this log, and does not run yet."""
        self.site = site
        self._log = log
        self._processes: list[subprocess.Popen[bytes]] = []

    def prepare(self) -> None:
        """Have the node there, or made, that the workloads are to start on."""
        self.site.add_node(OLD)

    def begin(self) -> None:
        """Begin to drain it; here: another node has room for all."""
        self.site.add_node(NEW)

    def is_done(self) -> bool:
        """Whether it is through with it, as far as it says so itself."""
        return all(process.poll() is not None for process in self._processes)

    def close(self) -> None:
        """Ask its processes to end, and kill those that do not."""
        for process in self._processes:
            process.terminate()
            try:
                process.wait(ENDING)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(ENDING)

    def start(self, *command: str | Path, **environment: str) -> None:
        """Start a process of it, with these variables besides this one's."""
        with self._log.open("ab") as stream:
            process = subprocess.Popen(
                command,
                env={**os.environ, **environment},  # noqa: TID251 - a child's
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
            )
        self._processes.append(process)


class KubectlDrain(Drainer):
    """One `kubectl drain`."""

    def begin(self) -> None:
        """Another node, and the drain."""
        super().begin()
        control_plane = self.site.control_plane
        kubeconfig = f"--kubeconfig={control_plane.kubeconfig}"
        options = ("--ignore-daemonsets", "--delete-emptydir-data")
        self.start(control_plane.binaries / "kubectl", kubeconfig, "drain", OLD, *options)


class Descheduler(Drainer):
    """One run of the descheduler: it evicts the pods of a node that got a taint."""

    features: Sequence[str] = ()

    def begin(self) -> None:
        """Another node, a taint on the first, and the run."""
        super().begin()
        control_plane = self.site.control_plane
        taint = {"key": "evenkeel-bench/moved", "value": "true", "effect": "NoSchedule"}
        control_plane.merge("v1", "Node", OLD, {"spec": {"taints": [taint]}})
        policy = self._log.with_suffix(".policy.log")
        plugins: list[object] = [{"name": name, "args": {}} for name in (TAINT, "DefaultEvictor")]
        enabled = {"deschedule": {"enabled": [TAINT]}}
        profile = {"name": "taints", "pluginConfig": plugins, "plugins": enabled}
        kind = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}
        policy.write_text(json.dumps({**kind, "profiles": [profile]}))
        self.start(
            *(binaries() / "descheduler", f"--kubeconfig={control_plane.kubeconfig}"),
            *(f"--policy-config-file={policy}", "--descheduling-interval=0"),
            *("--secure-port=0", "--v=3", *self.features),
        )


class DeschedulerInBackground(Descheduler):
    """A pod whose owner asks for it is left to the webhook that refused its eviction."""

    features = ("--feature-gates=EvictionsInBackground=true",)
