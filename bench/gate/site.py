"""The cluster of the measurement: two namespaces with the same workloads, one of them gated."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from bench.gate.evicting import Evict
from bench.gate.results import Extent
from bench.placement.results import Webhook
from bench.placement.site import used
from bench.storm.site import launched
from bench.storm.worker import Worker
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import Ground

SETTLING: Final = 240.0
NODES: Final = 6
REFUSED: Final = 429
GONE: Final = 404


class Site:
    """Workloads whose pods are evicted."""

    def __init__(self, ground: Ground, bare: str, extent: Extent) -> None:
        """``bare`` is the namespace that is not gated."""
        self.control_plane = ground.control_plane
        self.gated = ground.namespace
        self.bare = bare
        self._extent = extent
        ground.serve()
        ground.gate()
        (started,) = ground.webhooks
        self._process = Worker(started.process, started.log)

    def fill(self) -> None:
        """Make the workloads of both namespaces, and wait until all their pods are Ready."""
        extent = self._extent
        sizes = {f"single-{number}": 1 for number in range(extent.singles)}
        sizes |= {f"large-{number}": extent.size for number in range(extent.large)}
        for namespace in (self.bare, self.gated):
            for name, replicas in sizes.items():
                manifest = deployment(name, replicas)
                manifest["metadata"]["namespace"] = namespace
                path = f"apis/apps/v1/namespaces/{namespace}/deployments"
                self.control_plane.request("POST", path, manifest)

    def settled(self, namespace: str) -> list[str]:
        """The names of the namespace's pods, once all are Ready and no other is there."""

        def look() -> Sequence[str] | None:
            pods = self.control_plane.items("v1", "Pod", namespace)
            done = len(pods) == self._extent.pods and all(map(_is_ready, pods))
            return [pod["metadata"]["name"] for pod in pods] if done else None

        what = f"all pods of {namespace} to be Ready"
        return sorted(self.control_plane.wait_for(what, look, seconds=SETTLING))

    def evict(self, namespace: str) -> Evict:
        """What evicts a pod of a namespace."""

        def ask(name: str) -> float | None:
            metadata = {"name": name, "namespace": namespace}
            answer = self.control_plane.request(
                "POST",
                f"api/v1/namespaces/{namespace}/pods/{name}/eviction",
                {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata},
                fine=(REFUSED, GONE),
            )
            if answer.get("code") != REFUSED:
                return None
            return float(answer["details"]["retryAfterSeconds"])

        return ask

    def webhook(self) -> Webhook:
        """What the gate's process did so far."""
        return used(self.control_plane, self._process)


@contextmanager
def prepared(extent: Extent) -> Iterator[Site]:
    """Start everything; afterwards nothing of it is left."""
    with (
        tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder,
        launched() as control_plane,
        control_plane.namespace() as gated,
        control_plane.namespace() as bare,
    ):
        for name, labels in ((gated, {"evenkeel.dev/managed": "true"}), ("evenkeel-system", {})):
            metadata = {"name": name, "labels": labels}
            control_plane.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        ground = Ground(control_plane, gated, Path(folder))
        ground.add_nodes(spot=NODES, on_demand=0)
        try:
            site = Site(ground, bare, extent)
            site.fill()
            yield site
        finally:
            for webhook in ground.webhooks:
                webhook.kill()


def _is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions", ())
    leaves = "deletionTimestamp" in pod["metadata"]
    return not leaves and any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
