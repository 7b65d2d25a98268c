"""The taint eviction controller: pods leave nodes whose NoExecute taints they do not tolerate."""

from datetime import datetime, timedelta

from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    key_of,
    node_of,
    uid_of,
)
from evenkeel_sandbox.simulator.controllers.work import Controller, Work, unless_gone
from evenkeel_sandbox.simulator.placement import is_tolerated


class TaintEviction(Controller):
    """Deletes pods that do not tolerate a NoExecute taint of their node, or not for ever.

    Those that have finished or are leaving, too.
    """

    def observe(self) -> None:
        """Watch nodes' taints and pods that come to tainted nodes; keys are pods."""
        self.store.observe("Node", self._node_changed)
        self.store.observe("Pod", self._pod_changed)
        self._since: dict[str, datetime] = {}

    def reconcile(self, key: Key) -> Work:
        """Delete one pod if its time on the tainted node is over."""
        pod = self.store.get("Pod", key)
        node = self.store.get("Node", ("", node_of(pod))) if pod is not None else None
        if pod is None or node is None:
            return
        taints = _no_execute(node)
        if not taints:
            self._since.pop(uid_of(pod), None)
            return
        patience = _patience(pod, taints)
        if patience is None:
            return
        now = self.world.now()
        since = self._since.setdefault(uid_of(pod), now)
        if since + patience > now:
            self.enqueue_after(key, since + patience - now)
            return
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByTaintManager",
        }
        yield lambda: self.server.set_condition(key, condition)
        yield unless_gone(lambda: self.server.delete("Pod", key, uid=uid_of(pod)))

    def _node_changed(self, old: Obj | None, new: Obj | None) -> None:
        if new is not None and _no_execute(new) != (_no_execute(old) if old is not None else []):
            for pod in self.store.pods_on(new["metadata"]["name"]):
                self.enqueue(key_of(pod))

    def _pod_changed(self, old: Obj | None, new: Obj | None) -> None:
        if new is None:
            self._since.pop(uid_of(old or {}), None)
        elif node_of(new) and (old is None or not node_of(old)):
            node = self.store.get("Node", ("", node_of(new)))
            if node is not None and _no_execute(node):
                self.enqueue(key_of(new))


def _no_execute(node: Obj) -> list[Obj]:
    return [t for t in node["spec"].get("taints") or () if t["effect"] == "NoExecute"]


def _patience(pod: Obj, taints: list[Obj]) -> timedelta | None:
    """How long the pod tolerates all of the taints; None for ever."""
    shortest: timedelta | None = None
    for taint in taints:
        matching = [t for t in pod["spec"].get("tolerations") or () if is_tolerated(taint, t)]
        if not matching:
            return timedelta()
        limits = [t["tolerationSeconds"] for t in matching if "tolerationSeconds" in t]
        if limits:
            limit = timedelta(seconds=min(limits))
            shortest = limit if shortest is None else min(shortest, limit)
    return shortest
