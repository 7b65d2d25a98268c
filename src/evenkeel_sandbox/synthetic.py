"""A cluster of any size at rest, made up: what a snapshot of one would hold."""

import random
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Final

from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import Obj

SINCE: Final = "2026-01-01T00:00:00Z"
READY: Final = "2026-01-01T00:00:20Z"
"""A pod was Ready 20 s after it had a node."""

REGION: Final = "eu-central-1"
ZONES: Final = tuple(REGION + letter for letter in "abc")
TYPES: Final = ("m6i.4xlarge", "m5.4xlarge", "c6i.8xlarge", "r6i.4xlarge")
SPOT_OF_TEN: Final = 7
"""Of ten nodes so many are spot."""

SPARE_OF_TEN: Final = 2
"""Of ten places on a node so many are free."""

MOST_ON_A_NODE: Final = 80
"""Pods. A kubelet takes 110, and some come while others are still there."""

SIZES: Final = (1, 1, 2, 3, 3, 6, 10, 20, 40, 80)
"""Replicas of the workloads, in turn."""

NAMESPACES: Final = 10
SEED: Final = 6
CPU: Final = 250
"""Thousandths of a core that a pod asks for."""


def objects(nodes: int, pods: int) -> Sequence[Obj]:
    """So many nodes and pods, and the workloads of the pods, as an API server shows them.

    Seven of ten nodes are spot, of four types in three zones, and the pods lie evenly on all nodes.
    A workload in five has one replica. A fifth of each node is free.
    """
    per_node = -(-pods // nodes)
    places = [number % nodes for number in range(per_node * nodes)]
    random.Random(SEED).shuffle(places)
    room = per_node * CPU * 10 // (10 - SPARE_OF_TEN)
    made = [_namespace(number) for number in range(NAMESPACES)]
    made += [_node(number, room) for number in range(nodes)]
    for workload, first, size in _workloads(pods):
        made += _deployment(workload, size)
        made += [_pod(workload, n, places[first + n]) for n in range(size)]
    return made


def _workloads(pods: int) -> Iterator[tuple[int, int, int]]:
    """The number of each workload, its first pod and its size."""
    first = 0
    for number in count():
        size = min(SIZES[number % len(SIZES)], pods - first)
        if not size:
            return
        yield number, first, size
        first += size


def _metadata(name: str, kind: str, namespace: str = "", **others: Any) -> dict[str, Any]:
    placed = {"namespace": namespace} if namespace else {}
    uid = f"{kind.lower()}-{name}"
    return {"name": name, "uid": uid, "creationTimestamp": SINCE, **placed, **others}


def _namespace(number: int) -> Obj:
    name = f"team-{number}"
    metadata = _metadata(name, "Namespace", labels={names.MANAGED: names.TRUE})
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _node(number: int, room: int) -> Obj:
    is_spot = number % 10 < SPOT_OF_TEN
    name, zone = f"node-{number}", ZONES[number % len(ZONES)]
    labels = {
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": TYPES[number // 10 % len(TYPES)],
        "topology.kubernetes.io/zone": zone,
        "karpenter.sh/capacity-type": "spot" if is_spot else "on-demand",
    }
    size = {"cpu": f"{room}m", "memory": "256Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": _metadata(name, "Node", labels=labels),
        "spec": {"providerID": f"aws:///{zone}/i-{number:017x}"},
        "status": {"capacity": size, "allocatable": size, "conditions": [_true("Ready")]},
    }


def _deployment(number: int, size: int) -> Sequence[Obj]:
    """A Deployment and its ReplicaSet."""
    name, namespace = f"app-{number}", f"team-{number % NAMESPACES}"
    labels, hash_ = {"app": name}, {"pod-template-hash": _hash(number)}
    ready = {"replicas": size, "readyReplicas": size, "availableReplicas": size}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(
            name,
            "Deployment",
            namespace,
            generation=1,
            annotations={"deployment.kubernetes.io/revision": "1"},
        ),
        "spec": {
            "replicas": size,
            "selector": {"matchLabels": labels},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            },
            "template": {"metadata": {"labels": labels}, "spec": _spec()},
        },
        "status": {**ready, "updatedReplicas": size, "observedGeneration": 1},
    }
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": _metadata(
            f"{name}-{_hash(number)}",
            "ReplicaSet",
            namespace,
            generation=1,
            labels=labels | hash_,
            annotations={"deployment.kubernetes.io/revision": "1"},
            ownerReferences=[_owner("Deployment", name)],
        ),
        "spec": {
            "replicas": size,
            "selector": {"matchLabels": labels | hash_},
            "template": {"metadata": {"labels": labels | hash_}, "spec": _spec()},
        },
        "status": {**ready, "fullyLabeledReplicas": size, "observedGeneration": 1},
    }
    return [deployment, replica_set]


def _pod(workload: int, number: int, node: int) -> Obj:
    namespace = f"team-{workload % NAMESPACES}"
    late = [_true(kind, READY) for kind in ("Initialized", "ContainersReady", "Ready")]
    conditions = [_true("PodScheduled"), *late]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(
            f"app-{workload}-{_hash(workload)}-{number}",
            "Pod",
            namespace,
            labels={"app": f"app-{workload}", "pod-template-hash": _hash(workload)},
            ownerReferences=[_owner("ReplicaSet", f"app-{workload}-{_hash(workload)}")],
        ),
        "spec": {**_spec(), "nodeName": f"node-{node}", "terminationGracePeriodSeconds": 30},
        "status": {"phase": "Running", "startTime": SINCE, "conditions": conditions},
    }


def _hash(workload: int) -> str:
    """The template hash of a workload's pods: no two templates are the same."""
    return f"{workload:08x}"


def _owner(kind: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": name,
        "uid": _metadata(name, kind)["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _true(kind: str, since: str = SINCE) -> dict[str, str]:
    return {"type": kind, "status": "True", "lastTransitionTime": since}


def _spec() -> dict[str, Any]:
    requests = {"cpu": f"{CPU}m", "memory": "256Mi"}
    return {"containers": [{"name": "app", "image": "app", "resources": {"requests": requests}}]}
