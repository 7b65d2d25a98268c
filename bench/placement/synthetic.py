"""An API server that makes its objects up while it lists them, as JSON of a real one's size.

None of them is kept, so that a process that lists them has nothing in memory but what it keeps.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes.endpoint import Limits
from evenkeel.adapters.kubernetes.omissions import Omissions
from evenkeel.adapters.kubernetes.transport import SILENT, Answered, Transport
from evenkeel.adapters.kubernetes.versions import Versions
from evenkeel.adapters.kubernetes.wire import Call
from evenkeel.ports import TimeLeft

PODS_OF_A_NODE: Final = 30
REPLICAS: Final = 50
"""Of each Deployment; a tenth of the pods are of StatefulSets of five."""

ORDINALS: Final = 5
NAMESPACES: Final = 100
OLD_REPLICA_SETS: Final = 5
SINCE: Final = "2026-01-01T00:00:00Z"
POD_BYTES: Final = 8_000
NODE_BYTES: Final = 13_000

type Make = Callable[[int], bytes]


class SyntheticServer(Transport):
    """Answers at once, without HTTP. ``served_seconds`` of CPU are its own, not its client's.

    Three of four nodes are spot. Pods lie on the nodes in turn, so a workload's split is that of
    the nodes: with a floor of 30 % each Deployment is a few pods short of it.
    """

    def __init__(self, nodes: int) -> None:
        """With so many nodes, and all else in proportion."""
        self.limits = Limits()
        self.left_out = Omissions(SystemClock(), SILENT)
        self.versions = Versions(SystemClock(), SILENT)
        self.nodes = nodes
        self.pods = nodes * PODS_OF_A_NODE
        self.stateful_sets = self.pods // 10 // ORDINALS
        self.deployments = (self.pods - self.stateful_sets * ORDINALS) // REPLICAS
        self.served_seconds = 0.0
        self.served_bytes = 0
        self._kinds: Mapping[str, tuple[int, Make]] = {
            "pods": (self.deployments * REPLICAS + self.stateful_sets * ORDINALS, self._pod),
            "nodes": (nodes, self._node),
            "namespaces": (NAMESPACES, self._namespace),
            "deployments": (self.deployments, self._deployment),
            "replicasets": (self.deployments * (1 + OLD_REPLICA_SETS), self._replica_set),
            "statefulsets": (self.stateful_sets, self._stateful_set),
        }

    @property
    def listing_ends(self) -> datetime:
        """Never."""
        return datetime.max.replace(tzinfo=UTC) - timedelta(days=1)

    def close(self) -> None:
        """There are no connections."""

    def exchange[T](
        self,
        call: Call,
        read: Callable[[bytes], T],
        until: datetime | None = None,
        left: TimeLeft | None = None,
    ) -> Answered[T]:
        """What is read of a page of a list."""
        del until, left
        began = time.thread_time()
        target = urlsplit(call.target)
        query = parse_qs(target.query)
        total, make = self._kinds.get(target.path.rpartition("/")[2], (0, self._namespace))
        first = int(query.get("continue", ["0"])[0])
        end = min(first + int(query.get("limit", [str(total)])[0]), total)
        metadata = {"resourceVersion": "1", "continue": str(end) if end < total else ""}
        page = b"".join(
            (
                b'{"kind":"List","metadata":',
                msgspec.json.encode(metadata),
                b',"items":[',
                b",".join(make(number) for number in range(first, end)),
                b"]}",
            )
        )
        self.served_seconds += time.thread_time() - began
        self.served_bytes += len(page)
        return Answered(read(page), None)

    def _pod(self, number: int) -> bytes:
        of_deployments = self.deployments * REPLICAS
        if number < of_deployments:
            owner, nth = divmod(number, REPLICAS)
            name, kind, owner_name = f"web-{owner}-5d8f7-{nth:05d}", "ReplicaSet", f"web-{owner}-0"
            labels = {"app": f"web-{owner}", "pod-template-hash": "0"}
        else:
            owner, nth = divmod(number - of_deployments, ORDINALS)
            name, kind, owner_name = f"db-{owner}-{nth}", "StatefulSet", f"db-{owner}"
            labels = {"app": f"db-{owner}", "apps.kubernetes.io/pod-index": str(nth)}
        reference = _reference(kind, owner_name)
        pod = {
            "metadata": {
                **_metadata(name, owner, labels, owners=[reference]),
                "annotations": {"example.com/configuration": "c" * 64},
            },
            "spec": {
                "nodeName": f"node-{number % self.nodes}",
                "terminationGracePeriodSeconds": 30,
                "containers": [_container("app"), _container("sidecar")],
                "volumes": [{"name": "token", "projected": {"defaultMode": 420}}],
            },
            "status": {
                "phase": "Running",
                "startTime": SINCE,
                "conditions": [
                    {"type": kind, "status": "True", "lastTransitionTime": SINCE}
                    for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
                ],
            },
        }
        return _padded(pod, POD_BYTES)

    def _node(self, number: int) -> bytes:
        capacity = "on-demand" if number % 4 == 0 else "spot"
        labels = {
            "karpenter.sh/capacity-type": capacity,
            "topology.kubernetes.io/zone": f"eu-central-1{'abc'[number % 3]}",
            "kubernetes.io/hostname": f"node-{number}",
        }
        size = {"cpu": "64", "memory": "256Gi", "pods": "110"}
        node = {
            "metadata": _metadata(f"node-{number}", None, labels),
            "spec": {"providerID": f"aws:///eu-central-1a/i-{number:017x}"},
            "status": {
                "allocatable": size,
                "capacity": size,
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": SINCE}],
            },
        }
        return _padded(node, NODE_BYTES)

    def _namespace(self, number: int) -> bytes:
        labels = {"evenkeel.dev/managed": "true"}
        return msgspec.json.encode({"metadata": _metadata(f"space-{number}", None, labels)})

    def _deployment(self, number: int) -> bytes:
        name = f"web-{number}"
        metadata = _metadata(name, number, {"app": name}) | {
            "annotations": {"evenkeel.dev/on-demand": "30%"}
        }
        status = {
            "observedGeneration": 1,
            "replicas": REPLICAS,
            "updatedReplicas": REPLICAS,
            "readyReplicas": REPLICAS,
            "availableReplicas": REPLICAS,
        }
        spec = _workload(name, REPLICAS) | {
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            }
        }
        return _padded({"metadata": metadata, "spec": spec, "status": status}, POD_BYTES)

    def _replica_set(self, number: int) -> bytes:
        owner, nth = divmod(number, 1 + OLD_REPLICA_SETS)
        name, replicas = f"web-{owner}", 0 if nth else REPLICAS
        labels = {"app": name, "pod-template-hash": str(nth)}
        spec = _workload(name, replicas) | {"selector": {"matchLabels": labels}}
        counts = ("replicas", "readyReplicas", "availableReplicas")
        replica_set = {
            "metadata": _metadata(
                f"{name}-{nth}", owner, labels, owners=[_reference("Deployment", name)]
            ),
            "spec": spec,
            "status": {"observedGeneration": 1, **dict.fromkeys(counts, replicas)},
        }
        return _padded(replica_set, POD_BYTES)

    def _stateful_set(self, number: int) -> bytes:
        name = f"db-{number}"
        status = {
            "observedGeneration": 1,
            "replicas": ORDINALS,
            "readyReplicas": ORDINALS,
            "availableReplicas": ORDINALS,
            "currentRevision": "1",
            "updateRevision": "1",
        }
        metadata = _metadata(name, number, {"app": name})
        spec = _workload(name, ORDINALS) | {"serviceName": name}
        return _padded({"metadata": metadata, "spec": spec, "status": status}, POD_BYTES)


def _metadata(
    name: str,
    owner: int | None,
    labels: Mapping[str, str],
    *,
    owners: Sequence[Mapping[str, object]] = (),
) -> dict[str, object]:
    """The metadata of one object; ``owner`` is the number of its workload, which has a home."""
    made: dict[str, object] = {
        "name": name,
        "uid": f"{name}-uid",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": SINCE,
        "labels": labels,
        "ownerReferences": owners,
    }
    if owner is not None:
        made["namespace"] = f"space-{owner % NAMESPACES}"
    return made


def _reference(kind: str, name: str) -> dict[str, object]:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": name,
        "uid": f"{name}-uid",
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _container(name: str) -> dict[str, object]:
    requests = {"cpu": "100m", "memory": "128Mi"}
    environment = [{"name": f"VARIABLE_{number}", "value": "v" * 20} for number in range(10)]
    return {
        "name": name,
        "image": f"registry.example.com/{name}:1",
        "env": environment,
        "resources": {"requests": requests},
    }


def _workload(name: str, replicas: int) -> dict[str, object]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [_container("app")]}}
    return {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}


def _padded(made: dict[str, object], size: int) -> bytes:
    """An object's JSON, with managedFields as large as makes it that big: they are not read."""
    bare = msgspec.json.encode(made)
    return b"".join((bare[:-1], b',"managedFields":', _fields(size - len(bare)), b"}"))


def _fields(size: int) -> bytes:
    """JSON of about so many bytes, in the shape of managedFields."""
    entry = b'{"f:metadata":{"f:labels":{".":{},"f:app":{},"f:hash":{}}},"f:spec":{"f:x":{}}}'
    return b"[" + b",".join([entry] * max(1, size // (len(entry) + 1))) + b"]"
