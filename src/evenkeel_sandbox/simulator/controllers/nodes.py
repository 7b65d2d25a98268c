"""The node lifecycle controller: what is true of a node becomes taints."""

from evenkeel_sandbox.simulator.api.admission import NOT_READY, UNREACHABLE
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    condition_of,
    is_ready,
    is_true,
    key_of,
    uid_of,
)
from evenkeel_sandbox.simulator.controllers.work import Call, Controller, Work
from evenkeel_sandbox.simulator.placement import UNSCHEDULABLE


class NodeLifecycle(Controller):
    """Turns what is true of a node into taints, and its pods not ready when it is silent."""

    kind = "Node"
    workers = 1

    def reconcile_object(self, node: Obj) -> Work:
        """Bring one node's taints up to date."""
        key = key_of(node)
        if _with_taints(node) != node:
            yield lambda: self.server.change("Node", key, _with_taints, uid=uid_of(node))
        if not is_true(node, "Ready"):
            ready = [pod for pod in self.store.pods_on(key[1]) if is_ready(pod)]
            yield [self._mark(pod) for pod in ready]

    def _mark(self, pod: Obj) -> Call:
        condition = {"type": "Ready", "status": "False", "reason": "NodeNotReady"}
        return lambda: self.server.set_condition(key_of(pod), condition)


def _with_taints(node: Obj) -> Obj:
    """The node with the taints that its conditions and its cordon stand for, and no others."""
    ready = condition_of(node, "Ready")
    silent = ready is not None and ready["status"] == "Unknown"
    broken = ready is None or ready["status"] == "False"
    wanted: list[Obj] = []
    if node["spec"].get("unschedulable"):
        wanted.append(UNSCHEDULABLE)
    for applies, key in ((silent, UNREACHABLE), (broken, NOT_READY)):
        if applies:
            wanted += [{"key": key, "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    ours = (UNSCHEDULABLE["key"], UNREACHABLE, NOT_READY)
    taints = list(node["spec"].get("taints") or ())
    kept = [t for t in taints if t["key"] not in ours or _one_of(t, wanted)]
    added = [w for w in wanted if not _one_of(w, taints)]
    return (
        {**node, "spec": {**node["spec"], "taints": kept + added}}
        if kept + added != taints
        else node
    )


def _one_of(taint: Obj, taints: list[Obj]) -> bool:
    return any(t["key"] == taint["key"] and t["effect"] == taint["effect"] for t in taints)
