"""Others that drain nodes too, as far as they can be seen, and how Evenkeel gets on with them.

docs/compatibility.md has the same at more length.
"""

from collections.abc import Sequence
from typing import Final

from evenkeel.flows.reads import list_all
from evenkeel.model import names
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster
from evenkeel_cli.output import Item

NODE_GROUP: Final = "eks.amazonaws.com/nodegroup"
NODE_POOL: Final = "karpenter.sh/nodepool"
EKS_AUTO_MODE: Final = "EKS Auto Mode"


class Drainer(Item, frozen=True):
    """Another drainer: who it is, how it was seen, and how the two get on."""

    name: str
    seen: str
    terms: str


KARPENTER: Final = (
    "if it reads interruptions from a queue, it drains the node on the same warning, beside"
    " Evenkeel; its drain waits for released pods (they carry karpenter.sh/do-not-disrupt), and"
    " asks for the eviction of the others. Behind the eviction gate those wait for their"
    " replacements, and the queue may stay on; without the gate leave it empty, so that one of the"
    " two handles interruptions"
)
AUTO: Final = (
    "EKS Auto Mode handles interruptions of its nodes itself, as Karpenter does, and that cannot"
    " be switched off; its drain waits for released pods (they carry karpenter.sh/do-not-disrupt)."
    " Behind the eviction gate the others wait for their replacements, too"
)
TERMINATION_HANDLER: Final = (
    "it acts on the same notices and asks for the eviction of all pods of the node at once. Behind"
    " the eviction gate each waits for its replacement; without the gate a pod is missing until its"
    " replacement runs: then switch its enableSpotInterruptionDraining and enableRebalanceDraining"
    " off, or uninstall it"
)
MANAGED_GROUP: Final = (
    "EKS drains the node on a rebalance recommendation once a new node is ready, and on an"
    " interruption warning, and that cannot be switched off. Behind the eviction gate each pod"
    " waits for its replacement; without the gate only a budget keeps it until Evenkeel's"
    " replacement counts"
)
AUTOSCALER: Final = (
    "it evicts only from nodes that it means to remove for want of use, which an emptied doomed"
    " node is; the two do not collide. Behind the eviction gate its evictions wait for their"
    " replacements, for two minutes by its own default"
)

PODS: Final = (
    ("Karpenter", "app.kubernetes.io/name=karpenter", KARPENTER),
    (
        "AWS node termination handler",
        "app.kubernetes.io/name=aws-node-termination-handler",
        TERMINATION_HANDLER,
    ),
    (
        "cluster autoscaler",
        "app.kubernetes.io/name in (aws-cluster-autoscaler,cluster-autoscaler)",
        AUTOSCALER,
    ),
    ("cluster autoscaler", "k8s-app=cluster-autoscaler", AUTOSCALER),
    ("cluster autoscaler", "app=cluster-autoscaler", AUTOSCALER),
)
"""Labels of their pods, as their charts and manifests set them."""


def find(cluster: Cluster, nodes: Sequence[Node]) -> list[Drainer]:
    """The drainers that look after these nodes, or run in the cluster. Raises ClusterError."""
    found = _of_nodes(nodes)
    requests = [List(Selection(Pod, labels=labels), fresh=False, limit=1) for _, labels, _ in PODS]
    for (name, _, terms), pods in zip(PODS, list_all(cluster, requests), strict=True):
        if pods and all(drainer.name != name for drainer in found):
            pod = pods[0]
            found.append(Drainer(name, f"pod {pod.namespace}/{pod.name}", terms))
    return found


def _of_nodes(nodes: Sequence[Node]) -> list[Drainer]:
    found: dict[str, Drainer] = {}
    for node in nodes:
        labels = node.metadata.labels
        if labels.get(names.EKS_COMPUTE) == "auto":
            seen = f"label {names.EKS_COMPUTE}=auto"
            found.setdefault(EKS_AUTO_MODE, Drainer(EKS_AUTO_MODE, seen, AUTO))
        elif NODE_POOL in labels:
            seen = f"label {NODE_POOL}={labels[NODE_POOL]}"
            found.setdefault("Karpenter", Drainer("Karpenter", seen, KARPENTER))
        if NODE_GROUP in labels:
            seen = f"label {NODE_GROUP}={labels[NODE_GROUP]}"
            drainer = Drainer("EKS managed node group", seen, MANAGED_GROUP)
            found.setdefault(drainer.name, drainer)
    return list(found.values())
