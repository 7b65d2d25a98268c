"""The manifests of a scene's objects."""

from typing import Any

from evenkeel.model import names
from evenkeel_sandbox.simulator.kubelet import ANNOTATION
from tests.property.scenes import Budget, Kind, NodePlan, WorkloadPlan
from tests.unit.drain.manifests import resource

NEVER = "1000h"
GROUP = "scheduling.x-k8s.io/pod-group"


def instance_id(number: int) -> str:
    return f"i-{number:017x}"


def node(number: int, plan: NodePlan) -> dict[str, Any]:
    name = f"n{number}"
    capacity = "spot" if plan.spot else "on-demand"
    room = {"cpu": f"{plan.slots * 100}m", "memory": "64Gi", "pods": "110"}
    return resource(
        "Node",
        name,
        labels={"karpenter.sh/capacity-type": capacity, "kubernetes.io/hostname": name},
        spec={"providerID": f"aws:///eu-central-1a/{instance_id(number)}"},
        status={
            "allocatable": room,
            "capacity": room,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    )


def workload(name: str, plan: WorkloadPlan) -> list[dict[str, Any]]:
    """A workload and what surrounds it, in the namespace of its name."""
    metadata: dict[str, Any] = {"name": name, "namespace": name}
    surroundings = [*_budgets(metadata, plan.budget)]
    if plan.spare is not None:
        hard = {"pods": str(plan.replicas + plan.spare)}
        surroundings.append(_object("v1", "ResourceQuota", metadata, {"hard": hard}))
    if plan.disk:
        claim = {"accessModes": ["ReadWriteOnce"]}
        surroundings.append(_object("v1", "PersistentVolumeClaim", metadata, claim))
    if plan.gang is not None:
        notes = {names.GANG_AT_NOTICE: "all"} if plan.all_go else {}
        group = {**metadata, "annotations": notes}
        minimum = {"minMember": plan.gang}
        surroundings.append(_object("scheduling.x-k8s.io/v1alpha1", "PodGroup", group, minimum))
    return [*surroundings, _workload(metadata, plan)]


def neighbour(namespace: str, number: int) -> dict[str, Any]:
    """A pod of another workload, which finds no node but counts in the quota."""
    metadata = {"name": f"neighbour-{number}", "namespace": namespace}
    container = {"name": "main", "image": "main"}
    spec = {"nodeSelector": {"nowhere": "true"}, "containers": [container]}
    return _object("v1", "Pod", metadata, spec)


def hash_service(name: str, template_hash: str) -> dict[str, Any]:
    """A Service that selects by template hash, as Argo Rollouts makes them."""
    selector = {"selector": {"app": name, names.TEMPLATE_HASH: template_hash}}
    return _object("v1", "Service", {"name": name, "namespace": name}, selector)


def _object(version: str, kind: str, metadata: dict[str, Any], spec: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _workload(metadata: dict[str, Any], plan: WorkloadPlan) -> dict[str, Any]:
    template = _template(metadata["name"], plan)
    selector = {"matchLabels": {"app": metadata["name"]}}
    spec: dict[str, Any] = {"selector": selector, "template": template}
    match plan.kind:
        case Kind.POD:
            return {
                "apiVersion": "v1",
                "kind": "Pod",
                **template,
                "metadata": {**metadata, **template["metadata"]},
            }
        case Kind.JOB:
            template["spec"]["restartPolicy"] = "Never"
            jobs = {"parallelism": plan.replicas, "completions": plan.replicas}
            return _object("batch/v1", "Job", metadata, {**jobs, "template": template})
        case Kind.DAEMON_SET:
            return _object("apps/v1", "DaemonSet", metadata, spec)
        case Kind.STATEFUL_SET:
            policy = "Parallel" if plan.parallel else "OrderedReady"
            spec |= {"podManagementPolicy": policy, "serviceName": metadata["name"]}
        case Kind.DEPLOYMENT if plan.recreate:
            spec["strategy"] = {"type": "Recreate"}
        case Kind.DEPLOYMENT:
            bounds = {"maxSurge": plan.max_surge, "maxUnavailable": plan.max_unavailable}
            spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": bounds}
    spec |= {"replicas": plan.replicas, "minReadySeconds": plan.min_ready}
    return _object("apps/v1", plan.kind.value, metadata, spec)


def _template(name: str, plan: WorkloadPlan) -> dict[str, Any]:
    annotations = {
        f"{ANNOTATION}start-after": f"{plan.start}s",
        f"{ANNOTATION}ready-after": NEVER if plan.ready is None else f"{plan.ready}s",
        f"{ANNOTATION}stop-after": f"{plan.stop}s",
    }
    if plan.never:
        annotations[names.HANDOVER] = "never"
    if plan.leave:
        annotations[names.AT_DEADLINE] = "leave"
    resources = {"requests": {"cpu": f"{plan.slots * 100}m"}}
    spec: dict[str, Any] = {
        "terminationGracePeriodSeconds": plan.grace,
        "containers": [{"name": "main", "image": "main", "resources": resources}],
    }
    if plan.apart:
        term = {
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {"app": name}},
        }
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        spec["affinity"] = {"podAntiAffinity": required}
    if plan.disk:
        source = {"claimName": name}
        spec["volumes"] = [{"name": "disk", "persistentVolumeClaim": source}]
    labels = {"app": name} | ({GROUP: name} if plan.gang is not None else {})
    return {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec}


def _budgets(metadata: dict[str, Any], budget: Budget | None) -> list[dict[str, Any]]:
    if budget is None:
        return []
    spec: dict[str, Any] = {"selector": {"matchLabels": {"app": metadata["name"]}}}
    if budget.min_available is not None:
        spec["minAvailable"] = budget.min_available
    else:
        spec["maxUnavailable"] = budget.max_unavailable
    names_of = [metadata["name"], f"{metadata['name']}-too"] if budget.twice else [metadata["name"]]
    return [
        _object("policy/v1", "PodDisruptionBudget", {**metadata, "name": each}, spec)
        for each in names_of
    ]
