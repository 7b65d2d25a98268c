"""The pod garbage collector: it deletes by force what no kubelet will ever end."""

from datetime import datetime, timedelta

from evenkeel.model.names import OUT_OF_SERVICE
from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    at,
    is_finished,
    is_leaving,
    is_true,
    key_of,
    node_of,
    uid_of,
    with_condition,
)
from evenkeel_sandbox.simulator.controllers.work import Controller, Work, unless_gone

PERIOD = timedelta(seconds=20)
"""From one sweep to the next."""

QUARANTINE = timedelta(seconds=40)
"""How long a node has to be gone before its pods are collected."""


ORPHANED = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}


class PodGarbageCollector(Controller):
    """Collects the pods of nodes that are gone or out of service."""

    workers = 1

    def observe(self) -> None:
        """Sweep from time to time, as long as anything is there to be swept."""
        self._missing_since: dict[str, datetime] = {}
        self._sweeping = False
        self.store.observe("Node", self._node_changed)
        self.store.observe("Pod", self._pod_changed)

    def reconcile(self, key: Key) -> Work:
        """Look at one pod."""
        pod = self.store.get("Pod", key)
        if pod is None or not self._is_lost(pod):
            return
        if not is_finished(pod):
            is_orphan = self.store.get("Node", ("", node_of(pod))) is None

            def fail(now: Obj) -> Obj:
                status = {**now["status"], "phase": "Failed"}
                if is_orphan:
                    status = with_condition(status, ORPHANED, self.world.now())
                return {**now, "status": status}

            yield lambda: self.server.change("Pod", key, fail, "status", uid=uid_of(pod))
        yield unless_gone(lambda: self.server.delete("Pod", key, uid=uid_of(pod), grace=0))

    def _is_lost(self, pod: Obj) -> bool:
        """Its node is gone; or it leaves, and its node is not ready and out of service."""
        name = node_of(pod)
        node = self.store.get("Node", ("", name))
        if node is None:
            missing = self._missing_since.get(name)
            return missing is not None and missing + QUARANTINE <= self.world.now()
        return (
            is_leaving(pod)
            and not is_true(node, "Ready")
            and any(t["key"] == OUT_OF_SERVICE for t in at(node, "spec", "taints", default=()))
        )

    def _node_changed(self, old: Obj | None, new: Obj | None) -> None:
        name = (new or old or {})["metadata"]["name"]
        if new is None:
            self._missing_since[name] = self.world.now()
        else:
            self._missing_since.pop(name, None)
        if new is None or not is_true(new, "Ready"):
            self._sweep_later()

    def _pod_changed(self, old: Obj | None, new: Obj | None) -> None:
        if new is None or not node_of(new) or (old is not None and is_leaving(old)):
            return
        node = self.store.get("Node", ("", node_of(new)))
        if node is None:
            self._missing_since.setdefault(node_of(new), self.world.now())
        if node is None or not is_true(node, "Ready"):
            self._sweep_later()

    def _sweep_later(self) -> None:
        if not self._sweeping:
            self._sweeping = True
            self.world.clock.call_in(PERIOD, self._sweep)

    def _sweep(self) -> None:
        self._sweeping = False
        silent = [
            name
            for name in (n["metadata"]["name"] for n in self.store.all("Node"))
            if not is_true(self.store.get("Node", ("", name)) or {}, "Ready")
        ]
        for name in (*silent, *self._missing_since):
            for pod in self.store.pods_on(name):
                self._sweep_later()
                if self._is_lost(pod):
                    self.enqueue(key_of(pod))
