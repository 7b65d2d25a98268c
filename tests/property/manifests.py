"""The manifests of a scene's objects."""

from typing import Any

from evenkeel.model import names
from evenkeel_sandbox.simulator.kubelet import ANNOTATION
from tests.kit.manifests import apart, budget, resource, volume
from tests.kit.others import adopter
from tests.property.scenes import Budget, Kind, NodePlan, WorkloadPlan

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
    surroundings = [*_budgets(name, plan.budget)]
    if plan.spare is not None:
        hard = {"pods": str(plan.replicas + plan.spare)}
        surroundings.append(resource("ResourceQuota", name, name, spec={"hard": hard}))
    if plan.disk:
        claim = {"accessModes": ["ReadWriteOnce"]}
        surroundings.append(resource("PersistentVolumeClaim", name, name, spec=claim))
    if plan.gang is not None:
        notes = {names.GANG_AT_NOTICE: "all"} if plan.all_go else {}
        minimum = {"minMember": plan.gang}
        surroundings.append(resource("PodGroup", name, name, notes=notes, spec=minimum))
    if plan.kind is Kind.DATABASE:
        return surroundings
    return [*surroundings, _workload(name, plan)]


def other(name: str, plan: WorkloadPlan) -> dict[str, Any]:
    """What selects the pods of a workload, too."""
    if plan.adopter != Kind.DEPLOYMENT:
        return adopter(name, plan.adopter, name)
    twin = _workload(name, plan)
    return {**twin, "metadata": {**twin["metadata"], "name": f"{name}-twin"}}


def pods_of(plan: WorkloadPlan) -> dict[str, Any]:
    """What the template of an operator's pods says."""
    made = _template("", plan)
    return {"annotations": made["metadata"]["annotations"], **made["spec"]}


def neighbour(namespace: str, number: int) -> dict[str, Any]:
    """A pod of another workload, which finds no node but counts in the quota."""
    container = {"name": "main", "image": "main"}
    spec = {"nodeSelector": {"nowhere": "true"}, "containers": [container]}
    return resource("Pod", f"neighbour-{number}", namespace, spec=spec)


def hash_service(name: str, template_hash: str) -> dict[str, Any]:
    """A Service that selects by template hash, as Argo Rollouts makes them."""
    selector = {"app": name, names.TEMPLATE_HASH: template_hash}
    return resource("Service", name, name, spec={"selector": selector})


def _workload(name: str, plan: WorkloadPlan) -> dict[str, Any]:
    template = _template(name, plan)
    spec: dict[str, Any] = {"selector": {"matchLabels": {"app": name}}, "template": template}
    match plan.kind:
        case Kind.POD:
            pod = resource("Pod", name, name, spec=template["spec"])
            pod["metadata"] |= template["metadata"]
            return pod
        case Kind.JOB:
            template["spec"]["restartPolicy"] = "Never"
            jobs = {"parallelism": plan.replicas, "completions": plan.replicas}
            return resource("Job", name, name, spec={**jobs, "template": template})
        case Kind.DAEMON_SET:
            return resource("DaemonSet", name, name, spec=spec)
        case Kind.STATEFUL_SET:
            policy = "Parallel" if plan.parallel else "OrderedReady"
            spec |= {"podManagementPolicy": policy, "serviceName": name}
        case Kind.DEPLOYMENT if plan.recreate:
            spec["strategy"] = {"type": "Recreate"}
        case Kind.DEPLOYMENT:
            bounds = {"maxSurge": plan.max_surge, "maxUnavailable": plan.max_unavailable}
            spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": bounds}
    spec |= {"replicas": plan.replicas, "minReadySeconds": plan.min_ready}
    return resource(plan.kind.value, name, name, spec=spec)


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
        spec |= apart(name)
    if plan.disk:
        spec |= volume(name)
    if plan.tolerant:
        spec["tolerations"] = [{"operator": "Exists"}]
    labels = {"app": name} | ({GROUP: name} if plan.gang is not None else {})
    return {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec}


def _budgets(name: str, plan: Budget | None) -> list[dict[str, Any]]:
    if plan is None:
        return []
    at_least = {"minAvailable": plan.min_available}
    bound = at_least if plan.min_available is not None else {"maxUnavailable": plan.max_unavailable}
    called = [name, f"{name}-too"] if plan.twice else [name]
    return [budget(each, name, name, **bound) for each in called]
