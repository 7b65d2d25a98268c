"""The real Karpenter with nodes of kwok's: it consolidates a node, replaces a drifted one."""

import os
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from bench.drainers import binaries
from bench.drainers.drainer import ended, started
from bench.drainers.site import Site
from bench.store import ROOT
from bench.storm.workloads import NAMESPACE
from tests.e2e.manifests import deployment

SYSTEM: Final = "kube-system"
POOL: Final = "default"
GROUP: Final = "karpenter.sh"
FILLER: Final = "filler"
FILLER_CPU: Final = "12"
"""More than all workloads: without it the node is much too large."""

WARNING: Final = ROOT / "events" / "interruption-warning-terminate.json"
INSTANCE: Final = msgspec.json.decode(WARNING.read_bytes())["detail"]["instance-id"]

type Manifest = Mapping[str, Any]


class Karpenter:
    """Karpenter at work on a cluster of its own, with one pool of nodes."""

    def __init__(self, log: Path, *, grace: str = "", capacity: str = "on-demand") -> None:
        """It writes to this log. ``grace``: the nodes' terminationGracePeriod."""
        self._log = log
        self._grace = grace
        self._capacity = capacity
        self._process: subprocess.Popen[bytes] | None = None
        self._old: Collection[str] = ()

    def prepare(self, site: Site) -> None:
        """Karpenter runs, and makes a node for the workloads and a filler once they are there."""
        self._site = site
        control_plane = site.control_plane
        crds = sorted((binaries.folder() / "karpenter-crds").glob("*.yaml"))
        options = [f"--filename={file}" for file in crds]
        control_plane.kubectl("apply", "--server-side", *options)
        control_plane.kubectl(
            "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all", seconds=90
        )
        self._apply(_node_class(), _pool(self._grace, self._capacity))
        environment = {
            **os.environ,  # noqa: TID251 - a child's
            "KUBECONFIG": str(control_plane.kubeconfig),
            "SYSTEM_NAMESPACE": SYSTEM,
            "KARPENTER_SERVICE": "karpenter",
            "DISABLE_LEADER_ELECTION": "true",
            "METRICS_PORT": "0",
            "HEALTH_PROBE_PORT": "0",
            "MEMORY_LIMIT": str(1024**3),
            "CPU_REQUESTS": "1000",
        }
        self._process = started([binaries.folder() / "karpenter"], self._log, environment)
        site.apply(deployment(FILLER, 1, cpu=FILLER_CPU))

    def begin(self) -> None:
        """What makes Karpenter disrupt the node."""
        self._old = self._site.occupied()

    def is_done(self) -> bool:
        """Whether the node that all pods were on is gone."""
        nodes = self._site.control_plane.items("v1", "Node")
        return not any(node["metadata"]["name"] in self._old for node in nodes)

    def close(self) -> None:
        """End it."""
        ended(self._process)

    def _claims(self) -> Sequence[str]:
        """The names of Karpenter's NodeClaims."""
        found = self._site.control_plane.request("GET", f"apis/{GROUP}/v1/nodeclaims")
        return [claim["metadata"]["name"] for claim in found["items"]]

    def _change_pool(self, spec: Manifest) -> None:
        self._site.control_plane.request(
            "PATCH",
            f"apis/{GROUP}/v1/nodepools/{POOL}",
            {"spec": spec},
            "application/merge-patch+json",
        )

    def _apply(self, *manifests: Manifest) -> None:
        for manifest in manifests:
            plural = f"{manifest['kind'].lower()}{'es' if manifest['kind'].endswith('s') else 's'}"
            path = f"apis/{manifest['apiVersion']}/{plural}"
            self._site.control_plane.request("POST", path, manifest)


class Consolidation(Karpenter):
    """The filler goes, and the node is larger than need be."""

    def begin(self) -> None:
        """Take the filler away, and let Karpenter consolidate."""
        super().begin()
        self._site.control_plane.delete("apps/v1", "Deployment", FILLER, NAMESPACE)
        policy = {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s"}
        self._change_pool({"disruption": policy})


class Drift(Karpenter):
    """The pool's template changes, and the node is not what it says any more."""

    def begin(self) -> None:
        """Change a label of the template."""
        super().begin()
        labels = {"evenkeel-bench/generation": "2"}
        self._change_pool({"template": {"metadata": {"labels": labels}}})


class Interruption(Karpenter):
    """The node's claim is deleted: so Karpenter acts on an interruption warning in its queue."""

    def begin(self) -> None:
        """Delete the claim."""
        super().begin()
        for claim in self._claims():
            self._site.control_plane.request("DELETE", f"apis/{GROUP}/v1/nodeclaims/{claim}")


class Warned(Interruption):
    """The same warning comes to Evenkeel, too: both drain the node."""

    def __init__(self, log: Path) -> None:
        """Both write to this log. A warning is believed of spot nodes alone."""
        super().__init__(log, capacity="spot")
        self._replay: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Delete the claim, and replay the warning."""
        super().begin()
        (node,) = self._old
        command: list[str | Path] = [
            *(Path(sys.executable).with_name("evenkeel"), "replay", "--apply"),
            f"--kubeconfig={self._site.control_plane.kubeconfig}",
            f"--instance={INSTANCE}={node}",
            WARNING,
        ]
        self._replay = started(command, self._log, os.environ)  # noqa: TID251 - a child's

    def close(self) -> None:
        """End both."""
        ended(self._replay)
        super().close()


def _node_class() -> Manifest:
    return {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": {"name": POOL},
        "spec": {},
    }


def _pool(grace: str, capacity: str) -> Manifest:
    requirements = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "karpenter.sh/capacity-type": capacity,
    }
    spec = {
        "requirements": [
            {"key": key, "operator": "In", "values": [value]} for key, value in requirements.items()
        ],
        "nodeClassRef": {"name": POOL, "kind": "KWOKNodeClass", "group": "karpenter.kwok.sh"},
        "expireAfter": "Never",
    }
    if grace:
        spec["terminationGracePeriod"] = grace
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "NodePool",
        "metadata": {"name": POOL},
        "spec": {
            "template": {"spec": spec},
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": "Never",
                "budgets": [{"nodes": "100%"}],
            },
        },
    }
