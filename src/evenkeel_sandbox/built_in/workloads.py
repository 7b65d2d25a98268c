"""What runs on the built-in cluster: one workload at least for every way a pod can go."""

from collections.abc import Mapping
from typing import Any, Final

from evenkeel.model import names
from evenkeel_sandbox.built_in.fleet import GPU_TAINT, GPU_TYPE
from evenkeel_sandbox.simulator.api.resources import manifest
from evenkeel_sandbox.simulator.kubelet import ANNOTATION

NAMESPACES: Final = ("shop", "data", "batch", "ml", "tenant", "ops", "kube-system")

MANAGED: Final = frozenset({"shop", "data"})
"""The namespaces whose pods are placed, and restored."""

IMPORT_TAKES: Final = "85s"
"""From the cluster's beginning to some time before it would have to go with its node."""

LABEL: Final = "app.kubernetes.io/name"
DISK: Final = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "20Gi"}},
}


def all_manifests() -> list[dict[str, Any]]:
    """Namespaces, workloads, and what surrounds them."""
    return [
        *(_namespace(name) for name in NAMESPACES),
        *_shop(),
        *_data(),
        *_batch(),
        *_others(),
    ]


def _shop() -> list[dict[str, Any]]:
    """Stateless services: large ones with a floor, small, single; two that may not run twice."""
    return [
        _deployment("shop", "web", 96, cpu="900m", annotations={names.ON_DEMAND: "20%"}),
        _service("shop", "web"),
        _deployment(
            "shop",
            "api",
            48,
            cpu="400m",
            spec={"minReadySeconds": 3},
            annotations={names.ON_DEMAND: "12"},
        ),
        _service("shop", "api"),
        _deployment("shop", "search", 18, cpu="500m", pod={"affinity": _apart("search")}),
        _deployment("shop", "checkout", 3),
        _budget("shop", "checkout", minAvailable=2),
        _deployment("shop", "login", 1),
        _budget("shop", "login", minAvailable=1),
        _deployment("shop", "coupons", 1),
        _deployment("shop", "mailer", 1, spec={"strategy": {"type": "Recreate"}}),
        _deployment("shop", "chat", 4, annotations={names.HANDOVER: "never"}),
    ]


def _data() -> list[dict[str, Any]]:
    """What keeps state: two StatefulSets, and a Deployment with a disk of its own."""
    return [
        _stateful_set("data", "postgres", 3, annotations={names.ON_DEMAND: "majority"}),
        _budget("data", "postgres", maxUnavailable=1),
        _policy("data", "postgres"),
        _stateful_set("data", "queue", 2, annotations={names.ON_DEMAND: "1"}),
        _made("PersistentVolumeClaim", "data", "ledger", spec=DISK),
        _deployment("data", "ledger", 1, pod={"volumes": [_volume("ledger")]}),
    ]


def _batch() -> list[dict[str, Any]]:
    """Jobs: one runs longer than any notice, one ends while its node is doomed."""
    return [
        _job("batch", "nightly-report", 4),
        _job("batch", "import", 1, complete_after=IMPORT_TAKES),
    ]


def _others() -> list[dict[str, Any]]:
    """Cases in a handover's way, a pod that no controller makes again, and a DaemonSet.

    ``ml/embeddings`` accepts two nodes only, which go both; the quota of ``tenant`` leaves
    no room for a replacement beside the old pod.
    """
    gpu_only = {
        "nodeSelector": {"node.kubernetes.io/instance-type": GPU_TYPE},
        "tolerations": [{"key": GPU_TAINT, "operator": "Exists"}],
    }
    return [
        _deployment("ml", "embeddings", 2, cpu="3", pod=gpu_only),
        _deployment("tenant", "portal", 3),
        _made("ResourceQuota", "tenant", "pods", spec={"hard": {"pods": "3"}}),
        _made("Pod", "ops", "debug-shell", spec=_template("debug-shell", "100m", {})["spec"]),
        _deployment("kube-system", "coredns", 2),
        _budget("kube-system", "coredns", maxUnavailable=1),
        _daemon_set("kube-system", "node-agent"),
    ]


def _namespace(name: str) -> dict[str, Any]:
    return manifest("Namespace", name, labels={names.MANAGED: "true"} if name in MANAGED else {})


def _made(kind: str, namespace: str, name: str, **rest: Any) -> dict[str, Any]:
    return manifest(kind, name, namespace, labels={LABEL: name}, **rest)


def _template(name: str, cpu: str, pod: Mapping[str, Any]) -> dict[str, Any]:
    requests = {"cpu": cpu, "memory": "256Mi"}
    container = {"name": name, "image": f"{name}:1", "resources": {"requests": requests}}
    return {"metadata": {"labels": {LABEL: name}}, "spec": {"containers": [container], **pod}}


def _workload(
    kind: str,
    namespace: str,
    name: str,
    spec: Mapping[str, Any],
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    spec = {"selector": {"matchLabels": {LABEL: name}}, **spec}
    return _made(kind, namespace, name, annotations=annotations, spec=spec)


def _deployment(
    namespace: str,
    name: str,
    replicas: int,
    *,
    cpu: str = "200m",
    pod: Mapping[str, Any] | None = None,
    spec: Mapping[str, Any] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    body = {"replicas": replicas, "template": _template(name, cpu, pod or {}), **(spec or {})}
    return _workload("Deployment", namespace, name, body, annotations)


def _stateful_set(
    namespace: str, name: str, replicas: int, *, annotations: Mapping[str, str]
) -> dict[str, Any]:
    claim = {"metadata": {"name": "disk"}, "spec": DISK}
    body = {
        "replicas": replicas,
        "serviceName": name,
        "template": _template(name, "300m", {}),
        "volumeClaimTemplates": [claim],
    }
    return _workload("StatefulSet", namespace, name, body, annotations)


def _job(namespace: str, name: str, parallelism: int, complete_after: str = "") -> dict[str, Any]:
    template = _template(name, "500m", {"restartPolicy": "Never"})
    if complete_after:
        template["metadata"]["annotations"] = {f"{ANNOTATION}complete-after": complete_after}
    spec = {"parallelism": parallelism, "completions": parallelism, "template": template}
    return _made("Job", namespace, name, spec=spec)


def _daemon_set(namespace: str, name: str) -> dict[str, Any]:
    template = _template(name, "50m", {"tolerations": [{"operator": "Exists"}]})
    return _workload("DaemonSet", namespace, name, {"template": template})


def _service(namespace: str, name: str) -> dict[str, Any]:
    spec = {"selector": {LABEL: name}, "ports": [{"port": 80}]}
    return _made("Service", namespace, name, spec=spec)


def _budget(namespace: str, name: str, **bound: int) -> dict[str, Any]:
    return _workload("PodDisruptionBudget", namespace, name, bound)


def _policy(namespace: str, name: str) -> dict[str, Any]:
    spec = {"podSelector": {"matchLabels": {LABEL: name}}, "policyTypes": ["Ingress"]}
    return _made("NetworkPolicy", namespace, name, spec=spec)


def _volume(claim: str) -> dict[str, Any]:
    return {"name": claim, "persistentVolumeClaim": {"claimName": claim}}


def _apart(name: str) -> dict[str, Any]:
    """No two pods of this name on one node."""
    term = {
        "labelSelector": {"matchLabels": {LABEL: name}},
        "topologyKey": "kubernetes.io/hostname",
    }
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
