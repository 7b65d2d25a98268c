"""The workloads of the stories, as plain manifests. Every pod has the label ``app``."""

from collections.abc import Mapping
from typing import Any

from evenkeel.model import names
from evenkeel.model.workload import WORKLOADS

type Manifest = dict[str, Any]

MAJORITY = {names.ON_DEMAND: "majority"}
"""Annotations that ask for the floor that a StatefulSet has by default as a preference."""

VERSIONS = {kind.resource.kind: kind.resource.api_version for kind in WORKLOADS} | {
    "Namespace": "v1",
    "Node": "v1",
    "Pod": "v1",
    "PodTemplate": "v1",
    "CapacityBuffer": "autoscaling.x-k8s.io/v1beta1",
    "ConfigMap": "v1",
    "ServiceAccount": "v1",
    "Service": "v1",
    "Endpoints": "v1",
    "ResourceQuota": "v1",
    "PersistentVolume": "v1",
    "PersistentVolumeClaim": "v1",
    "ReplicationController": "v1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
    "DaemonSet": "apps/v1",
    "PodDisruptionBudget": "policy/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "Ingress": "networking.k8s.io/v1",
    "Lease": "coordination.k8s.io/v1",
    "MutatingAdmissionPolicyBinding": "admissionregistration.k8s.io/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "PodGroup": "scheduling.x-k8s.io/v1alpha1",
}
"""The version of each kind that tests make."""


def resource(
    kind: str,
    name: str,
    namespace: str = "",
    *,
    labels: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
    **rest: Any,
) -> Manifest:
    """Any object; ``notes`` are its annotations, ``rest`` its spec and the like."""
    metadata: Manifest = {"name": name}
    for key, value in (("namespace", namespace), ("labels", labels), ("annotations", notes)):
        if value:
            metadata[key] = value if isinstance(value, str) else dict(value)
    return {"apiVersion": VERSIONS[kind], "kind": kind, "metadata": metadata, **rest}


PAUSED = resource("ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)
"""While it is there Evenkeel is paused."""

SYSTEM = resource("Namespace", names.SYSTEM_NAMESPACE)
"""Comes with manifests/rbac."""

RECREATE: Manifest = {"strategy": {"type": "Recreate"}}
NO_SURGE: Manifest = {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}


def apart(app: str, by: str = "kubernetes.io/hostname") -> Manifest:
    """What a pod template says to keep its pods on different nodes, or ``by`` another label."""
    term = {"topologyKey": by, "labelSelector": {"matchLabels": {"app": app}}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"affinity": {"podAntiAffinity": required}}


def on_node(name: str) -> Manifest:
    """What a pod template says to have its pods on one node."""
    return {"nodeSelector": {"kubernetes.io/hostname": name}}


def template(
    app: str,
    *,
    cpu: str = "100m",
    grace: int = 30,
    image: str = "",
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    """A pod template; ``annotations`` are the pods', further arguments go into its spec.

    The simulator needs no ``image``, a real API server does.
    """
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {"labels": {"app": app}, **_annotated(annotations)},
        "spec": {
            "terminationGracePeriodSeconds": grace,
            "containers": [container | ({"image": image} if image else {})],
            **spec,
        },
    }


def workload(
    kind: str,
    app: str,
    replicas: int = 1,
    *,
    pod: Manifest | None = None,
    notes: Mapping[str, str] | None = None,
    namespace: str = "default",
    **spec: Any,
) -> Manifest:
    """A workload; ``pod`` goes to its template, ``notes`` are its own annotations."""
    of_pods = {"selector": {"matchLabels": {"app": app}}, "template": template(app, **(pod or {}))}
    every = {"replicas": replicas, **of_pods, **spec}
    return resource(kind, app, namespace, notes=notes, spec=every)


def deployment(app: str, replicas: int = 1, **more: Any) -> Manifest:
    """A Deployment."""
    return workload("Deployment", app, replicas, **more)


def replica_set(app: str, replicas: int = 1) -> Manifest:
    """A ReplicaSet that no Deployment made: it does not select by template hash."""
    return workload("ReplicaSet", app, replicas)


def stateful_set(app: str, replicas: int = 1, **more: Any) -> Manifest:
    """A StatefulSet."""
    return workload("StatefulSet", app, replicas, serviceName=app, **more)


def daemon_set(app: str, namespace: str = "default", **pod: Any) -> Manifest:
    """A DaemonSet that runs on every node, doomed ones too."""
    made = template(app, tolerations=[{"operator": "Exists"}], **pod)
    spec = {"selector": {"matchLabels": {"app": app}}, "template": made}
    return resource("DaemonSet", app, namespace, spec=spec)


def job(
    app: str,
    *,
    pod: Manifest | None = None,
    notes: Mapping[str, str] | None = None,
    namespace: str = "default",
    **spec: Any,
) -> Manifest:
    """A Job, with one pod unless told otherwise."""
    run = template(app, restartPolicy="Never", **(pod or {}))
    return resource("Job", app, namespace, notes=notes, spec={"template": run, **spec})


def bare_pod(app: str, namespace: str = "default", **pod: Any) -> Manifest:
    """A pod that no controller makes again."""
    made = template(app, **pod)
    manifest = resource("Pod", app, namespace, spec=made["spec"])
    manifest["metadata"] |= made["metadata"]
    return manifest


def budget(name: str, app: str = "", namespace: str = "default", **bound: Any) -> Manifest:
    """A PodDisruptionBudget over the pods of ``app``, or of the workload of its own name."""
    spec = {"selector": {"matchLabels": {"app": app or name}}, **bound}
    return resource("PodDisruptionBudget", name, namespace, spec=spec)


def quota(**hard: str) -> Manifest:
    """What the namespace may use."""
    return resource("ResourceQuota", "quota", "default", spec={"hard": hard})


def claim(name: str, mode: str = "ReadWriteOnce") -> Manifest:
    """A PersistentVolumeClaim."""
    return resource("PersistentVolumeClaim", name, "default", spec={"accessModes": [mode]})


def service(app: str, **selector: str) -> Manifest:
    """A Service; further labels that it selects by as keywords."""
    return resource("Service", app, "default", spec={"selector": {"app": app, **selector}})


def balanced(app: str) -> Manifest:
    """A Service to which a load balancer leads."""
    spec = {"selector": {"app": app}, "type": "LoadBalancer"}
    return resource("Service", app, "default", spec=spec)


def volume(claim_name: str) -> Manifest:
    """What a pod template says to mount a claim."""
    source = {"claimName": claim_name}
    return {"volumes": [{"name": "data", "persistentVolumeClaim": source}]}


def _annotated(annotations: Mapping[str, str] | None) -> Manifest:
    return {"annotations": dict(annotations)} if annotations else {}
