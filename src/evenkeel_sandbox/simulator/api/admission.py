"""Admission: what the API server adds to a new object, and what it forbids (403)."""

from collections.abc import Callable
from typing import Any

from evenkeel.errors import ForbiddenError, NotFoundError
from evenkeel_sandbox.simulator.api import quota
from evenkeel_sandbox.simulator.api.objects import Obj, at, condition_of
from evenkeel_sandbox.simulator.api.store import Store

BUILT_IN_PRIORITIES = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
TOLERATION_SECONDS = 300


type Mutation = Callable[[Obj], Obj]
"""What the webhooks do to a new pod; raises ClusterError to refuse it."""

type Policy = Callable[[Obj, Obj], Obj]
"""What is stored of a change, by the object before and after it; raises ClusterError to refuse it.

A ValidatingAdmissionPolicy refuses, a MutatingAdmissionPolicy answers another object. Neither is
asked about a status.
"""


def admit(store: Store, obj: Obj, webhooks: Mutation) -> Obj:
    """The object as the admission plugins leave it; ForbiddenError or NotFoundError.

    As in a real one the webhooks come after the plugins that change a pod, and quota last: it
    may refuse what they let pass.
    """
    namespace = obj["metadata"].get("namespace", "")
    if namespace and store.get("Namespace", ("", namespace)) is None:
        raise NotFoundError(f'namespaces "{namespace}" not found')
    if obj["kind"] == "Pod":
        return quota.charge(store, webhooks(_tolerant(_prioritised(store, obj))))
    if obj["kind"] == "Node":
        return _tainted_until_ready(obj)
    return obj


def gated(obj: Obj) -> Obj:
    """With the condition of a pod that waits for its scheduling gates, which no scheduler sets.

    After applySchedulingGatedCondition in pkg/registry/core/pod/strategy.go.
    """
    if obj["kind"] != "Pod" or not obj["spec"].get("schedulingGates"):
        return obj
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }
    return {**obj, "status": {**obj["status"], "conditions": [condition]}}


def _prioritised(store: Store, pod: Obj) -> Obj:
    """With its priority: of its class, else of the default class, else 0."""
    spec = pod["spec"]
    name = spec.get("priorityClassName", "")
    found: Obj | None = None
    if name in BUILT_IN_PRIORITIES:
        found = {"value": BUILT_IN_PRIORITIES[name]}
    elif name:
        found = store.get("PriorityClass", ("", name))
        if found is None:
            raise ForbiddenError(f"pods is forbidden: no PriorityClass with name {name} was found")
    else:
        found = next((c for c in store.all("PriorityClass") if c.get("globalDefault")), None)
    value = (found or {}).get("value", 0)
    if spec.get("priority", value) != value:
        raise ForbiddenError(f"the priority of a pod is computed from its class: {value}")
    policy = (found or {}).get("preemptionPolicy", "PreemptLowerPriority")
    return {**pod, "spec": {**spec, "priority": value, "preemptionPolicy": policy}}


def _tolerant(pod: Obj) -> Obj:
    """With the 300 s of patience for a node that is not ready or cannot be reached."""
    tolerations: list[dict[str, Any]] = list(pod["spec"].get("tolerations") or ())
    for key in (NOT_READY, UNREACHABLE):
        if not any(
            t.get("key", "") in ("", key) and t.get("effect", "") in ("", "NoExecute")
            for t in tolerations
        ):
            tolerations.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": TOLERATION_SECONDS,
                }
            )
    return {**pod, "spec": {**pod["spec"], "tolerations": tolerations}}


def _tainted_until_ready(node: Obj) -> Obj:
    ready = condition_of(node, "Ready")
    if ready is not None and ready["status"] == "True":
        return node
    taints = [*at(node, "spec", "taints", default=()), {"key": NOT_READY, "effect": "NoSchedule"}]
    return {**node, "spec": {**(node.get("spec") or {}), "taints": taints}}
