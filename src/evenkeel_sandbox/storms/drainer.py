"""What other handlers do when a warning comes: cordon the node, and tell all its pods to go."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from evenkeel.decisions.notice.event import Understood
from evenkeel.errors import ClusterError, NotFoundError
from evenkeel.model.notice import Notice
from evenkeel_sandbox.events import read_event
from evenkeel_sandbox.simulation import nodes_of
from evenkeel_sandbox.simulator.api.objects import Obj, controller_of, is_finished, is_leaving
from evenkeel_sandbox.simulator.api.resources import manifest
from evenkeel_sandbox.simulator.api.webhooks import Client
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster

AGAIN: Final = timedelta(seconds=5)
"""Time between two tries to evict pods that a budget keeps, as kubectl drain has it."""

type Tell = Callable[[SimulatedCluster, str, str], None]
"""Tells the pod of this name and namespace to go. Raises ClusterError."""


def evict(cluster: SimulatedCluster, name: str, namespace: str) -> None:
    """As the AWS node termination handler and ``kubectl drain`` do."""
    cluster.evict(name, namespace, Client())


def delete(cluster: SimulatedCluster, name: str, namespace: str) -> None:
    """As those do that ask no budget."""
    cluster.delete("Pod", name, namespace)


class Drainer:
    """Empties each node that a warning is about at once, and does nothing about other notices."""

    def __init__(self, clock: SimulatedClock, cluster: SimulatedCluster, tell: Tell) -> None:
        self._clock = clock
        self._cluster = cluster
        self._tell = tell
        self._draining: set[str] = set()

    def send(self, event: Mapping[str, Any]) -> None:
        """An event has come."""
        reading = read_event(event)
        for notice in reading.notices if isinstance(reading, Understood) else ():
            if not notice.is_hint:
                self._cordon(notice)

    @property
    def is_idle(self) -> bool:
        """Whether no pod is left on a node that it empties."""
        return not any(self._pods_on(node) for node in self._draining)

    def _cordon(self, notice: Notice) -> None:
        for node in nodes_of(self._cluster):
            if node.instance_id == notice.instance_id:
                self.drain(node.name)

    def drain(self, node: str) -> None:
        """Cordon a node, and tell its pods to go."""
        self._cluster.apply(manifest("Node", node, spec={"unschedulable": True}))
        self._draining.add(node)
        self._empty(node)

    def _empty(self, node: str) -> None:
        """Tell them to go, and those that are kept again later."""
        for pod in self._pods_on(node):
            metadata = pod["metadata"]
            try:
                self._tell(self._cluster, metadata["name"], metadata["namespace"])
            except NotFoundError:
                continue
            except ClusterError:
                pass
        if self._pods_on(node):
            self._clock.call_in(AGAIN, lambda: self._empty(node))

    def _pods_on(self, node: str) -> Sequence[Obj]:
        """The pods that have to go: not finished, not leaving, not a DaemonSet's."""
        return [
            pod
            for pod in self._cluster.server.store.pods_on(node)
            if not (
                is_leaving(pod)
                or is_finished(pod)
                or (controller_of(pod) or {}).get("kind") in ("DaemonSet", "AbsentOwner", "Node")
            )
        ]
