"""Workloads as manifests, with start-up and stopping times that suit tests.

See tests/kit/stages.yaml for the annotations that set these times. No object says its
namespace: who applies it does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from evenkeel.model import names
from tests.kit import manifests
from tests.kit.manifests import Manifest, resource

RECREATE: Manifest = {"type": "Recreate"}


def selector(name: str) -> Mapping[str, str]:
    """The labels by which the workload of this name, its budget and the witness select."""
    return {"app": name}


def timed(
    *,
    start: str = "1s",
    stop: str = "500ms",
    grace: int = 2,
    annotations: Mapping[str, str] | None = None,
    **more: Any,
) -> Manifest:
    """What a template says; ``start`` and ``stop``: how long pods take to get Ready and to end."""
    times = {"evenkeel.test/start-after": start, "evenkeel.test/stop-after": stop}
    notes = times | dict(annotations or {})
    return {"image": "main", "grace": grace, "annotations": notes, **more}


def deployment(
    name: str,
    replicas: int,
    *,
    strategy: Manifest | None = None,
    annotations: Mapping[str, str] | None = None,
    **pod: Any,
) -> Manifest:
    """A Deployment; further arguments are its template's."""
    spec = {} if strategy is None else {"strategy": strategy}
    return manifests.deployment(
        name, replicas, pod=timed(**pod), notes=annotations, namespace="", **spec
    )


def stateful_set(
    name: str, replicas: int, *, annotations: Mapping[str, str] | None = None, **pod: Any
) -> Manifest:
    """A StatefulSet; further arguments are its template's."""
    return manifests.stateful_set(name, replicas, pod=timed(**pod), notes=annotations, namespace="")


def daemon_set(name: str, **pod: Any) -> Manifest:
    """A DaemonSet that runs on every node, also on doomed ones."""
    return manifests.daemon_set(name, namespace="", **timed(**pod))


def job(name: str, **pod: Any) -> Manifest:
    """A Job of one pod that runs on until it is told to go.

    A disruption does not count as a failure of it; any other failure ends it.
    """
    rules = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
    return manifests.job(
        name, pod=timed(**pod), namespace="", backoffLimit=0, podFailurePolicy={"rules": rules}
    )


def bare_pod(name: str, **pod: Any) -> Manifest:
    """A pod without a controller."""
    return manifests.bare_pod(name, namespace="", **timed(**pod))


def budget(name: str, **bound: Any) -> Manifest:
    """A PodDisruptionBudget for the workload of this name: minAvailable=1 or maxUnavailable=0."""
    return manifests.budget(name, namespace="", **bound)


def pod_quota(pods: int) -> Manifest:
    """A quota that allows a namespace so many pods."""
    return resource("ResourceQuota", "pods", spec={"hard": {"pods": str(pods)}})


def volume(name: str, claim_namespace: str, *, zone: str = "") -> Sequence[Manifest]:
    """A volume that one node can mount at a time, and the claim of the same name bound to it.

    ``zone``: only nodes there can mount it; without one every node can.
    """
    made = f"{claim_namespace}-{name}"
    size = {"storage": "1Gi"}
    both = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    of_claim = {**both, "resources": {"requests": size}, "volumeName": made}
    of_volume = {
        **both,
        "capacity": size,
        "hostPath": {"path": f"/{name}"},
        "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": {"name": name, "namespace": claim_namespace},
    }
    if zone:
        clause = {"key": names.ZONE, "operator": "In", "values": [zone]}
        there = {"required": {"nodeSelectorTerms": [{"matchExpressions": [clause]}]}}
        of_volume["nodeAffinity"] = there
    return (
        resource("PersistentVolume", made, spec=of_volume),
        resource("PersistentVolumeClaim", name, spec=of_claim),
    )
