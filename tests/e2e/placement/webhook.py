"""The webhook as a process of its own, which the real API server calls over TLS."""

import os
import re
import secrets
import selectors
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel_cli.placement_policy import policy
from evenkeel_runtime.kubeconfig import from_kubeconfig
from tests.kit.certificates import Authority, Pair
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.manifests import SYSTEM, Manifest, bare_pod
from tests.kit.policies import needs_mutating
from tests.kit.processes import awaited

CLUSTER_NAME = "e2e"
COMMAND = "evenkeel_cli.main"
EVENKEEL = (sys.executable, "-m", COMMAND)
LONGEST = 10
"""Seconds that the API server waits for an answer. On a busy machine, too, tests see what it is."""
ADMISSION = "admissionregistration.k8s.io/v1"
LEASES = f"apis/coordination.k8s.io/v1/namespaces/{names.SYSTEM_NAMESPACE}/leases"


def printed(*arguments: str) -> str:
    """What the command prints."""
    return subprocess.run(
        [*EVENKEEL, *arguments], capture_output=True, text=True, timeout=180, check=True, cwd=ROOT
    ).stdout


class Webhook:
    """``evenkeel serve`` at work.

    ``pair``: its certificate. ``command``: the module that is the command. ``options`` are further
    ones of the command's.
    """

    def __init__(
        self,
        folder: Path,
        pair: Pair,
        token: str,
        kubeconfig: Path,
        command: str = COMMAND,
        options: Sequence[str] = (),
    ) -> None:
        certificate, key = pair.write(folder, "server")
        self.log = folder / f"serve-{secrets.token_hex(4)}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", command),
                    *("serve", "--port", "0", "--bind", "127.0.0.1"),
                    *("--tls-cert", certificate, "--tls-key", key),
                    *("--kubeconfig", kubeconfig, "--cluster-name", CLUSTER_NAME),
                    *options,
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | {"EVENKEEL_WEBHOOK_TOKEN": token},  # noqa: TID251 - a child's
                cwd=ROOT,
            )
        self.port = int(awaited(self.process, self.log, self._port))

    def _port(self) -> str:
        """The port that it took, once it says so."""
        found = re.search(r"serves https on port (\d+)\n", self.log.read_text())
        return found[1] if found else ""

    def kill(self) -> None:
        """Take it away."""
        self.process.kill()
        self.process.wait(15)


class Relay:
    """A port that leads to several others in turn, as a load balancer does.

    One that refuses a connection is passed over.
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = ports
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        turn = 0
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                first = turn % len(self._ports)
                turn += 1
                ports = [*self._ports[first:], *self._ports[:first]]
                threading.Thread(target=self._relay, args=(client, ports), daemon=True).start()

    def _relay(self, client: socket.socket, ports: Sequence[int]) -> None:
        with (
            client,
            suppress(OSError),
            _connected(ports) as server,
            selectors.DefaultSelector() as ready,
        ):
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in ready.select(60):
                    part = key.fileobj.recv(65536)  # type: ignore[union-attr] # a socket
                    if not part:
                        return
                    key.data.sendall(part)


def _connected(ports: Sequence[int]) -> socket.socket:
    """A connection to the first of these ports that takes one. Raises OSError."""
    for port in ports[:-1]:
        with suppress(ConnectionRefusedError):
            return socket.create_connection(("127.0.0.1", port))
    return socket.create_connection(("127.0.0.1", ports[-1]))


class Ground:
    """A managed namespace with spot and on-demand nodes, on an API server with the webhook."""

    def __init__(self, control_plane: ControlPlane, namespace: str, folder: Path) -> None:
        self.control_plane = control_plane
        self.namespace = namespace
        self.folder = folder
        self.kubeconfig = control_plane.kubeconfig
        self.authority = Authority()
        self.token = secrets.token_hex(32)
        self.webhooks: list[Webhook] = []
        self._relays: list[Relay] = []

    def close(self) -> None:
        """Take away what is not the namespace's."""
        for kind, name in (
            ("MutatingWebhookConfiguration", "evenkeel"),
            ("ValidatingWebhookConfiguration", "evenkeel-gate"),
            ("MutatingWebhookConfiguration", "evenkeel-gate"),
            ("MutatingAdmissionPolicyBinding", names.PLACING),
            ("MutatingAdmissionPolicy", names.PLACING),
        ):
            self.control_plane.delete(ADMISSION, kind, name)
        self.cluster.close()
        for relay in self._relays:
            relay.close()
        for webhook in self.webhooks:
            webhook.kill()
            sys.stdout.write(webhook.log.read_text())
        for mark in (names.CLAIM_OF, names.MOVE_OF, names.TEMPLATE_OF):
            label = mark.replace("/", "%2F")
            self.control_plane.request("DELETE", f"{LEASES}?labelSelector={label}")
        self.control_plane.request("DELETE", f"{LEASES}/{names.SPOT_REST}", fine=(404,))

    @cached_property
    def cluster(self) -> RestCluster:
        """The cluster as the webhook sees it, unless a test has it see another."""
        return from_kubeconfig(kubeconfig=str(self.kubeconfig))

    # The webhook.

    def start(
        self,
        processes: int = 1,
        *,
        kubeconfig: Path | None = None,
        host: str = "127.0.0.1",
        command: str = COMMAND,
        options: Sequence[str] = (),
    ) -> int:
        """Start the webhook, as the ground's user or another; the port that leads to it.

        ``host`` is what the API server calls it. See ``Webhook`` for the others.
        """
        kubeconfig = kubeconfig or self.kubeconfig
        for _ in range(processes):
            made = Webhook(
                *(self.folder, self.authority.issue("webhook", host), self.token, kubeconfig),
                command,
                options,
            )
            self.webhooks.append(made)
        return self._port()

    def serve(
        self, processes: int = 1, *, kubeconfig: Path | None = None, host: str = "127.0.0.1"
    ) -> None:
        """Start the webhook, and tell the API server to ask it about new pods."""
        self.configure(self.start(processes, kubeconfig=kubeconfig, host=host), host)

    def _port(self) -> int:
        """The port of the only webhook, or one that leads to all there are."""
        if len(self.webhooks) == 1:
            return self.webhooks[0].port
        self._relays.append(Relay([each.port for each in self.webhooks]))
        return self._relays[-1].port

    def gate(self, host: str = "127.0.0.1", *, kind: str = "") -> None:
        """Let the API server, which calls them so, ask the webhooks about evictions, too.

        ``kind``: that of the configuration, if it is another one.
        """
        self.control_plane.label_namespace(self.namespace, names.GATE)
        before = self._reviews()
        self.apply_configuration(self._port(), host, "--gate", kind=kind)
        self.wait_for("the API server to ask the gate", lambda: self._is_gating(before))

    def _is_gating(self, before: int) -> bool:
        """Whether a review of an eviction arrives; it is one of a pod that is not there."""
        probe = f"probe-{secrets.token_hex(4)}"
        self.control_plane.evict(self.namespace, probe, dry_run=True, fine=(404,))
        return self._reviews() > before

    def _reviews(self) -> int:
        """How many reviews were answered."""
        return self.log().count("method=POST")

    def configure(self, port: int, host: str = "127.0.0.1") -> None:
        """Apply what ``evenkeel webhook-config`` prints, for this namespace alone."""
        self.apply_configuration(port, host)
        self.wait_for("the API server to ask the webhook", self.is_asked)

    def apply_configuration(self, port: int, host: str, *options: str, kind: str = "") -> None:
        """Apply what ``evenkeel webhook-config`` prints, and wait for nothing."""
        authority = self.folder / "ca.crt"
        authority.write_text(self.authority.certificate)
        url = f"https://{host}:{port}/v1/{self.token}"
        text = printed(
            "webhook-config", "--url", url, "--certificate-authority", str(authority), *options
        )
        configuration = yaml.safe_load(text)
        configuration["kind"] = kind or configuration["kind"]
        (webhook,) = configuration["webhooks"]
        webhook["timeoutSeconds"] = LONGEST
        self._apply_here(configuration, webhook["namespaceSelector"])

    def _apply_here(self, manifest: Manifest, selector: Manifest) -> None:
        """Apply what selects namespaces, for this one and those whose names begin like it."""
        here = [each["metadata"]["name"] for each in self.control_plane.items("v1", "Namespace")]
        values = [each for each in here if each.startswith(self.namespace)]
        selector["matchExpressions"].append(
            {"key": names.NAMESPACE_NAME, "operator": "In", "values": values}
        )
        self.control_plane.apply(manifest)

    def police(self, labels: CapacityLabels = WELL_KNOWN) -> None:
        """Have the API server place pods by itself, with no webhook."""
        needs_mutating(self.control_plane)
        made, binding = (deepcopy(dict(each)) for each in policy(labels))
        # Its errors fail the test, and no pod goes without a place for one.
        made["spec"]["failurePolicy"] = "Fail"
        self.control_plane.apply(made)
        self._apply_here(binding, binding["spec"]["matchResources"]["namespaceSelector"])
        self.wait_for("the policy to be in force", self._is_policed)

    def _is_policed(self) -> bool:
        """Whether a pod that asks for on-demand is given it."""
        notes = {names.ON_DEMAND: "all"}
        return bool(self.would_be(bare_pod("probe", image="probe", annotations=notes)))

    def would_be(self, asked: Manifest) -> str:
        """The capacity type that a pod would be given; it is made in a dry run."""
        path = f"api/v1/namespaces/{self.namespace}/pods?dryRun=All"
        body = {**asked, "metadata": {**asked["metadata"], "namespace": self.namespace}}
        made = self.control_plane.request("POST", path, body)
        capacity: str = made["metadata"].get("labels", {}).get(names.CAPACITY, "")
        return capacity

    def unserve(self) -> None:
        """Tell the API server of no webhook any more, and forget those that there were."""
        self.control_plane.kubectl("delete", "mutatingwebhookconfiguration", "evenkeel")
        for webhook in self.webhooks:
            webhook.kill()
        self.webhooks.clear()

    def is_asked(self) -> bool:
        """Whether a review arrives: the API server takes up a configuration when it likes."""
        self.control_plane.try_pod(self.namespace, fine=(403,))
        return any("pod " in each.log.read_text() for each in self.webhooks)

    def log(self) -> str:
        """What all webhooks wrote."""
        return "".join(webhook.log.read_text() for webhook in self.webhooks)

    # The cluster.

    def add_nodes(self, *, spot: int = 3, on_demand: int = 2, **options: Any) -> None:
        """Add nodes with room for all."""
        kinds = [("spot", True)] * spot + [("demand", False)] * on_demand
        nodes = [
            (f"{self.namespace}-{kind}-{number}", is_spot)
            for number, (kind, is_spot) in enumerate(kinds)
        ]
        for name, is_spot in nodes:
            taints = options.get("taints", ()) if is_spot else ()
            self.control_plane.add_node(
                name, spot=is_spot, cpu="64", pods=200, wait=False, taints=taints
            )
        for name, _ in nodes:
            self.control_plane.wait_for_node(name)

    def apply(self, *manifests: Manifest) -> None:
        """Apply manifests in the namespace."""
        self.control_plane.apply(*manifests, namespace=self.namespace)

    def scale(self, kind: str, name: str, replicas: int) -> None:
        """Set a workload's replicas."""
        body = {"spec": {"replicas": replicas}}
        self.control_plane.merge("apps/v1", kind, name, body, self.namespace)

    def pods(self) -> Sequence[dict[str, Any]]:
        """The pods that were not told to go."""
        return self.control_plane.pods(self.namespace)

    def settled(self, number: int, *, every: float = 0.1) -> Sequence[dict[str, Any]]:
        """The pods, once there are exactly so many and all have a node."""

        def look() -> Sequence[dict[str, Any]] | None:
            pods = self.pods()
            done = len(pods) == number and all(pod["spec"].get("nodeName") for pod in pods)
            return pods if done else None

        return self.wait_for(f"{number} pods on nodes", look, every=every)

    def wait_for[T](self, what: str, probe: Callable[[], T | None], *, every: float = 0.1) -> T:
        """Ask until the answer is truthy; a machine that others use takes its time."""
        return self.control_plane.wait_for(what, probe, every=every)


def on_demand(pods: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that run on on-demand nodes."""
    return [pod for pod in pods if "-demand-" in pod["spec"]["nodeName"]]


@contextmanager
def opened(control_plane: ControlPlane, namespace: str, folder: Path) -> Iterator[Ground]:
    """A ground, and at the end nothing of it outside the namespace."""
    control_plane.label_namespace(namespace, names.MANAGED)
    control_plane.apply(SYSTEM)
    ground = Ground(control_plane, namespace, folder)
    try:
        yield ground
    finally:
        ground.close()
