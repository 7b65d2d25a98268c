"""Kinds of other people on a real API server, as far as their names go, and who acts for them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Final, Protocol

from evenkeel_sandbox.simulator.api.objects import Obj
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.control_plane import MERGE, ControlPlane
from tests.kit.manifests import VERSIONS, Manifest, resource

OFTEN: Final = 0.1
"""Seconds between two looks of a controller on a real control plane."""


def definition(kind: str) -> Manifest:
    """A kind of these tests, any field of which is taken. It has replicas, and so a scale."""
    group, version = VERSIONS[kind].split("/")
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    subresources = {"scale": scale | {"labelSelectorPath": ".status.selector"}}
    served = {"name": version, "served": True, "storage": True, "subresources": subresources}
    return resource(
        "CustomResourceDefinition",
        f"{plural}.{group}",
        spec={
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [served | {"schema": {"openAPIV3Schema": schema}}],
        },
    )


def serve(control_plane: ControlPlane, kind: str) -> None:
    """Have a kind served; it stays."""
    made = definition(kind)
    control_plane.apply(made)
    control_plane.kubectl("wait", "--for=condition=Established", f"crd/{made['metadata']['name']}")
    path = f"apis/{VERSIONS[kind]}/{made['spec']['names']['plural']}"

    def is_served() -> bool:
        answer = control_plane.request("GET", path, fine=(429,))
        return bool(answer["kind"] == f"{kind}List")

    control_plane.wait_for(f"{kind}s to be served", is_served)


def owned(manifest: Manifest, owner: Obj) -> Manifest:
    """The manifest with an object as its controller."""
    kind = owner["kind"]
    reference = {"apiVersion": VERSIONS[kind], "kind": kind, "controller": True}
    reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
    return manifest | {"metadata": manifest["metadata"] | {"ownerReferences": [reference]}}


class Hands(Protocol):
    """What a controller sees and does in one namespace."""

    def objects(self, kind: str) -> Sequence[Obj]:
        """The objects of a kind of Kubernetes' own."""

    def make(self, manifest: Manifest) -> None:
        """Make an object."""

    def label(self, pod: str, labels: Mapping[str, str]) -> None:
        """Label a pod."""

    def delete(self, pod: str) -> None:
        """Delete a pod, and what it owns."""


type Step = Callable[[Hands], None]
"""What a controller does when something has changed."""

WATCHED: Final = ("Pod", "StatefulSet")


@dataclass(frozen=True)
class _SimulatedHands:
    cluster: SimulatedCluster
    namespace: str

    def objects(self, kind: str) -> Sequence[Obj]:
        return self.cluster.objects(kind, self.namespace)

    def make(self, manifest: Manifest) -> None:
        metadata = {"namespace": self.namespace, **manifest["metadata"]}
        self.cluster.apply(manifest | {"metadata": metadata})

    def label(self, pod: str, labels: Mapping[str, str]) -> None:
        change = {"metadata": {"labels": dict(labels)}}
        self.cluster.server.patch("Pod", (self.namespace, pod), change)

    def delete(self, pod: str) -> None:
        self.cluster.delete("Pod", pod, self.namespace)


def simulate(cluster: SimulatedCluster, step: Step, namespace: str = "default") -> None:
    """Let a controller take its step at once, and after each change that it watches."""
    hands = _SimulatedHands(cluster, namespace)

    def changed(_: Obj | None, new: Obj | None) -> None:
        del new
        cluster.clock.call_in(cluster.options.latency, lambda: step(hands))

    for kind in WATCHED:
        cluster.server.store.observe(kind, changed)
    step(hands)


@dataclass(frozen=True)
class _RealHands:
    control_plane: ControlPlane
    namespace: str

    def objects(self, kind: str) -> Sequence[Obj]:
        return self.control_plane.items(VERSIONS[kind], kind, self.namespace)

    def make(self, manifest: Manifest) -> None:
        self.control_plane.apply(manifest, namespace=self.namespace)

    def label(self, pod: str, labels: Mapping[str, str]) -> None:
        change = {"metadata": {"labels": dict(labels)}}
        self.control_plane.request("PATCH", self._path(pod), change, MERGE, fine=(404,))

    def delete(self, pod: str) -> None:
        # What it owns goes first, as LeaderWorkerSet asks for.
        how = {"propagationPolicy": "Foreground"}
        self.control_plane.request("DELETE", self._path(pod), how, fine=(404,))

    def _path(self, pod: str) -> str:
        return f"api/v1/namespaces/{self.namespace}/pods/{pod}"


@contextmanager
def acting(control_plane: ControlPlane, namespace: str, step: Step) -> Iterator[None]:
    """Meanwhile a controller looks often and takes its step; what goes wrong in it is raised."""
    hands, over = _RealHands(control_plane, namespace), Event()

    def act() -> None:
        while not over.wait(OFTEN):
            step(hands)

    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(act)
        try:
            yield
        finally:
            over.set()
        ended.result()
