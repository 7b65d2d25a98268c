"""The cluster of the measurement: nodes, workloads whose pods the clients make, the webhook."""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Final

from bench.placement.creations import Create
from bench.placement.results import Webhook
from bench.storm.site import launched, restart_controller_manager
from bench.storm.worker import Worker
from tests.e2e.placement.webhook import Ground, on_demand
from tests.kit.control_plane import ControlPlane

PERCENT: Final = 30
HASH: Final = "bench"
CAPACITY: Final = "evenkeel.dev/capacity"
CALLS: Final = "apiserver_admission_webhook_admission_duration_seconds"
EMPTYING: Final = 60.0


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the pods of a workload are: told to go to on-demand, bound there, not told at all."""

    told: int
    landed: int
    unplaced: int


class Site:
    """A managed namespace, and another for which the API server asks no webhook."""

    def __init__(self, ground: Ground, bare: str) -> None:
        """``bare`` is the other namespace."""
        self.control_plane = ground.control_plane
        self.asked = ground.namespace
        self.bare = bare
        ground.serve()
        (started,) = ground.webhooks
        self._process = Worker(started.process, started.log)

    def workload(self, namespace: str, name: str, replicas: int) -> Create:
        """Make a Deployment with a floor and its ReplicaSet; what creates a pod of it.

        No controller does: those of Deployments and ReplicaSets do not run here.
        """
        labels = {"app": name, "pod-template-hash": HASH}
        template = {
            "metadata": {"labels": labels},
            "spec": {
                "containers": [
                    {
                        "name": "app",
                        "image": "registry.k8s.io/pause",
                        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
                    }
                ]
            },
        }
        annotations = {"evenkeel.dev/on-demand": f"{PERCENT}%"}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        deployment = _object("Deployment", namespace, name, spec, annotations=annotations)
        uid = self._make(deployment)
        owners = [_reference("Deployment", name, uid)]
        uid = self._make(_object("ReplicaSet", namespace, f"{name}-{HASH}", spec, owners=owners))
        metadata = {
            "generateName": f"{name}-{HASH}-",
            "labels": labels,
            "ownerReferences": [_reference("ReplicaSet", f"{name}-{HASH}", uid)],
        }
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
        path = f"api/v1/namespaces/{namespace}/pods"
        return lambda: self.control_plane.request("POST", path, pod)

    def standing(self, namespace: str, number: int) -> Standing:
        """Where the namespace's pods are, once all of so many have a node."""

        def look() -> Sequence[dict[str, Any]] | None:
            pods = self.control_plane.items("v1", "Pod", namespace)
            done = len(pods) == number and all(pod["spec"].get("nodeName") for pod in pods)
            return pods if done else None

        pods = self.control_plane.wait_for(f"{number} pods on nodes", look, seconds=EMPTYING)
        wanted = [pod["metadata"]["labels"].get(CAPACITY, "") for pod in pods]
        return Standing(wanted.count("on-demand"), len(on_demand(pods)), wanted.count(""))

    def empty(self, namespace: str) -> None:
        """Take all pods of a namespace away."""
        path = f"api/v1/namespaces/{namespace}/pods"
        give_up = time.monotonic() + EMPTYING
        while self.control_plane.items("v1", "Pod", namespace):
            assert time.monotonic() < give_up, f"the pods of {namespace} do not go"
            self.control_plane.request("DELETE", path, {"gracePeriodSeconds": 0})

    def webhook(self) -> Webhook:
        """What the webhook's process did so far."""
        return used(self.control_plane, self._process)

    def _make(self, manifest: Mapping[str, Any]) -> str:
        """Create an object; its uid."""
        namespace = manifest["metadata"]["namespace"]
        path = f"apis/apps/v1/namespaces/{namespace}/{manifest['kind'].lower()}s"
        uid: str = self.control_plane.request("POST", path, manifest)["metadata"]["uid"]
        return uid


@contextmanager
def prepared() -> Iterator[Site]:
    """Start everything; afterwards nothing of it is left."""
    with (
        tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder,
        launched() as control_plane,
        control_plane.namespace() as asked,
        control_plane.namespace() as bare,
    ):
        control_plane.apply(_namespace(asked, managed=True), _namespace("evenkeel-system"))
        ground = Ground(control_plane, asked, Path(folder))
        ground.add_nodes(spot=6, on_demand=4)
        restart_controller_manager(
            control_plane, "--controllers=*,-deployment-controller,-replicaset-controller"
        )
        try:
            yield Site(ground, bare)
        finally:
            for webhook in ground.webhooks:
                webhook.kill()


def used(control_plane: ControlPlane, process: Worker) -> Webhook:
    """What a webhook's process did so far for an API server."""
    lines = control_plane.text("metrics").splitlines()
    reviews, seconds = (
        sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))
        for name in (f"{CALLS}_count{{", f"{CALLS}_sum{{")
    )
    return Webhook(
        reviews=round(reviews),
        mean=seconds / reviews,
        cpu_seconds=process.cpu_seconds,
        peak_mb=process.peak_mb,
    )


def floor_of(pods: int) -> int:
    """How many of a workload's pods belong on on-demand."""
    return ceil(pods * PERCENT / 100)


def _namespace(name: str, *, managed: bool = False) -> dict[str, Any]:
    labels = {"evenkeel.dev/managed": "true"} if managed else {}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _object(
    kind: str,
    namespace: str,
    name: str,
    spec: Mapping[str, Any],
    *,
    annotations: Mapping[str, str] | None = None,
    owners: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    metadata = {
        "name": name,
        "namespace": namespace,
        "annotations": dict(annotations or {}),
        "ownerReferences": list(owners),
    }
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


def _reference(kind: str, name: str, uid: str) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": True}
