"""What the API server fills in where a manifest is silent, as far as anything here reads it."""

from collections.abc import Callable
from typing import Any

from evenkeel_sandbox.simulator.api.objects import Obj

GRACE_SECONDS = 30


def defaulted(obj: Obj) -> Obj:
    """The object with its kind's defaults."""
    fill = FILLERS.get(obj["kind"])
    if fill is None:
        return obj
    return {**obj, "spec": fill(dict(obj.get("spec") or {}))}


def _pod_spec(spec: Obj) -> Obj:
    return {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "schedulerName": "default-scheduler",
        **spec,
        "containers": [_container(spec, c) for c in spec.get("containers") or ()],
    }


def _container(spec: Obj, container: Obj) -> Obj:
    ports: list[Obj] = [{"protocol": "TCP", **port} for port in container.get("ports") or ()]
    if spec.get("hostNetwork"):
        ports = [{"hostPort": p["containerPort"], **p} for p in ports]
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits"), resources.get("requests")
    if limits:
        resources = {**resources, "requests": {**limits, **(requests or {})}}
    return {
        **container,
        **({"ports": ports} if ports else {}),
        **({"resources": resources} if resources else {}),
    }


def _template(spec: Obj) -> Obj:
    template = dict(spec.get("template") or {})
    metadata = {k: v for k, v in (template.get("metadata") or {}).items() if v}
    return {"metadata": metadata, "spec": _pod_spec(dict(template.get("spec") or {}))}


def _deployment(spec: Obj) -> Obj:
    strategy: Obj = {"type": "RollingUpdate", **(spec.get("strategy") or {})}
    if strategy["type"] == "RollingUpdate":
        bounds = strategy.get("rollingUpdate") or {}
        strategy["rollingUpdate"] = {"maxSurge": "25%", "maxUnavailable": "25%", **bounds}
    return {
        "replicas": 1,
        "progressDeadlineSeconds": 600,
        **spec,
        "strategy": strategy,
        "template": _template(spec),
    }


def _replica_set(spec: Obj) -> Obj:
    return {"replicas": 1, **spec, "template": _template(spec)}


def _stateful_set(spec: Obj) -> Obj:
    strategy: Obj = {"type": "RollingUpdate", **(spec.get("updateStrategy") or {})}
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {"partition": 0, **(strategy.get("rollingUpdate") or {})}
    return {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        **spec,
        "updateStrategy": strategy,
        "template": _template(spec),
    }


def _daemon_set(spec: Obj) -> Obj:
    return {**spec, "template": _template(spec)}


def _job(spec: Obj) -> Obj:
    defaults: dict[str, Any] = {"parallelism": 1, "backoffLimit": 6, "suspend": False}
    if "parallelism" not in spec:
        defaults["completions"] = 1
    return {"completionMode": "NonIndexed", **defaults, **spec, "template": _template(spec)}


FILLERS: dict[str, Callable[[Obj], Obj]] = {
    "Pod": _pod_spec,
    "Deployment": _deployment,
    "ReplicaSet": _replica_set,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Job": _job,
}
