"""Replaying on a real cluster: a plan, or with --apply the deed."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.flows.reads import ask
from evenkeel.flows.selections import pods_on
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, Notice
from evenkeel.model.request import List, Selection
from evenkeel.ports import Clock, Cluster, Ports, Recorder, Session
from evenkeel.settings import Mode
from evenkeel_cli import binding, namespaces, observed
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.guards import Guard, GuardedCluster
from evenkeel_cli.history import incident
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.nodes import SHORT
from evenkeel_cli.journal import Journal
from evenkeel_cli.replay.output import Printer
from evenkeel_cli.replay.task import Task
from evenkeel_cli.ways import situations
from evenkeel_sandbox.application import CLUSTER_NAME, Application
from evenkeel_sandbox.node_instances import NodeInstances
from evenkeel_sandbox.observer.workloads import Observer, in_namespaces
from evenkeel_sandbox.simulator.auto_scaling import AssumedAutoScaling
from evenkeel_sandbox.simulator.clock import SimulatedClock

LOOK: Final = timedelta(milliseconds=100)
LINGERING: Final = timedelta(seconds=2)
LIST_WITHIN: Final = timedelta(seconds=60)
PATIENCE: Final = 5
"""So many times the functions may raise before it is taken for their nature."""

PLAN_STEP: Final = timedelta(seconds=1)
PLAN_ROUNDS: Final = 20
"""On the queues' own clock, which need not wait for the real one to make a plan."""


class Replay:
    """The functions around a real cluster, with the events' instances bound to its nodes."""

    def __init__(self, task: Task, cluster: Cluster, clock: Clock, mode: Mode) -> None:
        """Read the nodes and bind, and the pods on them. Raises ClusterError, BadInputError."""
        self._task = task
        self._clock = clock
        namespaces.check(cluster, task.namespace)
        nodes = ask(cluster, List(Selection(Node), fresh=False)).items
        bound = binding.bind(task.notices, nodes, task.wish, lend=False)
        self._node_of = {n.instance_id: n.name for n in nodes if n.instance_id} | bound
        guard = Guard(mode is Mode.ACT, {name: each for each, name in bound.items()})
        self.cluster = GuardedCluster(cluster, guard)
        self.journal = Journal(clock)
        self.situations = situations(self.cluster, [pods_on(name) for name in self.doomed])
        recorders: list[Recorder] = [self.journal, *task.recorders(clock, mode)]
        if mode is Mode.ACT:
            recorders.append(ClusterEvents(self.cluster, clock, self.journal, observes=False))
        instances = NodeInstances(
            *(self.cluster, clock, CLUSTER_NAME),
            labels=task.wish.labels,
            spot=task.of(Concern.SPOT, bound),
            reserved=task.of(Concern.RESERVED, self._node_of),
            notices=task.notices,
        )
        ports = Ports(self.cluster, instances, clock, Tee(*recorders), AssumedAutoScaling())
        self._driver = SimulatedClock(clock.now())
        self._application = Application(ports, self._driver, mode, task.wish.labels, stands_in=True)
        self._began = clock.now()

    @property
    def doomed(self) -> Mapping[str, Notice]:
        """The notice of each node that one is about; of several the gravest."""
        found: dict[str, Notice] = {}
        for notice in sorted(self._task.notices, key=lambda notice: not notice.is_hint):
            if notice.instance_id in self._node_of:
                found[self._node_of[notice.instance_id]] = notice
        return found

    @property
    def strangers(self) -> list[str]:
        """The instances that are no node of this cluster."""
        ids = dict.fromkeys(notice.instance_id for notice in self._task.notices)
        return [each for each in ids if each not in self._node_of]

    def plan(self, printer: Printer) -> None:
        """Let the functions say what they would do now. Raises UnmetError if they cannot."""
        self._send(printer)
        for _ in range(PLAN_ROUNDS):
            self._driver.advance(PLAN_STEP)
            if self._application.is_idle:
                return
        raise UnmetError(f"the plan could not be made: {self._complaint()}")

    def act(self, printer: Printer) -> Incident:
        """Act until all is quiet, and answer what was seen. Raises UnmetError."""
        observer = Observer(self._clock, in_namespaces({s.pod.namespace for s in self.situations}))
        with self.cluster.session() as session:
            observer.watch(session)
            self._look_around(observer, session)
            observer.begin()
            self._send(printer)
            while not self._application.is_idle:
                self._driver.advance(self._clock.now() - self._driver.now())
                observer.absorb(session.next(LOOK))
                if len(self._application.errors) > PATIENCE:
                    raise UnmetError(f"the functions fail: {self._complaint()}")
            self._linger(observer, session)
        return self._account(observer)

    def _send(self, printer: Printer) -> None:
        self.journal.listener = printer.decided
        for arriving in self._task.arriving:
            notice = arriving.notice
            node = self._node_of.get(notice.instance_id, "") if notice is not None else ""
            printer.event(arriving, node)
            self._application.send(arriving.event)

    def _look_around(self, observer: Observer, session: Session) -> None:
        deadline = self._clock.now() + LIST_WITHIN
        while not observer.complete:
            observer.absorb(session.next(LOOK))
            if self._clock.now() > deadline:
                raise UnmetError(
                    "the pods could not be listed in time: check that you may list and watch"
                    " deployments, replicasets, statefulsets, jobs and pods"
                )

    def _linger(self, observer: Observer, session: Session) -> None:
        """Take in what is still on its way to the observer."""
        end = self._clock.now() + LINGERING
        while self._clock.now() < end:
            observer.absorb(session.next(LOOK))

    def _account(self, observer: Observer) -> Incident:
        records = self.journal.records(CLUSTER_NAME, Mode.ACT)
        hasty = {
            node
            for node, notice in self.doomed.items()
            if notice.deadline - self._began < SHORT and not notice.is_hint
        }
        return incident.seen(records, observed.of(observer, self._clock.now(), hasty))

    def _complaint(self) -> str:
        errors = self._application.errors
        if errors:
            return f"{type(errors[-1]).__name__}: {errors[-1]}"
        return self.journal.notes[-1] if self.journal.notes else "they are still busy"
