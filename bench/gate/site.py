"""The cluster of the measurement: a gated namespace with workloads."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from bench.gate.results import Extent
from bench.placement.results import Webhook
from bench.placement.site import used
from bench.storm.site import launched
from bench.storm.worker import Worker
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import Ground, opened

SETTLING: Final = 240.0
NODES: Final = 6
REFUSED: Final = 429
GONE: Final = 404


class Site:
    """Workloads whose pods are evicted."""

    def __init__(self, ground: Ground, extent: Extent) -> None:
        """Start the gate, and nothing that places pods. No workload is there yet."""
        self._control_plane = ground.control_plane
        self._namespace = ground.namespace
        self._extent = extent
        ground.start()
        ground.gate()
        (started,) = ground.webhooks
        self._process = Worker(started.process, started.log)

    def fill(self) -> None:
        """Make the workloads."""
        extent, namespace = self._extent, self._namespace
        sizes = {f"single-{number}": 1 for number in range(extent.singles)}
        sizes |= {f"large-{number}": extent.size for number in range(extent.large)}
        for name, replicas in sizes.items():
            manifest = deployment(name, replicas, start=f"{extent.start}s")
            manifest["metadata"]["namespace"] = namespace
            path = f"apis/apps/v1/namespaces/{namespace}/deployments"
            self._control_plane.request("POST", path, manifest)

    def settled(self) -> list[str]:
        """The names of the pods, once all are Ready and no other is there."""

        def look() -> list[str] | None:
            pods = self._control_plane.items("v1", "Pod", self._namespace)
            done = len(pods) == self._extent.pods and all(map(_is_settled, pods))
            return sorted(pod["metadata"]["name"] for pod in pods) if done else None

        return self._control_plane.wait_for("all pods to be Ready", look, seconds=SETTLING)

    def evict(self, name: str) -> float | None:
        """Evict a pod: the seconds after which it may be asked for again, None once it goes."""
        metadata = {"name": name, "namespace": self._namespace}
        answer = self._control_plane.request(
            "POST",
            f"api/v1/namespaces/{self._namespace}/pods/{name}/eviction",
            {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata},
            fine=(REFUSED, GONE),
        )
        if answer.get("code") != REFUSED:
            return None
        return float(answer["details"]["retryAfterSeconds"])

    def webhook(self) -> Webhook:
        """What the gate's process did so far."""
        return used(self._control_plane, self._process)


@contextmanager
def prepared(extent: Extent) -> Iterator[Site]:
    """Start everything; afterwards nothing of it is left."""
    with (
        tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder,
        launched() as control_plane,
        control_plane.namespace() as namespace,
        opened(control_plane, namespace, Path(folder)) as ground,
    ):
        ground.add_nodes(spot=NODES, on_demand=0)
        site = Site(ground, extent)
        site.fill()
        yield site


def _is_settled(pod: dict[str, Any]) -> bool:
    """Whether a pod is Ready, stays, and is its ReplicaSet's."""
    metadata = pod["metadata"]
    stays = "deletionTimestamp" not in metadata and "ownerReferences" in metadata
    conditions = pod.get("status", {}).get("conditions", ())
    return stays and any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
