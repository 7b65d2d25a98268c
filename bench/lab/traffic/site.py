"""A cluster with services whose pods are all on one node, and requests that go to them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any, Final

from bench.lab.manifests import GRACE, NAMESPACE
from bench.lab.traffic import urgent
from bench.lab.traffic.balancers import ALB, PROXY, SLOW_ALB, Balancer, Kind, Slices
from bench.lab.traffic.kubelets import CLOSES, EXITS, ON_SIGTERM, SERVES, Kubelets
from bench.lab.traffic.load import RATE, Stream
from evenkeel_sandbox.observer.following import follow
from evenkeel_sandbox.simulator.api.objects import Obj, labels_of, node_of
from tests.kit import manifests
from tests.kit.control_plane import HERE, ControlPlane, Options

PRE_STOP: Final = "prestop"
KINDS: Final = (EXITS, CLOSES, SERVES, PRE_STOP)
"""What apps do when they are to end; that with a preStop exits at SIGTERM."""

HOOK: Final = 15
"""Seconds of the preStop."""

REPLICAS: Final = (1, 3)
BEFORE, SECONDS = 3.0, 60.0
"""The load lasts so long, and so much of it comes before what empties the node."""

PODS: Final = f"api/v1/namespaces/{NAMESPACE}/pods"
SLICES: Final = f"apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices"
SERVICE: Final = "kubernetes.io/service-name"


@contextmanager
def launched() -> Iterator[ControlPlane]:
    """A control plane where kwok plays nodes, and nobody plays the kubelets yet."""
    with TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        stages = Path(folder) / "stages.yaml"
        parts = (HERE / "stages.yaml").read_text().split("\n---\n")
        stages.write_text("\n---\n".join(each for each in parts if "    kind: Node\n" in each))
        with ControlPlane.launch(Options(unlimited=True, stages=stages)) as control_plane:
            yield control_plane


@dataclass(frozen=True, slots=True)
class App:
    """A workload and its Service; one that is ``balanced`` is behind a load balancer."""

    kind: str
    replicas: int
    balanced: bool

    @property
    def name(self) -> str:
        """That of both."""
        return f"{self.kind}-{self.replicas}-{'balanced' if self.balanced else 'plain'}"

    @property
    def balancers(self) -> Sequence[Kind]:
        """The kinds of what sends it requests."""
        return (ALB, SLOW_ALB) if self.balanced else (PROXY,)

    def manifests(self, notes: Mapping[str, str]) -> Sequence[dict[str, Any]]:
        """Both; the pods have these annotations, too."""
        on_sigterm = EXITS if self.kind == PRE_STOP else self.kind
        pod = {"image": "app", "grace": GRACE, "annotations": {ON_SIGTERM: on_sigterm, **notes}}
        made = manifests.deployment(self.name, self.replicas, pod=pod, namespace=NAMESPACE)
        if self.kind == PRE_STOP:
            (container,) = made["spec"]["template"]["spec"]["containers"]
            container["lifecycle"] = {"preStop": {"sleep": {"seconds": HOOK}}}
        service = (manifests.balanced if self.balanced else manifests.service)(self.name)
        service["spec"]["ports"] = [{"port": 80, "targetPort": 8080}]
        return made, service


APPS: Final = tuple(
    App(kind, replicas, balanced)
    for kind in KINDS
    for replicas in REPLICAS
    for balanced in (False, True)
)


@dataclass(slots=True)
class Site:
    """The cluster, its kubelets and its balancers, while an event loop runs."""

    control_plane: ControlPlane
    node: str
    _kubelets: Kubelets = field(init=False)
    _slices: dict[str, Slices] = field(default_factory=dict)  # by Service
    _balancers: dict[str, Sequence[Balancer]] = field(init=False)
    _there: dict[str, str] = field(default_factory=dict)  # nodes by pods' names
    _stopping: Event = field(default_factory=Event)
    _driven: float = 0.0
    emptied: float | None = None
    """Seconds from when that began until no pod was on the node."""

    def __post_init__(self) -> None:
        """Nothing is there yet."""
        self._kubelets = Kubelets(self.control_plane)
        self._balancers = {app.name: [Balancer(each) for each in app.balancers] for app in APPS}

    @contextmanager
    def followed(self) -> Iterator[None]:
        """See what happens to pods and endpoints, and act on it, as long as this lasts."""
        loop = asyncio.get_running_loop()

        def read(path: str, version: str, see: Callable[..., None]) -> None:
            urgent.hurry()
            for change in follow(self.control_plane.stream, path, version, self._stopping):
                if not self._stopping.is_set():
                    loop.call_soon_threadsafe(partial(see, change.object, gone=change.gone))

        for path, see in ((PODS, self._see_pod), (SLICES, self._see_slice)):
            version = self.control_plane.request("GET", path)["metadata"]["resourceVersion"]
            Thread(target=read, args=(path, version, see), daemon=True).start()
        try:
            yield
        finally:
            self._stopping.set()

    async def fill(self, notes: Mapping[str, str]) -> None:
        """Run all apps, and wait until they are Ready and each balancer knows them."""
        for app in APPS:
            await asyncio.to_thread(self.control_plane.apply, *app.manifests(notes))
        await asyncio.to_thread(self.control_plane.wait_for, "all to be Ready", self.is_whole)
        await asyncio.sleep(max(kind.learns for app in APPS for kind in app.balancers) + 1)

    def is_whole(self) -> bool:
        """Whether all replicas are available, and of the newest version."""
        found = self.control_plane.items("apps/v1", "Deployment", NAMESPACE)
        statuses = {each["metadata"]["name"]: each.get("status", {}) for each in found}
        counts = ("availableReplicas", "updatedReplicas")
        return all(
            statuses.get(app.name, {}).get(count, 0) >= app.replicas
            for app in APPS
            for count in counts
        )

    async def load(self, drive: Callable[[], Awaitable[None]]) -> Sequence[Stream]:
        """Send requests to all apps, and have the node emptied meanwhile."""
        streams = [
            Stream(app.name, each.kind.name, each.target)
            for app in APPS
            for each in self._balancers[app.name]
        ]
        urgent.hurry()
        began = time.monotonic() + 0.5
        async with asyncio.TaskGroup() as running:
            for number, stream in enumerate(streams):
                phase = number / len(streams) / RATE
                running.create_task(stream.run(began + phase, SECONDS))
            await asyncio.sleep(BEFORE)
            self._driven = time.monotonic()
            await drive()
        self._kubelets.check()
        return streams

    def _see_pod(self, pod: Obj, *, gone: bool) -> None:
        self._kubelets.see(pod, gone=gone)
        name = pod["metadata"]["name"]
        was_there = self.node in self._there.values()
        self._there[name] = "" if gone else node_of(pod)
        if was_there and self.node not in self._there.values():
            self.emptied = time.monotonic() - self._driven

    def _see_slice(self, found: Obj, *, gone: bool) -> None:
        name = labels_of(found).get(SERVICE, "")
        endpoints = self._slices.setdefault(name, Slices()).see(found, gone=gone)
        for balancer in self._balancers.get(name, ()):
            balancer.see(time.monotonic(), endpoints)
