"""The kinds that the simulated API server serves, and how their objects are kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenkeel_sandbox.simulator.api.objects import Obj


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object.

    ``has_status``: status is a subresource, which a write to the object itself leaves alone.
    ``has_generation``: metadata.generation counts the changes of its spec.
    """

    name: str
    api_version: str = "v1"
    namespaced: bool = True
    has_status: bool = True
    has_generation: bool = False


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("Pod", has_generation=True),
        Kind("Node", namespaced=False),
        Kind("Namespace", namespaced=False),
        Kind("Service"),
        Kind("ConfigMap", has_status=False),
        Kind("Secret", has_status=False),
        Kind("ServiceAccount", has_status=False),
        Kind("Event", has_status=False),
        Kind("PersistentVolume", namespaced=False),
        Kind("PersistentVolumeClaim"),
        Kind("ResourceQuota"),
        Kind("Lease", "coordination.k8s.io/v1", has_status=False),
        Kind("Deployment", "apps/v1", has_generation=True),
        Kind("ReplicaSet", "apps/v1", has_generation=True),
        Kind("StatefulSet", "apps/v1", has_generation=True),
        Kind("DaemonSet", "apps/v1", has_generation=True),
        Kind("Job", "batch/v1", has_generation=True),
        Kind("PodDisruptionBudget", "policy/v1", has_generation=True),
        Kind("NetworkPolicy", "networking.k8s.io/v1", has_status=False, has_generation=True),
        Kind("Ingress", "networking.k8s.io/v1", has_generation=True),
        Kind(
            "MutatingWebhookConfiguration",
            "admissionregistration.k8s.io/v1",
            namespaced=False,
            has_status=False,
            has_generation=True,
        ),
        Kind(
            "MutatingAdmissionPolicyBinding",
            "admissionregistration.k8s.io/v1",
            namespaced=False,
            has_status=False,
            has_generation=True,
        ),
        Kind("PriorityClass", "scheduling.k8s.io/v1", namespaced=False, has_status=False),
    )
}


def manifest(
    kind: str,
    name: str,
    namespace: str = "",
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **rest: Any,
) -> Obj:
    """What makes an object of a known kind; ``rest`` is its spec and the like."""
    metadata: Obj = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    for field, values in (("labels", labels), ("annotations", annotations)):
        if values:
            metadata[field] = dict(values)
    return {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": metadata, **rest}


def kind_of(obj: Obj) -> Kind:
    """The kind of a manifest; one that is unknown is taken for a custom resource."""
    known = KINDS.get(obj["kind"])
    if known is not None:
        return known
    return Kind(
        obj["kind"],
        obj["apiVersion"],
        namespaced="namespace" in obj["metadata"],
        has_generation=True,
    )


def kind_named(name: str) -> Kind:
    """The kind of this name; one that is unknown is taken for a custom resource."""
    return KINDS.get(name) or Kind(name, has_generation=True)
