"""A test's part of the real control plane: nodes, workloads, events, and what becomes of them."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Self

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from evenkeel_sandbox.observer.following import is_released
from evenkeel_sandbox.simulation import SEAT_CLASS
from evenkeel_sandbox.simulator.api.objects import Obj, is_ready, node_of
from evenkeel_sandbox.simulator.instances import SimulatedInstances
from tests.e2e.application import CLUSTER_NAME, Evenkeel
from tests.e2e.manifests import selector
from tests.e2e.witness import Departure, Witness
from tests.kit.control_plane import CLUSTER_SCOPED, PATIENCE, ROOT, ControlPlane
from tests.kit.manifests import Manifest


class ShiftedClock(SystemClock):
    """The machine's clock, which a test can put forward, for Evenkeel alone."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        """The time."""
        return super().now() + self._ahead

    def skip(self, duration: timedelta) -> None:
        """Let time pass."""
        self._ahead += duration


class Site:
    """A test's part of the cluster: a namespace, its nodes, their instances, and a witness."""

    def __init__(self, control_plane: ControlPlane, namespace: str, witness: Witness) -> None:
        self.control_plane = control_plane
        self.namespace = namespace
        self.witness = witness
        self.clock = ShiftedClock()
        self.instances = SimulatedInstances()
        self._deployed: list[Evenkeel] = []
        self._cluster_scoped: list[Manifest] = []

    @classmethod
    @contextmanager
    def open(cls, control_plane: ControlPlane, namespace: str) -> Iterator[Self]:
        """A site without nodes. At the end nothing of Evenkeel's is left in the cluster.

        The nodes with their marks go with the namespace.
        """
        _wait_for_a_clean_cluster(control_plane)
        _take_away_notes(control_plane)
        control_plane.apply(SEAT_CLASS)
        with Witness(control_plane, namespace, SystemClock()) as witness:
            site = cls(control_plane, namespace, witness)
            try:
                yield site
            finally:
                site.close()

    def close(self) -> None:
        """Stop every Evenkeel, and take away what it and the test left outside the namespace."""
        for evenkeel in self._deployed:
            evenkeel.stop()
        self.tell()
        for manifest in self._cluster_scoped:
            kind, name = manifest["kind"], manifest["metadata"]["name"]
            self.control_plane.delete(manifest["apiVersion"], kind, name)
        _take_away_notes(self.control_plane)

    def tell(self) -> None:
        """Write down what every Evenkeel did; pytest shows it with a failure."""
        for evenkeel in self._deployed:
            sys.stdout.write(evenkeel.story)

    def deploy(self, **options: Any) -> Evenkeel:
        """Begin to run an Evenkeel, with its options, which stops with the site."""
        evenkeel = Evenkeel(self.control_plane, self.instances, self.clock, **options)
        self._deployed.append(evenkeel)
        return evenkeel

    # Nodes. Tests call them by short names; in the cluster they bear the namespace's, too.

    def node_name(self, short: str) -> str:
        """A node's name in the cluster."""
        return f"{self.namespace}-{short}"

    def add_nodes(self, *shorts: str, spot: bool = True, **options: Any) -> None:
        """Add nodes with running instances, and wait until pods can be placed on them."""
        for short in shorts:
            self.control_plane.add_node(self.node_name(short), spot=spot, wait=False, **options)
        nodes = [self.control_plane.wait_for_node(self.node_name(short)) for short in shorts]
        self.instances.adopt(nodes, CLUSTER_NAME)

    def node(self, short: str) -> Obj:
        """A node, whole."""
        return self.control_plane.get("v1", "Node", self.node_name(short))

    def cordon(self, short: str, *, cordoned: bool = True) -> None:
        """Cordon a node as a person does, or lift that."""
        self.merge("v1", "Node", self.node_name(short), {"spec": {"unschedulable": cordoned}})

    def is_marked(self, short: str) -> bool:
        """Whether a node bears Evenkeel's label."""
        return names.DOOMED in self.node(short)["metadata"]["labels"]

    def pods_on(self, short: str, **labels: str) -> Sequence[Obj]:
        """The pods on a node that were not told to go."""
        name = self.node_name(short)
        return [p for p in self.witness.pods(**labels) if p["spec"].get("nodeName") == name]

    def departures_from(self, short: str, **labels: str) -> Sequence[Departure]:
        """The pods that were on a node and were told to go, in the order in which they were."""
        name, departures = self.node_name(short), self.witness.departures(**labels)
        return [each for each in departures if each.pod["spec"].get("nodeName") == name]

    def warning(self, short: str, *, ago: float = 0.0) -> Mapping[str, Any]:
        """The interruption warning for a node, given so many seconds ago."""
        return self._event("interruption-warning-terminate", short, ago)

    def recommendation(self, short: str, *, ago: float = 0.0) -> Mapping[str, Any]:
        """The rebalance recommendation for a node, given so many seconds ago."""
        return self._event("rebalance-recommendation", short, ago)

    def sample(self, kind: str, ago: float = 0.0) -> dict[str, Any]:
        """A sample event; about which instances its ``detail`` is still to say."""
        given = self.clock.now() - timedelta(seconds=ago)
        event: dict[str, Any] = json.loads((ROOT / "events" / f"{kind}.json").read_text())
        event |= {
            "id": f"{kind}-{given.timestamp():.0f}",
            "time": given.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        return event

    def terminate(self, *shorts: str) -> None:
        """Let EC2 say that the instances of these nodes are terminated."""
        for short in shorts:
            self.instances.set_state(self.instance_id(short), "terminated")

    def instance_id(self, short: str) -> str:
        """The id of a node's instance."""
        provider_id: str = self.node(short)["spec"]["providerID"]
        return provider_id.rpartition("/")[2]

    def _event(self, kind: str, short: str, ago: float) -> Mapping[str, Any]:
        event = self.sample(kind, ago)
        event["id"] += f"-{short}"
        event["detail"]["instance-id"] = self.instance_id(short)
        return event

    # Workloads.

    def apply(self, *manifests: Manifest) -> None:
        """Apply manifests, in this namespace where they belong into one."""
        for manifest in manifests:
            if manifest["kind"] in CLUSTER_SCOPED:
                self._cluster_scoped.append(manifest)
        self.control_plane.apply(*manifests, namespace=self.namespace)

    def run(self, *manifests: Manifest, pods: int | None = None) -> None:
        """Apply workloads, wait until all their pods are ready, and count those from then on.

        ``pods``: how many each has, if its manifest does not say.
        """
        self.apply(*manifests)
        for manifest in manifests:
            name = manifest["metadata"]["name"]
            self.await_pods(name, pods or manifest["spec"].get("replicas", 1))

    def await_pods(self, name: str, wanted: int) -> None:
        """Wait until so many pods of a workload are ready, and count those from then on."""
        self.wait_for(
            f"{wanted} ready pods of {name}",
            lambda: self.witness.count(name, selector(name)) == wanted,
        )

    def scale(self, name: str, replicas: int) -> None:
        """Scale a Deployment."""
        self.merge("apps/v1", "Deployment", name, {"spec": {"replicas": replicas}})

    def delete(self, api_version: str, kind: str, name: str) -> None:
        """Delete an object of this namespace."""
        self.control_plane.delete(api_version, kind, name, self.namespace)

    def get(self, api_version: str, kind: str, name: str) -> Mapping[str, Any]:
        """An object of this namespace, whole."""
        return self.control_plane.get(api_version, kind, name, self.namespace)

    def merge(self, api_version: str, kind: str, name: str, patch: Manifest) -> None:
        """Change an object by a merge patch."""
        self.control_plane.merge(api_version, kind, name, patch, self.namespace)

    def released(self, name: str) -> Sequence[Obj]:
        """The pods of a workload that are released now and were not told to go."""
        return [pod for pod in self.witness.pods(**selector(name)) if is_released(pod)]

    def wait_for_releases(self, name: str, at_least: int = 1) -> Sequence[Obj]:
        """Wait until so many pods of a workload are released; answers them."""

        def enough() -> Sequence[Obj] | None:
            released = self.released(name)
            return released if len(released) >= at_least else None

        return self.wait_for(f"{at_least} released pods of {name}", enough)

    def is_settled(self, name: str, replicas: int, *shorts: str) -> bool:
        """Whether a workload has so many ready pods, all on these nodes, and no others."""
        pods = self.witness.pods(**selector(name))
        places = {pod["spec"].get("nodeName") for pod in pods}
        return (
            len(pods) == self.witness.ready(name) == replicas
            and places <= {self.node_name(short) for short in shorts}
            and not self.released(name)
        )

    def let_pass(self, seconds: float) -> None:
        """Let real time pass, where a test has to show that nothing happens."""
        until = self.clock.now() + timedelta(seconds=seconds)
        self.wait_for(f"{seconds:g} s to pass", lambda: self.clock.now() >= until, seconds + 5)

    def wait_for[T](self, what: str, probe: Callable[[], T | None], seconds: float = PATIENCE) -> T:
        """Poll until the probe answers something truthy; a failure tells where the pods are."""
        try:
            return self.control_plane.wait_for(what, probe, seconds=seconds)
        except AssertionError as failure:
            where = ", ".join(map(_place, self.witness.pods()))
            message = f"{failure}; pods: {where}"
            raise AssertionError(message) from failure


def _place(pod: Obj) -> str:
    marks = {"not ready": not is_ready(pod), "released": is_released(pod)}
    said = "".join(f" ({mark})" for mark, holds in marks.items() if holds)
    return f"{pod['metadata']['name']} on {node_of(pod) or 'no node'}{said}"


def _take_away_notes(control_plane: ControlPlane) -> None:
    """What holds for the whole cluster: the Lease, which says who works, and the pause."""
    lease = ("coordination.k8s.io/v1", "Lease", names.HANDOVER_LEASE)
    control_plane.delete(*lease, names.SYSTEM_NAMESPACE)
    control_plane.delete("v1", "ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)


def _wait_for_a_clean_cluster(control_plane: ControlPlane) -> None:
    """Marks and released pods count cluster-wide: those of another test must be gone."""

    def is_clean() -> bool:
        return not any(
            control_plane.items("v1", kind, query=f"labelSelector={label.replace('/', '%2F')}")
            for kind, label in (("Node", names.DOOMED), ("Pod", names.RELEASED_FROM))
        )

    control_plane.wait_for("nodes and pods of other tests to be gone", is_clean)
