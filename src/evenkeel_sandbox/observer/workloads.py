"""Watching workloads from outside: how many of their pods are ready, and how few ever were.

It asks the cluster alone, so what it counts does not depend on what Evenkeel
believes. A pod counts for a workload as a Service counts it: ready, not being deleted, on a
node that is alive. Its workload is at the top of its owners, as they are now; one that lost its
owner counts where it did.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from evenkeel.model.controllers.job import Job
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Condition, KubernetesObject, Reference
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Relisted, Selection
from evenkeel.ports import Arrival, Clock, Session
from evenkeel_sandbox.observer.health import End, Health, Outage

WORKLOADS: Final = (Deployment, StatefulSet, Job, ReplicaSet, Pod)
"""Owners come before pods, so that most pods find their workload at once."""

EVERYTHING: Final[tuple[Selection[Any], ...]] = tuple(
    Selection(kind) for kind in (Node, *WORKLOADS)
)
"""What is watched of a cluster that is small enough."""


def in_namespaces(namespaces: Iterable[str]) -> tuple[Selection[Any], ...]:
    """What is watched where only some namespaces count."""
    return tuple(Selection(kind, each) for each in sorted(namespaces) for kind in WORKLOADS)


class Observer:
    """Keeps count of every workload; feed it what its watches deliver."""

    def __init__(self, clock: Clock, selections: Sequence[Selection[Any]] = EVERYTHING) -> None:
        """Begin with an empty cluster; call ``begin`` when all watches have been listed."""
        self._clock = clock
        self._selections = selections
        self._began = False
        self.lost_nodes: dict[str, datetime] = {}
        self._finished: set[str] = set()
        self.lost_pods: dict[str, Pod] = {}
        self._replica_sets: dict[str, ReplicaSet] = {}
        self._selectable: dict[str, Deployment | StatefulSet | ReplicaSet] = {}
        self._home: dict[str, Reference] = {}
        self._waiting: dict[str, Pod] = {}
        self._listed: set[Selection[Any]] = set()
        self.nodes: dict[str, Node] = {}
        self.workloads: dict[Reference, Health] = {}

    def watch(self, session: Session) -> None:
        """Open the watches that the observer needs."""
        for selection in self._selections:
            session.watch(selection)

    @property
    def complete(self) -> bool:
        """Whether every watch has delivered its first list."""
        return len(self._listed) == len(self._selections)

    def begin(self) -> None:
        """From now on the counts are kept, and the lowest; not those of before."""
        self._began = True
        for health in self.workloads.values():
            health.begin()
            health.before = health.ready
            health.first_nodes = frozenset(health.nodes.values())
            health.outage = None
            health.last_obstacle = ""
            health.seen.clear()
            health.note(self._clock.now())

    def lose(self, node_name: str) -> int:
        """This node's machine is gone: its pods serve no more, whatever their status says.

        Those that were not told to go are kept in ``lost_pods``. Answers how many of them
        there are, DaemonSets' aside, which belong to their nodes.
        """
        self.lost_nodes.setdefault(node_name, self._clock.now())
        count = 0
        for health in self.workloads.values():
            pods = [pod for pod in health.pods.values() if pod.spec.node_name == node_name]
            lost = {pod.uid: pod for pod in pods if pod.active and pod.uid not in self.lost_pods}
            self.lost_pods |= lost
            count += len(lost) if health.workload.kind != "DaemonSet" else 0
            if pods:
                self._count(health, *pods)
        return count

    def absorb(self, arrivals: Iterable[Arrival]) -> None:
        """Take in what a session's mailbox delivered, in its order."""
        for arrival in arrivals:
            match arrival:
                case Relisted(selection=selection, listing=listing):
                    self._relist(selection, listing.items)
                case Change(object=item, deleted=True):
                    self._forget(item)
                case Change(object=item):
                    self._learn(item)

    def health_of(self, pod_uid: str) -> Health | None:
        """The workload of a pod that was seen at some time."""
        home = self._home.get(pod_uid)
        return self.workloads.get(home) if home is not None else None

    def end_of(self, pod_uid: str) -> End:
        """How a pod ended, if it did."""
        if pod_uid in self.lost_pods:
            return End.LOST
        if pod_uid in self._finished:
            return End.FINISHED
        health = self.health_of(pod_uid)
        return End.ALIVE if health is not None and pod_uid in health.pods else End.GONE

    def _relist(self, selection: Selection[Any], items: Sequence[KubernetesObject]) -> None:
        kept = {item.uid for item in items}
        for item in list(self._known(selection.kind)):
            if item.uid not in kept and selection.namespace in ("", item.namespace):
                self._forget(item)
        for item in items:
            self._learn(item)
        self._listed.add(selection)

    def _known(self, kind: type[KubernetesObject]) -> Iterable[KubernetesObject]:
        if kind is Node:
            return self.nodes.values()
        if kind is Pod:
            return [pod for health in self.workloads.values() for pod in health.pods.values()]
        return [item for item in self._selectable.values() if isinstance(item, kind)]

    def _learn(self, item: KubernetesObject) -> None:
        match item:
            case Node():
                if item.name not in self.nodes:  # another machine than one of this name before
                    self.lost_nodes.pop(item.name, None)
                self.nodes[item.name] = item
            case Pod():
                self._place(item)
            case ReplicaSet():
                before = self._replica_sets.get(item.uid)
                self._replica_sets[item.uid] = item
                self._selectable[item.uid] = item
                if item.controller is None:
                    self._want(item, item.spec.replicas)
                if before is not None and _top_of(before) != _top_of(item):
                    self._move_from(_top_of(before))
                self._place_waiting()
                if item.cannot_create is not None:
                    self._hinder(item, item.cannot_create)
            case Deployment() | StatefulSet():
                self._selectable[item.uid] = item
                self._want(item, item.spec.replicas)
                self._place_waiting()
            case Job():
                self._want(item, item.spec.parallelism)
                self._health(item.reference).gone = any(
                    c.type in ("Complete", "Failed") and c.status == "True"
                    for c in item.status.conditions
                )

    def _want(self, item: KubernetesObject, replicas: int) -> None:
        health = self._health(item.reference)
        health.wanted = replicas
        health.gone = False
        if self._began:
            health.note(self._clock.now())

    def _hinder(self, replica_set: ReplicaSet, failure: Condition) -> None:
        health = self._health(_top_of(replica_set))
        health.last_obstacle = _no_leave(failure)

    def _forget(self, item: KubernetesObject) -> None:
        match item:
            case Node():
                self.nodes.pop(item.name, None)
                self.lose(item.name)
            case Pod():
                self._waiting.pop(item.uid, None)
                health = self.health_of(item.uid)
                if health is not None:
                    self._leave(health, item)
            case _:
                self._selectable.pop(item.uid, None)
                self._replica_sets.pop(item.uid, None)
                if (health := self.workloads.get(_key(item.reference))) is not None:
                    health.gone = True

    def _place_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for pod in waiting.values():
            self._place(pod)

    def _move_from(self, former: Reference) -> None:
        """A ReplicaSet was adopted, or let go: it or its Deployment has no pods of it any more."""
        health = self._health(former)
        health.gone = health.gone or health.workload.kind == "ReplicaSet"
        for pod in list(health.pods.values()):
            self._place(pod)

    def _leave(self, health: Health, pod: Pod) -> None:
        """A pod is none of this workload's any more."""
        health.pods.pop(pod.uid, None)
        if health.workload.kind == "Pod":
            health.gone = True
        self._count(health, pod)

    def _place(self, pod: Pod) -> None:
        home = self._home_of(pod)
        if home is None:
            self._waiting[pod.uid] = pod
            return
        before, health = self.health_of(pod.uid), self._health(home)
        if before is not None and before is not health:
            self._leave(before, pod)
        self._home[pod.uid] = health.workload
        health.pods[pod.uid] = pod
        if pod.finished and not pod.leaving:
            self._finished.add(pod.uid)
        health.last_obstacle = _no_place(pod) or health.last_obstacle
        self._count(health, pod)

    def _home_of(self, pod: Pod) -> Reference | None:
        """The workload of a pod; None if its owner is not known yet."""
        former, owner = self._home.get(pod.uid), pod.controller
        if owner is None:
            return former or (self._selecting(pod) if pod.released else pod.reference)
        if owner.full_kind != "ReplicaSet":
            return Reference(kind=owner.full_kind, namespace=pod.namespace, name=owner.name)
        replica_set = self._replica_sets.get(owner.uid)
        return _top_of(replica_set) if replica_set is not None else former

    def _selecting(self, pod: Pod) -> Reference | None:
        """The workload of a released pod: its Deployment, or one that still selects it."""
        owner = pod.metadata.controller
        if owner is not None:
            return Reference(kind=owner.full_kind, namespace=pod.namespace, name=owner.name)
        for item in self._selectable.values():
            if (
                not isinstance(item, ReplicaSet)
                and item.namespace == pod.namespace
                and item.spec.selector.matches(pod.metadata.labels)
            ):
                return item.reference
        return None

    def _health(self, workload: Reference) -> Health:
        key = _key(workload)
        if key not in self.workloads:
            self.workloads[key] = Health(workload=key)
        return self.workloads[key]

    def _count(self, health: Health, *changed: Pod) -> None:
        """Count a workload's pods again, of which these have changed."""
        for pod in changed:
            health.see(pod.uid, pod.spec.node_name, serves=self._serves(health, pod))
        if not self._began or health.gone:
            return
        health.look()
        health.note(self._clock.now())
        if health.ready == 0 and health.wanted != 0 and health.outage is None:
            health.outage = Outage(self._clock.now(), self.obstacle(health))

    def _serves(self, health: Health, pod: Pod) -> bool:
        return (
            pod.uid in health.pods
            and pod.ready
            and pod.active
            and pod.spec.node_name not in self.lost_nodes
        )

    def obstacle(self, health: Health) -> str:
        """What keeps new pods of a workload from running: no place for them, or no leave.

        Empty if nothing does, as far as the scheduler and the controllers say.
        """
        for pod in health.pods.values():
            if refused := _no_place(pod):
                return refused
        for replica_set in self._replica_sets.values():
            failure = replica_set.cannot_create
            if failure is not None and _key(_top_of(replica_set)) == health.workload:
                return _no_leave(failure)
        return ""


def _no_place(pod: Pod) -> str:
    """What the scheduler says of a pod that it finds no node for; empty if it does not."""
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.reason == "Unschedulable":
            return f"no place for a replacement: {condition.message}"
    return ""


def _no_leave(failure: Condition) -> str:
    """The controller's message from the point on where it does not name the pod any more."""
    _, _, why = failure.message.partition(" is forbidden: ")
    return f"a replacement is refused: {why or failure.message}"


def _top_of(replica_set: ReplicaSet) -> Reference:
    """The Deployment of a ReplicaSet, or itself."""
    top = replica_set.controller
    if top is None:
        return replica_set.reference
    return Reference(kind=top.full_kind, namespace=replica_set.namespace, name=top.name)


def _key(reference: Reference) -> Reference:
    """A workload is known by its name: a person who makes it again means the same one."""
    return Reference(kind=reference.kind, namespace=reference.namespace, name=reference.name)
