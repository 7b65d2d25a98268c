"""Workloads as manifests, with start-up and stopping times that suit tests.

See tests/fixtures/stages.yaml for the annotations that set these times.
"""

from collections.abc import Mapping, Sequence
from typing import Any

type Manifest = dict[str, Any]

RECREATE: Manifest = {"type": "Recreate"}
NO_LOSS: Manifest = {
    "type": "RollingUpdate",
    "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
}


def selector(name: str) -> Mapping[str, str]:
    """The labels by which the workload of this name, its budget and the witness select."""
    return {"app": name}


def pod_template(
    name: str,
    *,
    start: str = "1s",
    stop: str = "500ms",
    grace: int = 2,
    cpu: str = "100m",
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    """A pod template; ``start`` and ``stop`` are how long its pods take to get Ready and to end."""
    times = {"evenkeel.test/start-after": start, "evenkeel.test/stop-after": stop}
    return {
        "metadata": {
            "labels": dict(selector(name)),
            "annotations": times | dict(annotations or {}),
        },
        "spec": {
            "terminationGracePeriodSeconds": grace,
            "containers": [
                {"name": "main", "image": "main", "resources": {"requests": {"cpu": cpu}}}
            ],
            **spec,
        },
    }


def deployment(
    name: str,
    replicas: int,
    *,
    strategy: Manifest | None = None,
    annotations: Mapping[str, str] | None = None,
    **template: Any,
) -> Manifest:
    """A Deployment; further arguments are its template's."""
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": dict(selector(name))},
        "template": pod_template(name, **template),
    }
    if strategy is not None:
        spec["strategy"] = strategy
    return _object("apps/v1", "Deployment", name, annotations=annotations, spec=spec)


def stateful_set(name: str, replicas: int, **template: Any) -> Manifest:
    """A StatefulSet."""
    spec = {
        "replicas": replicas,
        "serviceName": name,
        "selector": {"matchLabels": dict(selector(name))},
        "template": pod_template(name, **template),
    }
    return _object("apps/v1", "StatefulSet", name, spec=spec)


def daemon_set(name: str, **template: Any) -> Manifest:
    """A DaemonSet that runs on every node, also on doomed ones."""
    everywhere = [{"operator": "Exists"}]
    spec = {
        "selector": {"matchLabels": dict(selector(name))},
        "template": pod_template(name, tolerations=everywhere, **template),
    }
    return _object("apps/v1", "DaemonSet", name, spec=spec)


def job(name: str, **template: Any) -> Manifest:
    """A Job of one pod that runs on until it is told to go.

    A disruption does not count as a failure of it; any other failure ends it.
    """
    spec = {
        "backoffLimit": 0,
        "podFailurePolicy": {
            "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
        },
        "template": pod_template(name, restartPolicy="Never", **template),
    }
    return _object("batch/v1", "Job", name, spec=spec)


def bare_pod(name: str, **template: Any) -> Manifest:
    """A pod without a controller."""
    made = pod_template(name, **template)
    manifest = _object("v1", "Pod", name, spec=made["spec"])
    manifest["metadata"] |= made["metadata"]
    return manifest


def budget(name: str, **bound: int | str) -> Manifest:
    """A PodDisruptionBudget for the workload of this name: minAvailable=1 or maxUnavailable=0."""
    spec = {"selector": {"matchLabels": dict(selector(name))}, **bound}
    return _object("policy/v1", "PodDisruptionBudget", name, spec=spec)


def pod_quota(pods: int) -> Manifest:
    """A quota that allows a namespace so many pods."""
    return _object("v1", "ResourceQuota", "pods", spec={"hard": {"pods": str(pods)}})


def volume(name: str, claim_namespace: str) -> Sequence[Manifest]:
    """A volume that one node can mount at a time, and the claim of the same name bound to it."""
    size = {"storage": "1Gi"}
    return (
        _object(
            "v1",
            "PersistentVolume",
            f"{claim_namespace}-{name}",
            spec={
                "capacity": size,
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": f"/{name}"},
                "storageClassName": "",
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {"name": name, "namespace": claim_namespace},
            },
        ),
        _object(
            "v1",
            "PersistentVolumeClaim",
            name,
            spec={
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": size},
                "storageClassName": "",
                "volumeName": f"{claim_namespace}-{name}",
            },
        ),
    )


def _object(
    api_version: str,
    kind: str,
    name: str,
    *,
    annotations: Mapping[str, str] | None = None,
    spec: Manifest,
) -> Manifest:
    metadata = {"name": name, "annotations": dict(annotations or {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
