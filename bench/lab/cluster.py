"""The cluster of a storm: its nodes, its workloads, and what is done to it from outside."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Container, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from bench.lab.manifests import NAMESPACE, OWN, deployment, manifests
from bench.lab.scenario import Scenario
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel_cli.headroom import printed
from evenkeel_cli.headroom.sizing import MI, Kept, Room, Size
from tests.kit.control_plane import HERE, ControlPlane, Options

CAPACITY: Final = "node.kubernetes.io/capacity"
FILLING: Final = 240.0
KUBELETS: Final = 64
"""So many are at work at once. kwok's default is four: then a pod waits for one of them much longer
than it takes to start."""
KWOK: Final = """\
---
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  enablePodsOnNodeSyncStreamWatch: true
  nodeLeaseParallelism: 4
  nodePlayStageParallelism: 4
  podPlayStageParallelism: {}
"""
"""kwok's own options but for the last: with such a document it takes no defaults."""
SIZE: Final = Size(cpu=100, memory=64 * MI)
"""What a pod of the storm asks for."""


@contextmanager
def launched() -> Iterator[ControlPlane]:
    """A control plane without QPS limits, whose pods take 2-3 s to start."""
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        stages = Path(folder) / "stages.yaml"
        text = (HERE / "stages.yaml").read_text()
        quick = "durationMilliseconds: 1000\n    jitterDurationMilliseconds: 2000\n"
        assert text.count(quick) == 1
        slow = "durationMilliseconds: 2000\n    jitterDurationMilliseconds: 3000\n"
        text = text.replace(quick, slow)
        stages.write_text(text + KWOK.format(KUBELETS))
        options = Options(unlimited=True, stages=stages, durable=True)
        with ControlPlane.launch(options) as control_plane:
            yield control_plane


class Cluster:
    """One scenario's cluster. Everything is measured in seconds of the monotonic clock."""

    def __init__(
        self, control_plane: ControlPlane, scenario: Scenario, spot: Mapping[str, str]
    ) -> None:
        """Nothing is there yet. ``spot`` names the node of each spot instance, by its id."""
        self.control_plane = control_plane
        self.scenario = scenario
        self.spot = dict(spot)
        self.idle = [f"on-demand-{number}" for number in range(scenario.idle)]
        self.late = self.idle[-(-scenario.headroom // scenario.per_idle) :] if scenario.late else []

    def fill(self) -> float:
        """Run all pods on the spot nodes; seconds until all of them are Ready."""
        self._add_spot_nodes()
        pods, began = self.scenario.pods, time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(self.control_plane.apply, manifests(self.scenario)))
        self.control_plane.wait_for(
            f"{pods} pods to be Ready",
            lambda: self.ready() >= pods,
            seconds=FILLING,
            every=0.5,
        )
        return time.monotonic() - began

    def add_idle_nodes(self) -> None:
        """Add the on-demand nodes that do not appear later, Ready, with the pause pods on them."""
        early = self.idle[: len(self.idle) - len(self.late)]
        for name in early:
            if self.scenario.reserved:
                self._add_reserved_node(name, -(-self.scenario.headroom // len(early)))
            else:
                self.add_idle_node(name)
        for name in early:
            self.control_plane.wait_for_node(name)
        if self.scenario.headroom:
            self._add_pause_pods()

    def _add_pause_pods(self) -> None:
        """As ``evenkeel headroom`` prints them, each as large as a pod of the storm."""
        room = Room(size=SIZE, placeholders=self.scenario.headroom)
        made = printed.pause_pods(Kept(room), WELL_KNOWN, reserved=self.scenario.reserved)
        metadata = {"name": names.SYSTEM_NAMESPACE}
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        self.control_plane.apply(namespace, *made)

        def are_there() -> bool:
            pods = self.control_plane.items("v1", "Pod", names.SYSTEM_NAMESPACE)
            running = [pod for pod in pods if pod["status"]["phase"] == "Running"]
            return len(running) >= self.scenario.headroom

        self.control_plane.wait_for("the pause pods to run", are_there, seconds=FILLING)

    def add_idle_node(self, name: str) -> None:
        """Add one on-demand node, and do not wait for it."""
        self._add_node(name, spot=False, pods=self.scenario.per_idle, wait=False)

    def _add_reserved_node(self, name: str, pods: int) -> None:
        kept = {names.HEADROOM: names.SINGLES}
        taints = [{"key": key, "value": of, "effect": "NoSchedule"} for key, of in kept.items()]
        self._add_node(name, spot=False, pods=pods, labels=kept, taints=taints, wait=False)

    def _add_spot_nodes(self) -> None:
        """Add them, and wait until they are Ready."""
        for instance_id, name in self.spot.items():
            provider_id = f"aws:///eu-central-1a/{instance_id}"
            self._add_node(
                name,
                spot=True,
                pods=self.scenario.per_spot,
                provider_id=provider_id,
                wait=False,
            )
        for name in self.spot.values():
            self.control_plane.wait_for_node(name)

    def set_unschedulable(self, name: str, *, value: bool) -> None:
        """Cordon a node, or lift that."""
        self.control_plane.merge("v1", "Node", name, {"spec": {"unschedulable": value}})

    def ready(self) -> int:
        """How many replicas are available, as the workloads' own status says."""
        return sum(
            item.get("status", {}).get("availableReplicas", 0)
            for item in self.control_plane.items("apps/v1", "Deployment", NAMESPACE, OWN)
        )

    def limit_controllers(self) -> None:
        """Restart the controller manager as Kubernetes starts it, if the scenario says so."""
        if self.scenario.slow:
            restart_controller_manager(self.control_plane)
            self._wait_for_controllers()

    def _wait_for_controllers(self) -> None:
        """Wait until Deployments are acted upon: a new controller manager lists everything first.

        It would otherwise have less time for the storm than for what is measured beside it. It
        also goes through all nodes once, at its own rate.
        """
        probe = deployment("probe", 1)
        for kind in (probe["metadata"], probe["spec"]["template"]["metadata"]):
            kind["labels"] = {"app": "probe"}
        self.control_plane.apply(probe)
        query = "labelSelector=app%3Dprobe"

        def is_there() -> bool:
            return bool(self.control_plane.items("v1", "Pod", NAMESPACE, query))

        self.control_plane.wait_for("the controllers to work", is_there, seconds=60.0)
        self.control_plane.delete("apps/v1", "Deployment", "probe", NAMESPACE)
        self.control_plane.wait_for("it to go", lambda: not is_there(), seconds=60.0)
        seen: list[set[str]] = [set()]

        def settled() -> bool:
            time.sleep(3.0)  # noqa: TID251 - another process's time
            nodes = self.control_plane.items("v1", "Node")
            seen.append({node["metadata"]["resourceVersion"] for node in nodes})
            return seen[-1] == seen[-2]

        self.control_plane.wait_for("the nodes to settle", settled, seconds=60.0)

    def pending(self) -> int:
        """How many pods wait for a node."""
        query = f"{OWN}&fieldSelector=status.phase%3DPending%2Cspec.nodeName%3D"
        return len(self.control_plane.items("v1", "Pod", NAMESPACE, query))

    def staying(self, nodes: Container[str]) -> int:
        """How many pods are on these nodes that were not told to go."""
        pods = self.control_plane.items("v1", "Pod", NAMESPACE, OWN)
        return sum(
            pod["spec"].get("nodeName") in nodes and "deletionTimestamp" not in pod["metadata"]
            for pod in pods
        )

    def _add_node(
        self,
        name: str,
        *,
        spot: bool,
        pods: int,
        labels: Mapping[str, str] = MappingProxyType({}),
        **others: Any,
    ) -> None:
        self.control_plane.add_node(
            name,
            spot=spot,
            pods=pods,
            cpu="64",
            memory="256Gi",
            labels={CAPACITY: "spot" if spot else "on-demand", **labels},
            **others,
        )


def delete_all(control_plane: ControlPlane) -> None:
    """Delete every pod of the storm, as fast as the API server takes it; wait for none's end."""
    names = [
        pod["metadata"]["name"]
        for pod in control_plane.items("v1", "Pod", NAMESPACE, OWN)
        if "deletionTimestamp" not in pod["metadata"]
    ]

    def delete(name: str) -> None:
        control_plane.delete("v1", "Pod", name, NAMESPACE)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(delete, names))


def restart_controller_manager(control_plane: ControlPlane, *flags: str) -> None:
    """Replace the controller manager by one with Kubernetes' default limits, and these flags.

    The cluster's keeper ends every process whose id is in its folder, so the new one takes
    the old one's place there.
    """
    (pid_file,) = control_plane.kubeconfig.parent.glob(
        "clusters/*/pids/kube-controller-manager.pid"
    )
    pid = int(pid_file.read_text())
    arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]
    kept = [each for each in arguments if not each.startswith("--kube-api-")]
    os.kill(pid, signal.SIGTERM)
    with contextlib.suppress(ProcessLookupError):
        for _ in range(100):
            os.kill(pid, 0)
            time.sleep(0.1)  # noqa: TID251 - another process's time
    with (control_plane.kubeconfig.parent / "controller-manager.log").open("wb") as log:
        started = subprocess.Popen(
            [*kept, "--kube-api-qps=20", "--kube-api-burst=30", *flags],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    pid_file.write_text(str(started.pid))
