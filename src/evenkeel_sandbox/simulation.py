"""Evenkeel on a simulated cluster, with EC2 that ends instances and an observer outside."""

import uuid
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Protocol

import msgspec
import yaml

from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.hook import Hook, Termination
from evenkeel.model.node import Node
from evenkeel.model.notice import Notice
from evenkeel.ports import Ports, Recorder
from evenkeel.settings import Mode
from evenkeel.settings.handover import SEATS
from evenkeel_hosting import files
from evenkeel_sandbox.application import CLUSTER_NAME, Application
from evenkeel_sandbox.ec2 import SimulatedEc2
from evenkeel_sandbox.events import Arriving
from evenkeel_sandbox.observer.workloads import Observer
from evenkeel_sandbox.simulator.auto_scaling import AssumedAutoScaling, SimulatedAutoScaling
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.instances import SimulatedInstances

LOOK: Final = timedelta(seconds=1)


SEAT_CLASS: Final = yaml.safe_load(files.manifest("rbac", "seat-class.yaml"))
"""The PriorityClass that seats need."""


def install_seat_class(cluster: SimulatedCluster) -> None:
    """Make the PriorityClass that seats need.

    Its uid is no draw of the cluster's: all others are what they are without it.
    """
    metadata = SEAT_CLASS["metadata"]
    uid = str(uuid.uuid5(uuid.NAMESPACE_DNS, metadata["name"]))
    cluster.load({**SEAT_CLASS, "metadata": {**metadata, "uid": uid}})


class Responder(Protocol):
    """Who is told of events, and acts on the cluster."""

    @property
    def is_idle(self) -> bool:
        """Whether it has nothing left to do."""

    def send(self, event: Mapping[str, Any]) -> None:
        """An event has come."""


class Simulation:
    """A simulated cluster under Evenkeel's care. Time passes when ``advance`` is called."""

    def __init__(
        self,
        clock: SimulatedClock,
        cluster: SimulatedCluster,
        *recorders: Recorder,
        labels: CapacityLabels = WELL_KNOWN,
        spot: Container[str] = (),
        reserved: Container[str] = (),
        seats: int = SEATS.usual,
    ) -> None:
        """Take over a cluster; from now on it is watched, and Evenkeel is there.

        ``labels`` tell which nodes are spot; the instances ``spot`` are, whatever they tell, and
        the instances ``reserved`` run in reserved capacity. ``seats``: so many there may be at a
        time.
        ``on_event`` may be set to hear of every event and the node that it is about (empty:
        none), ``on_loss`` of every machine's end and how many pods were on it that had not been
        told to go, DaemonSets' aside.
        """
        self.clock = clock
        self.cluster = cluster
        self.on_event: Callable[[Arriving, str], None] = _ignore
        self.on_loss: Callable[[str, int], None] = _ignore
        self.observer = Observer(clock)
        self._instances = SimulatedInstances()
        self._labels = labels
        self._seats = seats
        self._waiting: dict[str, Notice] = {}
        self._instances.adopt(
            nodes_of(cluster), CLUSTER_NAME, labels=labels, spot=spot, reserved=reserved
        )
        self.ec2 = SimulatedEc2(clock, cluster, self._instances, self._lose)
        self._auto_scaling = SimulatedAutoScaling(clock, self._terminate)
        ports = Ports(cluster, self._instances, clock, Tee(*recorders), self._auto_scaling)
        self.responder = self._deploy(ports)
        clock.start(self._watch)
        while not self.observer.complete:
            clock.advance(LOOK)
        self.observer.begin()
        self.started = clock.now()

    def send(self, arriving: Arriving) -> None:
        """Let an event happen now: EC2 does what it says, Evenkeel hears of it."""
        names = {node.instance_id: node.name for node in nodes_of(self.cluster)}
        nodes = [names.get(notice.instance_id, "") for notice in arriving.notices]
        self.on_event(arriving, next(iter(nodes), ""))
        for notice, node in zip(arriving.notices, nodes, strict=True):
            if node and notice.hook is not None:
                self._wait_for_hook(notice, notice.hook)
            elif node:
                self.ec2.announce(notice, node)
        self.responder.send(arriving.event)

    def join(self, manifests: Sequence[Mapping[str, Any]]) -> None:
        """Let nodes come, whose instances run from now on."""
        self.cluster.apply(*manifests)
        names = {manifest["metadata"]["name"] for manifest in manifests}
        came = (node for node in nodes_of(self.cluster) if node.name in names)
        self._instances.adopt(came, CLUSTER_NAME, labels=self._labels)

    def advance(self, duration: timedelta) -> None:
        """Let time pass."""
        self.clock.advance(duration)

    @property
    def is_over(self) -> bool:
        """Whether every announced end has come, and Evenkeel has nothing left to do."""
        last = self.ec2.last_end
        is_waiting = bool(self._waiting) or (last is not None and last > self.clock.now())
        return not is_waiting and self.responder.is_idle

    def close(self) -> None:
        """End everything that still waits on the clock."""
        self.clock.stop()

    def _deploy(self, ports: Ports) -> Responder:
        """Evenkeel's functions, as they are deployed: ``application``."""
        install_seat_class(self.cluster)
        self.application = Application(ports, self.clock, Mode.ACT, self._labels, seats=self._seats)
        return self.application

    def _wait_for_hook(self, notice: Notice, hook: Hook) -> None:
        """An Auto Scaling group begins to terminate an instance, and waits."""
        self._waiting[notice.instance_id] = notice
        self._auto_scaling.put_hook(hook.group, hook.name, AssumedAutoScaling.TIMES)
        self._auto_scaling.begin(Termination(hook, notice.instance_id))

    def _terminate(self, instance_id: str) -> None:
        """Auto Scaling waits no more: the instance goes."""
        notice = self._waiting.pop(instance_id)
        names = {node.instance_id: node.name for node in nodes_of(self.cluster)}
        if instance_id in names:
            now = self.clock.now()
            self.ec2.announce(msgspec.structs.replace(notice, deadline=now), names[instance_id])

    def _lose(self, node_name: str) -> None:
        pods = self.observer.lose(node_name)
        self.on_loss(node_name, pods)

    def _watch(self) -> None:
        with self.cluster.session() as session:
            self.observer.watch(session)
            while True:
                self.observer.absorb(session.next(LOOK))


def _ignore(*_: object) -> None:
    """The caller wants no account."""


def rebind(cluster: SimulatedCluster, nodes: Mapping[str, str]) -> None:
    """Make nodes be other instances, by instance id; before a Simulation takes them over."""
    instance_of = {name: instance_id for instance_id, name in nodes.items()}
    for obj in cluster.objects("Node"):
        instance_id = instance_of.get(obj["metadata"]["name"])
        if instance_id is not None:
            zone = obj["metadata"].get("labels", {}).get("topology.kubernetes.io/zone", "bound")
            provider_id = f"aws:///{zone}/{instance_id}"
            cluster.load({**obj, "spec": {**obj["spec"], "providerID": provider_id}})


def nodes_of(cluster: SimulatedCluster) -> list[Node]:
    """The nodes of a simulated cluster, in the order of their names."""
    return [msgspec.convert(obj, Node) for obj in cluster.objects("Node")]
