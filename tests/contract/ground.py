"""Ground to stand on: one cluster, simulated or real, under the same test text.

A test asks only through the port Cluster. What Evenkeel never does itself (add nodes, apply
workloads, fail a readiness probe) goes through the ground.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from evenkeel.errors import ClusterError
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.meta import ApiStruct, KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Delete, Evict, Get, List, Operation, Patch, Request, Selection
from evenkeel.ports import Clock, Cluster
from evenkeel_sandbox.simulator.api.objects import Obj, labels_of
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.contract import webhooks
from tests.contract.webhooks import Hook
from tests.kit import custom_kinds, others, policies
from tests.kit.control_plane import CLUSTER_SCOPED, PATIENCE, ControlPlane
from tests.kit.manifests import VERSIONS, resource

LOOK_AGAIN = timedelta(milliseconds=50)
ZONE = "topology.kubernetes.io/zone"
DRIVER = "csi.example.org"
ATTACHED_BY_CONTROLLER = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
"""What a kubelet notes of its node where it does not attach volumes itself."""


class Counts(ApiStruct, frozen=True, kw_only=True):
    """What a status counts."""

    observed_generation: int = 0
    active: int = 0
    failed: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0


class Ground(ABC):
    """A namespace of its own in a cluster, and a clock to wait by."""

    def __init__(self, cluster: Cluster, clock: Clock, namespace: str) -> None:
        self.cluster = cluster
        self.clock = clock
        self.namespace = namespace

    @abstractmethod
    def apply(self, *manifests: Mapping[str, Any]) -> None:
        """Apply manifests as kubectl would; without a namespace they go into this one."""

    @abstractmethod
    def add_node(
        self, name: str, *, labels: Mapping[str, str] | None = None, cpu: str = "8", pods: int = 110
    ) -> str:
        """Add a node on which pods can be placed; answers its name, which is unique."""

    @abstractmethod
    def add_silent_node(self, name: str) -> str:
        """Add a node that was Ready and has no kubelet any more; answers its unique name."""

    @abstractmethod
    def cordon_by_hand(self, node: str, *, on: bool) -> None:
        """Let a person cordon a node, or uncordon it."""

    @abstractmethod
    def whole(self, kind: str, name: str) -> dict[str, Any]:
        """All that is stored of an object of this namespace."""

    @abstractmethod
    def attached(self, claim: str) -> Collection[str]:
        """The nodes that a claim of this namespace is attached to."""

    @abstractmethod
    def add_claim(
        self,
        name: str,
        mode: str = "ReadWriteOnce",
        *,
        labels: Mapping[str, str] | None = None,
        **volume: Any,
    ) -> None:
        """Add a claim that is bound to a volume, which has these labels and this in its spec."""

    @abstractmethod
    def mount(self, node: str, claim: str) -> None:
        """Let a silent node's last report be that it uses a claim that is attached to it."""

    @abstractmethod
    def serve(self, kind: str) -> None:
        """Have a kind of other people's served."""

    @abstractmethod
    def add_gang(self, name: str, minimum: int) -> None:
        """Add a group of which so many pods are to be scheduled at once."""

    @abstractmethod
    def asking(self, *hooks: Hook) -> AbstractContextManager[None]:
        """Meanwhile the API server asks these webhooks, in this order, about this namespace.

        The last one has to be about the namespace as it is labelled.
        """

    @abstractmethod
    def refusing(self, app: str) -> AbstractContextManager[None]:
        """Meanwhile a policy refuses that pods of an app are released, and gives no reason."""

    @abstractmethod
    def undoing(self, app: str, *parts: str) -> AbstractContextManager[None]:
        """Meanwhile a policy puts these parts of their metadata back when they are."""

    def node(self, name: str) -> str:
        """The unique name of a node that the test calls so."""
        return f"{self.namespace}-{name}"

    # Requests through the port.

    def ask(self, request: Request) -> Any:
        """The result of one request; raises its error."""
        reply = self.cluster.perform([request])[0]
        if reply.error is not None:
            raise reply.error
        return reply.result

    def refused(self, request: Request) -> ClusterError:
        """The error that one request meets."""
        reply = self.cluster.perform([request])[0]
        assert reply.error is not None, f"{request} was carried out"
        return reply.error

    def get[T: KubernetesObject](self, kind: type[T], name: str) -> T:
        """One object of this namespace."""
        found: T = self.ask(Get(kind, name, self._namespace_of(kind)))
        return found

    def counts(self, kind: type[KubernetesObject], name: str) -> Counts:
        """What an object's status counts, whether or not Evenkeel reads that."""
        return msgspec.convert(self.whole(kind.__name__, name)["status"], Counts)

    def list[T: KubernetesObject](
        self, kind: type[T], labels: str = "", fields: str = ""
    ) -> Sequence[T]:
        """The objects of this namespace, fresh."""
        namespace = self._namespace_of(kind)
        items: Sequence[T] = self.ask(List(Selection(kind, namespace, labels, fields))).items
        return items

    def pods(self, labels: str = "") -> Sequence[Pod]:
        """The pods of this namespace."""
        return self.list(Pod, labels)

    def patch(
        self,
        kind: type[KubernetesObject],
        name: str,
        body: Sequence[Operation] | Mapping[str, Any],
        subresource: str = "",
    ) -> Any:
        """Change one object of this namespace."""
        return self.ask(Patch(kind, name, body, self._namespace_of(kind), subresource))

    def delete(self, obj: KubernetesObject, grace_seconds: int | None = None) -> None:
        """Delete one object."""
        kind = type(obj)
        self.ask(Delete(kind, obj.name, obj.namespace, obj.uid, grace_seconds))

    def evict(self, pod: Pod) -> None:
        """Evict one pod; raises the refusal."""
        self.ask(Evict(pod.name, pod.namespace, pod.uid))

    def refused_eviction(self, pod: Pod, uid: str = "") -> ClusterError:
        """The error that the eviction of a pod meets, or of another uid under its name."""
        return self.refused(Evict(pod.name, pod.namespace, uid or pod.uid))

    def scale(self, kind: type[KubernetesObject], name: str, replicas: int) -> None:
        """Set a workload's replicas."""
        self.patch(kind, name, {"spec": {"replicas": replicas}})

    def taint(self, node: str, *taints: Mapping[str, str]) -> None:
        """Give a node these taints, and take all others off."""
        self.patch(Node, node, {"spec": {"taints": [dict(each) for each in taints]}})

    def report(self, node: str, ready: str) -> None:
        """Let a silent node say this of itself, or the node controller: True, False, Unknown."""
        condition = {"type": "Ready", "status": ready, "reason": "Test"}
        self.patch(Node, node, {"status": {"conditions": [condition]}}, subresource="status")

    def run_by_hand(self, pod: str) -> None:
        """Let a pod be Ready whose node has no kubelet."""
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        self.patch(Pod, pod, {"status": status}, subresource="status")

    def fail_probe(self, pod: Pod) -> None:
        """Let a pod's readiness probe fail."""
        position = [c.type for c in self.get(Pod, pod.name).status.conditions].index("Ready")
        self.patch(
            Pod,
            pod.name,
            [Operation("replace", f"/status/conditions/{position}/status", "False")],
            subresource="status",
        )

    # Waiting.

    def eventually[T](
        self, probe: Callable[[], T | None], what: str = "", seconds: float = PATIENCE
    ) -> T:
        """Look again and again until the probe answers something truthy; answers that."""
        give_up = self.clock.now() + timedelta(seconds=seconds)
        while not (answer := probe()):
            assert self.clock.now() < give_up, f"not within {seconds} s: {what or probe}"
            self.clock.sleep(LOOK_AGAIN)
        return answer

    def never(self, probe: Callable[[], object], seconds: float = 2.0) -> None:
        """Look again and again for a while; the probe must answer nothing truthy."""
        end = self.clock.now() + timedelta(seconds=seconds)
        while self.clock.now() < end:
            assert not probe(), f"it happened: {probe()}"
            self.clock.sleep(LOOK_AGAIN)

    def ready_pods(self, count: int, labels: str = "") -> Sequence[Pod]:
        """Wait until exactly so many pods are there and all of them are Ready."""

        def ready() -> Sequence[Pod]:
            pods = [pod for pod in self.pods(labels) if pod.active]
            return pods if len(pods) == count and all(pod.ready for pod in pods) else []

        return self.eventually(ready, f"{count} ready pods {labels}") if count else []

    def gone(self, pod: Pod) -> None:
        """Wait until the object of this pod is gone, not only one with its name."""
        self.eventually(
            lambda: all(other.uid != pod.uid for other in self.pods()), f"{pod.name} gone"
        )

    def replica_set(self) -> ReplicaSet:
        """The one ReplicaSet of this namespace."""
        found = self.list(ReplicaSet)
        assert len(found) == 1
        return found[0]

    def release(self, pod: Pod) -> Pod:
        """Take a pod out of its ReplicaSet as Evenkeel does: label and owner in one patch."""
        label = "/metadata/labels/pod-template-hash"
        released: Pod = self.patch(
            Pod,
            pod.name,
            [
                Operation("test", "/metadata/uid", pod.uid),
                Operation("test", label, pod.metadata.labels["pod-template-hash"]),
                Operation("remove", label),
                Operation("test", "/metadata/ownerReferences/0/uid", owner_uid(pod)),
                Operation("remove", "/metadata/ownerReferences/0"),
            ],
        )
        return released

    def put_back(self, pod: Pod) -> None:
        """Give a released pod its label back, so that its ReplicaSet adopts it."""
        label = "/metadata/labels/pod-template-hash"
        before = pod.metadata.labels["pod-template-hash"]
        self.patch(Pod, pod.name, [Operation("add", label, before)])

    def _bound(
        self, name: str, mode: str, labels: Mapping[str, str] | None, of_volume: Mapping[str, Any]
    ) -> Sequence[Mapping[str, Any]]:
        """A volume, and the claim that it is for."""
        modes = {"accessModes": [mode], "storageClassName": ""}
        volume = self.node(name)
        for_claim: dict[str, Any] = {
            **modes,
            "capacity": {"storage": "1Gi"},
            "csi": {"driver": DRIVER, "volumeHandle": volume},
            "claimRef": {"namespace": self.namespace, "name": name},
        }
        of_claim = {
            **modes,
            "resources": {"requests": {"storage": "1Gi"}},
            "volumeName": volume,
        }
        return [
            resource("PersistentVolume", volume, labels=labels, spec=for_claim | dict(of_volume)),
            resource("PersistentVolumeClaim", name, spec=of_claim),
        ]

    def _namespace_of(self, kind: type[KubernetesObject]) -> str:
        return self.namespace if kind.resource.namespaced else ""


def owner_uid(pod: Pod) -> str:
    """The uid of a pod's controller."""
    assert pod.controller is not None
    return pod.controller.uid


def gang_of(minimum: int) -> dict[str, Any]:
    """The spec of a group that is scheduled together."""
    return {"schedulingPolicy": {"gang": {"minCount": minimum}}}


def _is_released(app: str, old: Obj, new: Obj) -> bool:
    return labels_of(new).get("app") == app and others.is_release(old, new)


class SimulatedGround(Ground):
    """Ground in memory."""

    cluster: SimulatedCluster

    def apply(self, *manifests: Mapping[str, Any]) -> None:
        """Apply to the simulated cluster."""
        for manifest in manifests:
            metadata = {"namespace": self.namespace, **manifest["metadata"]}
            is_placed = manifest["kind"] not in CLUSTER_SCOPED
            self.cluster.apply({**manifest, "metadata": metadata} if is_placed else dict(manifest))

    def add_node(
        self, name: str, *, labels: Mapping[str, str] | None = None, cpu: str = "8", pods: int = 110
    ) -> str:
        """Add a simulated node."""
        unique = self.node(name)
        room = {"cpu": cpu, "memory": "32Gi", "pods": str(pods)}
        labels = {"kubernetes.io/hostname": unique, ZONE: "a", **(labels or {})}
        status = {"allocatable": room, "capacity": room}
        self.apply(resource("Node", unique, labels=labels, status=status))
        self.eventually(
            lambda: not self.get(Node, unique).has_taint("node.kubernetes.io/not-ready")
        )
        return unique

    def add_silent_node(self, name: str) -> str:
        """Add a simulated node and take its machine away."""
        unique = self.add_node(name)
        self.cluster.kill_node(unique)
        return unique

    def cordon_by_hand(self, node: str, *, on: bool) -> None:
        """Write it to the simulated node, as kubectl."""
        self.cluster.server.patch("Node", ("", node), {"spec": {"unschedulable": on or None}})

    def asking(self, *hooks: Hook) -> AbstractContextManager[None]:
        """Add them to the simulated API server."""
        return webhooks.simulated(self.cluster, self.namespace, hooks)

    @contextmanager
    def refusing(self, app: str) -> Iterator[None]:
        """Hold the simulated API server to it."""
        end = others.refuse(self.cluster, 422, partial(_is_released, app))
        yield
        end()

    @contextmanager
    def undoing(self, app: str, *parts: str) -> Iterator[None]:
        """Hold the simulated API server to it."""
        end = others.undo(self.cluster, *parts, concerns=partial(_is_released, app))
        yield
        end()

    def whole(self, kind: str, name: str) -> dict[str, Any]:
        """What is in the store."""
        return self.cluster.server.get(kind, (self.namespace, name))

    def attached(self, claim: str) -> Collection[str]:
        """Where the simulated kubelets have it."""
        node = self.cluster.attachments.get((self.namespace, claim))
        return [] if node is None else [node]

    def add_claim(
        self,
        name: str,
        mode: str = "ReadWriteOnce",
        *,
        labels: Mapping[str, str] | None = None,
        **volume: Any,
    ) -> None:
        """Add both; no driver and no controller is simulated."""
        self.apply(*self._bound(name, mode, labels, volume))

    def mount(self, node: str, claim: str) -> None:
        """It is taken to use what is attached."""

    def serve(self, kind: str) -> None:
        """The simulated API server serves every kind."""

    def add_gang(self, name: str, minimum: int) -> None:
        """Add a group as the simulated scheduler knows it."""
        self.apply({**resource("PodGroup", name), "spec": gang_of(minimum)})


class RealGround(Ground):
    """Ground on a real control plane."""

    def __init__(self, control_plane: ControlPlane, clock: Clock, namespace: str) -> None:
        super().__init__(control_plane.cluster, clock, namespace)
        self._control_plane = control_plane

    def apply(self, *manifests: Mapping[str, Any]) -> None:
        """Apply to the real cluster."""
        self._control_plane.apply(*manifests, namespace=self.namespace)

    def add_node(
        self, name: str, *, labels: Mapping[str, str] | None = None, cpu: str = "8", pods: int = 110
    ) -> str:
        """Add a node whose kubelet kwok plays."""
        unique = self.node(name)
        self._control_plane.add_node(unique, labels=labels, cpu=cpu, pods=pods)
        return unique

    def add_silent_node(self, name: str) -> str:
        """Add a node that kwok leaves alone."""
        unique = self.node(name)
        self._control_plane.add_node(unique, silent=True)
        return unique

    def cordon_by_hand(self, node: str, *, on: bool) -> None:
        """Write it under kubectl's name."""
        self._control_plane.request(
            "PATCH",
            f"api/v1/nodes/{node}?fieldManager=kubectl",
            {"spec": {"unschedulable": on or None}},
            "application/merge-patch+json",
        )

    def asking(self, *hooks: Hook) -> AbstractContextManager[None]:
        """Serve them over TLS, and configure the API server."""
        return webhooks.real(self._control_plane, self.namespace, hooks)

    def refusing(self, app: str) -> AbstractContextManager[None]:
        """Give the API server such a policy."""
        policy = policies.refusing(self.namespace, "refusing", app)
        return policies.in_force(self._control_plane, self.namespace, policy)

    def undoing(self, app: str, *parts: str) -> AbstractContextManager[None]:
        """Give the API server such a policy, if it knows any."""
        policies.needs_mutating(self._control_plane)
        policy = policies.undoing(self.namespace, "undoing", app, *parts)
        return policies.in_force(self._control_plane, self.namespace, policy)

    def whole(self, kind: str, name: str) -> dict[str, Any]:
        """What the API server answers."""
        return self._control_plane.get(VERSIONS[kind], kind, name, self.namespace)

    def attached(self, claim: str) -> Collection[str]:
        """What the VolumeAttachments say, which the driver meanwhile carries out."""
        volumes = "apis/storage.k8s.io/v1/volumeattachments"
        found = [
            each
            for each in self._control_plane.request("GET", volumes)["items"]
            if each["spec"]["source"]["persistentVolumeName"] == self.node(claim)
        ]
        for each in found:
            self._control_plane.request(
                "PATCH",
                f"{volumes}/{each['metadata']['name']}/status",
                {"status": {"attached": True}},
                "application/merge-patch+json",
                fine=(404,),
            )
        return [each["spec"]["nodeName"] for each in found]

    def add_claim(
        self,
        name: str,
        mode: str = "ReadWriteOnce",
        *,
        labels: Mapping[str, str] | None = None,
        **volume: Any,
    ) -> None:
        """Add both, of a driver that knows all nodes, and wait for the controller."""
        for node in self.list(Node):
            self._control_plane.apply(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "CSINode",
                    "metadata": {"name": node.name},
                    "spec": {"drivers": [{"name": DRIVER, "nodeID": node.name}]},
                }
            )
            self.patch(Node, node.name, {"metadata": {"annotations": ATTACHED_BY_CONTROLLER}})
        self.apply(*self._bound(name, mode, labels, volume))
        self.eventually(
            lambda: self.whole("PersistentVolumeClaim", name)["status"]["phase"] == "Bound"
        )

    def mount(self, node: str, claim: str) -> None:
        """Write what its kubelet would report."""
        used = [f"kubernetes.io/csi/{DRIVER}^{self.node(claim)}"]
        self.patch(Node, node, {"status": {"volumesInUse": used}}, subresource="status")

    def serve(self, kind: str) -> None:
        """Define it."""
        custom_kinds.serve(self._control_plane, kind)

    def add_gang(self, name: str, minimum: int) -> None:
        """Add a group of Kubernetes' own."""
        groups = self._control_plane.pod_groups
        assert groups is not None
        group = {**resource("PodGroup", name), "apiVersion": groups.api_version}
        self.apply({**group, "spec": gang_of(minimum)})
