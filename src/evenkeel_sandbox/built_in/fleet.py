"""The nodes of the built-in cluster: 60 EC2 instances in three zones, 40 of them spot."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from evenkeel_sandbox.simulator.api.resources import manifest

REGION: Final = "eu-central-1"
ZONES: Final = tuple(REGION + letter for letter in "abc")

GPU_TYPE: Final = "g5.xlarge"
"""The type of the only two nodes that a certain Deployment accepts."""

GPU_TAINT: Final = "nvidia.com/gpu"
"""Keeps all other pods off these two."""

KARPENTER: Final = {"karpenter.sh/nodepool": "spot", "karpenter.sh/capacity-type": "spot"}
BURST: Final = {"eks.amazonaws.com/nodegroup": "burst", "eks.amazonaws.com/capacityType": "SPOT"}
BASE: Final = {"eks.amazonaws.com/nodegroup": "base", "eks.amazonaws.com/capacityType": "ON_DEMAND"}


@dataclass(frozen=True, slots=True)
class Size:
    """What an instance type leaves for pods (the rest is the kubelet's and the system's)."""

    cpu: str
    memory: str
    pods: int


SIZES: Final = {
    "m6i.xlarge": Size("3920m", "14Gi", 58),
    "c6i.2xlarge": Size("7910m", "14Gi", 58),
    "r6i.xlarge": Size("3920m", "29Gi", 58),
    GPU_TYPE: Size("3920m", "14Gi", 58),
}

POOLS: Final = (
    (KARPENTER, "m6i.xlarge", 14),
    (KARPENTER, "c6i.2xlarge", 10),
    (KARPENTER, GPU_TYPE, 2),
    (BURST, "r6i.xlarge", 14),
    (BASE, "m6i.xlarge", 20),
)
"""Who made the nodes, their type, and how many of them there are."""


def spot() -> list[dict[str, Any]]:
    """The manifests of the 40 spot nodes."""
    return _nodes(BURST, KARPENTER)


def on_demand() -> list[dict[str, Any]]:
    """The manifests of the 20 on-demand nodes."""
    return _nodes(BASE)


def replacements(names: Collection[str]) -> list[dict[str, Any]]:
    """The manifests of new nodes, each as the one of these names that it comes instead of."""
    known = _kinds()
    lost = [(n, kind) for n, kind in enumerate(known) if _name(n) in names]
    return [_node(len(known) + n, labels, type_) for n, (labels, type_) in lost]


def _nodes(*makers: dict[str, str]) -> list[dict[str, Any]]:
    return [
        _node(number, labels, type_)
        for number, (labels, type_) in enumerate(_kinds())
        if labels in makers
    ]


def _kinds() -> list[tuple[dict[str, str], str]]:
    """The labels and the type of each node."""
    return [(labels, type_) for labels, type_, count in POOLS for _ in range(count)]


def _node(number: int, labels: dict[str, str], instance_type: str) -> dict[str, Any]:
    zone = number % len(ZONES)
    name = _name(number)
    size = SIZES[instance_type]
    spec: dict[str, Any] = {"providerID": f"aws:///{ZONES[zone]}/{_instance_id(name)}"}
    if instance_type == GPU_TYPE:
        spec["taints"] = [{"key": GPU_TAINT, "value": "present", "effect": "NoSchedule"}]
    room = {"cpu": size.cpu, "memory": size.memory, "pods": str(size.pods)}
    its = {
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": instance_type,
        "topology.kubernetes.io/region": REGION,
        "topology.kubernetes.io/zone": ZONES[zone],
        **labels,
    }
    status = {"capacity": room, "allocatable": room}
    return manifest("Node", name, labels=its, spec=spec, status=status)


def _name(number: int) -> str:
    zone, host = number % len(ZONES), 11 + 4 * (number % 60)
    return f"ip-10-0-{32 * zone + number // 20}-{host}.{REGION}.compute.internal"


def _instance_id(name: str) -> str:
    """The same in every run, and no instance that the sample events know."""
    return "i-0" + hashlib.sha256(name.encode()).hexdigest()[:16]
