"""The eviction subresource of pods, step by step as the API server does it.

Read from pkg/registry/core/pod/storage/eviction.go of Kubernetes 1.36. Two traps are in it:
the budget is taken before the preconditions are looked at, and several budgets on one pod are
an error for ever.
"""

from evenkeel.errors import (
    ConflictError,
    DisruptionRefusedError,
    MultipleBudgetsError,
)
from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    at,
    is_leaving,
    is_ready,
    labels_of,
    phase_of,
    stamp,
    uid_of,
    with_condition,
)
from evenkeel_sandbox.simulator.api.selectors import selects
from evenkeel_sandbox.simulator.api.server import ApiServer
from evenkeel_sandbox.simulator.api.webhooks import Client


def evict(server: ApiServer, key: Key, uid: str, client: Client) -> None:
    """Evict a pod if the webhooks and its budget allow it.

    Raises NotFoundError, ConflictError (another uid), DisruptionRefusedError,
    MultipleBudgetsError, ForbiddenError.
    """
    server.get("Pod", key)
    server.permit_eviction(_eviction(key, uid), client)
    pod = server.get("Pod", key)
    if not _needs_no_budget(pod):
        budgets = _budgets_of(server, pod)
        if len(budgets) > 1:
            raise MultipleBudgetsError(
                "This pod has more than one PodDisruptionBudget, which the eviction "
                "subresource does not support."
            )
        if budgets and not _is_unhealthy_and_free_to_go(pod, budgets[0]):
            _take(server, budgets[0], pod)
    if uid and uid_of(pod) != uid:
        raise ConflictError(
            f"the UID in the precondition ({uid}) does not match the UID in record ({uid_of(pod)})"
        )
    server.set_condition(
        key,
        {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        },
    )
    server.delete("Pod", key, uid=uid)


def _eviction(key: Key, uid: str) -> Obj:
    """The object that a client posts."""
    namespace, name = key
    options: Obj = {"preconditions": {"uid": uid}} if uid else {}
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
        "deleteOptions": options,
    }


def _needs_no_budget(pod: Obj) -> bool:
    """A pod that is finished, pending or leaving disrupts nothing."""
    return phase_of(pod) in ("Succeeded", "Failed", "Pending") or is_leaving(pod)


def _budgets_of(server: ApiServer, pod: Obj) -> list[Obj]:
    return [
        budget
        for budget in server.store.all("PodDisruptionBudget", pod["metadata"]["namespace"])
        if selects(budget["spec"].get("selector"), labels_of(pod))
    ]


def _is_unhealthy_and_free_to_go(pod: Obj, budget: Obj) -> bool:
    """A pod that is not ready goes where the policy or the health of the others allows it."""
    if is_ready(pod):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired = at(budget, "status", "desiredHealthy", default=0)
    return bool(at(budget, "status", "currentHealthy", default=0) >= desired > 0)


def _take(server: ApiServer, budget: Obj, pod: Obj) -> None:
    """Take one disruption from the budget; DisruptionRefusedError if none is left."""
    name = budget["metadata"]["name"]
    status = budget.get("status") or {}
    if status.get("observedGeneration", 0) < budget["metadata"]["generation"]:
        raise DisruptionRefusedError(
            f"Cannot evict pod as it would violate the pod's disruption budget. "
            f"The disruption budget {name} is still being processed by the server."
        )
    allowed = status.get("disruptionsAllowed", 0)
    if allowed == 0:
        raise DisruptionRefusedError(
            f"Cannot evict pod as it would violate the pod's disruption budget. "
            f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods "
            f"and has {status.get('currentHealthy', 0)} currently"
        )
    now = server.now()
    disrupted = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: stamp(now)}
    status = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
    if allowed == 1:
        condition = {
            "type": "DisruptionAllowed",
            "status": "False",
            "reason": "InsufficientPods",
            "observedGeneration": status["observedGeneration"],
        }
        status = with_condition(status, condition, now)
    server.set_status("PodDisruptionBudget", (pod["metadata"]["namespace"], name), status)
