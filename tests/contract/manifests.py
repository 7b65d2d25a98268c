"""Manifests for contract tests: as small as the API server accepts, and quick to start."""

from collections.abc import Mapping
from typing import Any

from tests.kit import manifests
from tests.kit.manifests import Manifest, resource

QUICK = {"evenkeel.test/start-after": "200ms", "evenkeel.test/stop-after": "200ms"}
SLOW_START = {**QUICK, "evenkeel.test/start-after": "1h"}
SLOW_STOP = {**QUICK, "evenkeel.test/stop-after": "3s"}


def pod_spec(**spec: Any) -> Manifest:
    """A pod's spec with one container."""
    container = {"name": "main", "image": "example.org/image", **spec.pop("container", {})}
    return {"containers": [container], **spec}


def template(app: str, annotations: Mapping[str, str] | None = None, **spec: Any) -> Manifest:
    """A pod template labelled ``app``."""
    return {
        "metadata": {"labels": {"app": app}, "annotations": dict(annotations or QUICK)},
        "spec": pod_spec(**spec),
    }


def pod(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    """A bare pod."""
    return resource("Pod", name, labels=labels, notes=annotations or QUICK, spec=pod_spec(**spec))


def workload(
    kind: str, name: str, pods: Manifest | None = None, *, replicas: int = 1, **spec: Any
) -> Manifest:
    """A Deployment, ReplicaSet, StatefulSet or DaemonSet of pods labelled with its name."""
    size = {} if kind == "DaemonSet" else {"replicas": replicas}
    service = {"serviceName": name} if kind == "StatefulSet" else {}
    of_pods = {"selector": {"matchLabels": {"app": name}}, "template": pods or template(name)}
    return resource(kind, name, spec={**of_pods, **size, **service, **spec})


def deployment(name: str, pods: Manifest | None = None, **spec: Any) -> Manifest:
    """A Deployment."""
    return workload("Deployment", name, pods, **spec)


def job(name: str, annotations: Mapping[str, str] | None = None, **spec: Any) -> Manifest:
    """A Job whose pods are not started again in place."""
    pods = {
        "metadata": {"annotations": dict(annotations or QUICK)},
        "spec": pod_spec(restartPolicy="Never"),
    }
    return resource("Job", name, spec={"template": pods, **spec})


def budget(name: str, app: str, **spec: Any) -> Manifest:
    """A PodDisruptionBudget over pods labelled ``app``."""
    return manifests.budget(name, app, namespace="", **spec)


def config_map(name: str, **data: str) -> Manifest:
    """A ConfigMap."""
    return resource("ConfigMap", name, data=data)
