"""The cluster of a drain: its workloads, its nodes, and how many evictions were refused."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from bench.storm.workloads import NAMESPACE
from evenkeel.model.names import RELEASED_FROM
from tests.e2e.manifests import budget, deployment
from tests.kit.control_plane import ControlPlane

SINGLES: Final = 10
LARGE: Final = 4
SIZE: Final = 3
START: Final = "2s"
FILLING: Final = 120.0

REPLICAS: Final[Mapping[str, int]] = {
    **{f"single-{number}": 1 for number in range(SINGLES)},
    **{f"large-{number}": SIZE for number in range(LARGE)},
}
"""How many replicas each workload has, by its name."""


class Site:
    """A cluster without nodes and workloads yet."""

    def __init__(
        self, control_plane: ControlPlane, *, budgets: bool, annotations: Mapping[str, str]
    ) -> None:
        """``budgets``: every other workload has one that lets no pod, or only one, be missing.

        The pods have these ``annotations``.
        """
        self.control_plane = control_plane
        self.budgets = budgets
        self._annotations = annotations

    def fill(self) -> None:
        """Run the workloads, and wait until all of them are Ready."""
        for number, (name, replicas) in enumerate(REPLICAS.items()):
            manifest = deployment(name, replicas, start=START)
            manifest["spec"]["template"]["metadata"]["annotations"] |= self._annotations
            self.apply(manifest)
            if self.budgets and number % 2:
                self.apply(budget(name, minAvailable=max(1, replicas - 1)))
        wanted = sum(REPLICAS.values())
        self.control_plane.wait_for(
            f"{wanted} pods to be Ready", lambda: self.ready() >= wanted, seconds=FILLING
        )
        if self.budgets:
            self.control_plane.wait_for("the budgets to know of them", self._are_budgets_counted)

    def apply(self, manifest: dict[str, Any]) -> None:
        """Apply a manifest in the namespace of the workloads."""
        manifest["metadata"]["namespace"] = NAMESPACE
        self.control_plane.apply(manifest)

    def ready(self) -> int:
        """How many replicas are available."""
        return sum(
            item.get("status", {}).get("availableReplicas", 0)
            for item in self.control_plane.items("apps/v1", "Deployment", NAMESPACE)
            if item["metadata"]["name"] in REPLICAS
        )

    def add_node(self, name: str) -> None:
        """Add a node with room for all of them."""
        self.control_plane.add_node(name, cpu="64", memory="256Gi", pods=200)

    def occupied(self) -> Collection[str]:
        """The nodes that the workloads' pods are on."""
        return {pod["spec"]["nodeName"] for pod in self.pods() if "nodeName" in pod["spec"]}

    def pods(self) -> Sequence[dict[str, Any]]:
        """The workloads' pods, released ones too."""
        found = self.control_plane.items("v1", "Pod", NAMESPACE)
        return [pod for pod in found if pod["metadata"]["labels"].get("app") in REPLICAS]

    def is_moving(self) -> bool:
        """Whether a pod is on its way out, or its replacement is awaited."""
        found = [pod["metadata"] for pod in self.pods()]
        return any("deletionTimestamp" in each or RELEASED_FROM in each["labels"] for each in found)

    def _are_budgets_counted(self) -> bool:
        budgets = self.control_plane.items("policy/v1", "PodDisruptionBudget", NAMESPACE)
        return all(
            each.get("status", {}).get("currentHealthy", 0) == REPLICAS[each["metadata"]["name"]]
            for each in budgets
        )
