"""The real Karpenter with nodes of kwok's: it consolidates a node, replaces a drifted one."""

import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from bench.conditions import ROOT
from bench.lab.drainers import Drainer, Site
from bench.lab.manifests import NAMESPACE
from tests.e2e.manifests import deployment
from tests.kit.drainers import binaries

POOL: Final = "default"
GROUP: Final = "karpenter.sh"
FILLER: Final = "filler"
FILLER_CPU: Final = "12"
"""More than all workloads: without it the node is much too large."""
WARNING: Final = ROOT / "events" / "interruption-warning-terminate.json"
INSTANCE: Final = msgspec.json.decode(WARNING.read_bytes())["detail"]["instance-id"]

type Manifest = Mapping[str, Any]


class Karpenter(Drainer):
    """Karpenter at work on a cluster of its own, with one pool of nodes.

    ``grace``: the nodes' terminationGracePeriod, after which it deletes what it could not evict.
    """

    grace = ""
    capacity = "on-demand"

    def __init__(self, site: Site, log: Path) -> None:
        """It does not run yet, and there is no node."""
        super().__init__(site, log)
        self._old: Collection[str] = ()

    def prepare(self) -> None:
        """Karpenter runs, and makes a node for the workloads and a filler once they are there."""
        control_plane = self.site.control_plane
        crds = sorted((binaries() / "karpenter-crds").glob("*.yaml"))
        options = [f"--filename={file}" for file in crds]
        control_plane.kubectl("apply", "--server-side", *options)
        control_plane.kubectl(
            "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all", seconds=90
        )
        for manifest, plural in ((_node_class(), "kwoknodeclasses"), (self._pool(), "nodepools")):
            control_plane.request("POST", f"apis/{manifest['apiVersion']}/{plural}", manifest)
        self.start(
            binaries() / "karpenter",
            KUBECONFIG=str(control_plane.kubeconfig),
            SYSTEM_NAMESPACE="kube-system",
            KARPENTER_SERVICE="karpenter",
            DISABLE_LEADER_ELECTION="true",
            METRICS_PORT="0",
            HEALTH_PROBE_PORT="0",
            MEMORY_LIMIT=str(1024**3),
            CPU_REQUESTS="1000",
        )
        self.site.apply(deployment(FILLER, 1, cpu=FILLER_CPU))

    def begin(self) -> None:
        """What makes Karpenter disrupt the node."""
        self._old = self.site.occupied()
        self.disrupt()

    def disrupt(self) -> None:
        """A label of the pool's template changes: the node is not what it says any more."""
        labels = {"evenkeel-bench/generation": "2"}
        self.change_pool({"template": {"metadata": {"labels": labels}}})

    def is_done(self) -> bool:
        """Whether the node that all pods were on is gone."""
        nodes = self.site.control_plane.items("v1", "Node")
        return not any(node["metadata"]["name"] in self._old for node in nodes)

    def delete_claims(self) -> None:
        """So Karpenter acts on an interruption warning in its queue."""
        path = f"apis/{GROUP}/v1/nodeclaims"
        for claim in self.site.control_plane.request("GET", path)["items"]:
            self.site.control_plane.request("DELETE", f"{path}/{claim['metadata']['name']}")

    def change_pool(self, spec: Manifest) -> None:
        """Change the pool."""
        self.site.control_plane.request(
            "PATCH",
            f"apis/{GROUP}/v1/nodepools/{POOL}",
            {"spec": spec},
            "application/merge-patch+json",
        )

    def _pool(self) -> Manifest:
        requirements = {
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/os": "linux",
            "karpenter.sh/capacity-type": self.capacity,
        }
        spec = {
            "requirements": [
                {"key": key, "operator": "In", "values": [value]}
                for key, value in requirements.items()
            ],
            "nodeClassRef": {"name": POOL, "kind": "KWOKNodeClass", "group": "karpenter.kwok.sh"},
            "expireAfter": "Never",
        }
        if self.grace:
            spec["terminationGracePeriod"] = self.grace
        disruption = {
            "consolidationPolicy": "WhenEmpty",
            "consolidateAfter": "Never",
            "budgets": [{"nodes": "100%"}],
        }
        return {
            "apiVersion": f"{GROUP}/v1",
            "kind": "NodePool",
            "metadata": {"name": POOL},
            "spec": {"template": {"spec": spec}, "disruption": disruption},
        }


class DriftWithGrace(Karpenter):
    """The same where a node has 90 s to end."""

    grace = "90s"


class Consolidation(Karpenter):
    """The filler goes, and the node is larger than need be."""

    def disrupt(self) -> None:
        """Take the filler away, and let Karpenter consolidate."""
        self.site.control_plane.delete("apps/v1", "Deployment", FILLER, NAMESPACE)
        policy = {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s"}
        self.change_pool({"disruption": policy})


class Interruption(Karpenter):
    """The node's claim is deleted, as for an interruption."""

    def disrupt(self) -> None:
        """Delete the claim."""
        self.delete_claims()


class Warned(Karpenter):
    """The same warning comes to Evenkeel, too, which believes it of spot nodes alone."""

    capacity = "spot"

    def disrupt(self) -> None:
        """Delete the claim, and replay the warning."""
        self.delete_claims()
        (node,) = self._old
        self.start(
            *(Path(sys.executable).with_name("evenkeel"), "replay", "--apply"),
            f"--kubeconfig={self.site.control_plane.kubeconfig}",
            f"--instance={INSTANCE}={node}",
            WARNING,
        )


def _node_class() -> Manifest:
    return {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": {"name": POOL},
        "spec": {},
    }
