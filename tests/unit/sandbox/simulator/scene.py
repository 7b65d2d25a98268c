"""Scenes for tests of the simulator."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from evenkeel_sandbox.simulator.api.objects import Obj, is_ready
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.kit.manifests import resource

SECOND = timedelta(seconds=1)


class Scene:
    """A simulated cluster with short words for what tests do to it."""

    def __init__(self, nodes: int = 2, options: SimulatorOptions | None = None) -> None:
        self.clock = SimulatedClock()
        self.cluster = SimulatedCluster(self.clock, options)
        for i in range(nodes):
            self.cluster.apply(node(f"n{i}"))

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance(timedelta(seconds=seconds))

    def pods(self, namespace: str = "shop") -> list[Obj]:
        """The pods of a namespace."""
        return self.cluster.objects("Pod", namespace)

    def ready(self, namespace: str = "shop") -> int:
        """How many pods are Ready."""
        return sum(1 for pod in self.pods(namespace) if is_ready(pod))

    def one(self, kind: str, name: str = "") -> Obj:
        """The one object of a kind, or the one with this name."""
        found = [o for o in self.cluster.objects(kind) if name in ("", o["metadata"]["name"])]
        assert len(found) == 1, f"{len(found)} {kind}s"
        return found[0]


def node(name: str, **metadata: Any) -> Obj:
    """A node."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, **metadata}}


def template(app: str, annotations: Mapping[str, str] | None = None, **spec: Any) -> Obj:
    """A pod template labelled ``app``."""
    return {
        "metadata": {"labels": {"app": app}, "annotations": dict(annotations or {})},
        "spec": {"containers": [{"name": "main", "image": "image"}], **spec},
    }


def workload(kind: str, name: str, pods: Obj | None = None, **spec: Any) -> Obj:
    """A Deployment or a StatefulSet of pods labelled with its name, in ``shop``."""
    of_pods = {"selector": {"matchLabels": {"app": name}}, "template": pods or template(name)}
    return resource(kind, name, "shop", spec={**of_pods, **spec})


def pod(name: str, annotations: Mapping[str, str] | None = None, **spec: Any) -> Obj:
    """A bare pod in ``shop``."""
    return resource(
        "Pod",
        name,
        "shop",
        notes=dict(annotations or {}),
        spec={"containers": [{"name": "main", "image": "image"}], **spec},
    )
