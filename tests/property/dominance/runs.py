"""One world in one run: what each workload lost."""

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple, override

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.ports import Ports
from evenkeel_cli.simulate.trial import Ground, Policy, Setting, Storm, copied
from evenkeel_hosting.files import ROOT
from evenkeel_sandbox.events import Arriving, Place, read_event
from evenkeel_sandbox.observer.health import Look
from evenkeel_sandbox.simulation import Responder
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    is_finished,
    is_leaving,
    is_ready,
    labels_of,
    parse_time,
    uid_of,
)
from evenkeel_sandbox.storms.autoscaler import Autoscaler
from evenkeel_sandbox.storms.new_nodes import shapes
from evenkeel_sandbox.storms.shapes import Strike
from tests.property.dominance.worlds import ZONE, World

WATCHED: Final = timedelta(minutes=15)
"""So long after its first warning a world is watched, in each run."""

LIFECYCLE_ACTION: Final = ROOT / "events" / "lifecycle-action-terminate.json"

ALIKE: Final = 11.0
"""Seconds that are no difference, for each pod: a step of a storm is a second, and the
scheduler lets a pod rest for up to 10 s before it looks for a node again."""


HEALTHY_AFTER: Final = timedelta(seconds=15)
"""So long after a pod is Ready a load balancer sends requests to it, until it is told to go."""


class Run(StrEnum):
    """Who acts on the warnings."""

    NOTHING = "nothing"
    DRAIN = "drain"
    EVENKEEL = "evenkeel"


class Loss(NamedTuple):
    """What the workload lost in a run: each number is the better the lower it is.

    ``missing``: for so many missing pods of the wanted ones the longest time (seconds) for which
    they were. ``below``: Ready-seconds below what is wanted. ``at_zero``: seconds without a Ready
    pod. ``refused``: seconds without a pod to which its load balancer sends requests.
    ``cut``: seconds that its pods lacked to stop when their nodes ended. ``late``: seconds until a
    Job is complete.
    """

    missing: Mapping[int, float]
    below: float
    at_zero: float
    refused: float
    cut: float
    late: float

    def most_missing(self, after: float = 0.0) -> int:
        """So many were missing at most, for more than so many seconds."""
        return max((number for number, lasted in self.missing.items() if lasted > after), default=0)

    @override
    def __str__(self) -> str:
        return (
            f"most missing {self.most_missing()} (lasting {self.most_missing(ALIKE)}), below"
            f" {self.below:.0f}, at zero {self.at_zero:.0f}, refused {self.refused:.0f},"
            f" cut {self.cut:.0f}, late {self.late:g}"
        )


class _Nobody:
    """Leaves all nodes to their end."""

    is_idle = True

    def send(self, event: Mapping[str, Any]) -> None:
        """Nothing."""


class _Pools(Autoscaler):
    """Gets nodes like those of a world before its storm, but in the zone that is sold out."""

    offers: Sequence[Obj] = ()

    @override
    def _offers(self, pod: Obj) -> Sequence[Obj]:
        return self.offers


class Played(Storm):
    """The storm of a world in one of its runs."""

    watched = WATCHED

    def __init__(self, world: World, objects: Sequence[Mapping[str, Any]], run: Run) -> None:
        self._world, self._run = world, run
        self.cut = 0.0
        self._told = dict[str, datetime]()
        self._ready_since = dict[str, datetime]()
        self._targets = list[tuple[datetime, datetime]]()  # from when until when each was one
        ground = Ground.of(objects)._replace(pod_starts={}, node_starts={})
        setting = Setting(
            shape=world,
            policy=Policy.EVENKEEL if run is Run.EVENKEEL else Policy.EVICT,
            pod_start=(world.pod_start, world.pod_start),
            node_start=timedelta(seconds=world.node_start),
            labels=WELL_KNOWN,
            seats=world.seats,
        )
        super().__init__(*copied(ground, 0, setting.pod_start), setting, ground, 0)
        self.cluster.server.store.observe("Pod", self._note)
        world.strangers(self.clock, self.cluster)

    @override
    def _deploy(self, ports: Ports) -> Responder:
        return _Nobody() if self._run is Run.NOTHING else super()._deploy(ports)

    @override
    def _arriving(self, strike: Strike, instance_id: str, event_id: str) -> Arriving:
        if not self._world.has_hooks or strike.kind.is_hint:
            return super()._arriving(strike, instance_id, event_id)
        sample = json.loads(LIFECYCLE_ACTION.read_text())
        token = str(uuid.uuid5(uuid.NAMESPACE_OID, event_id))
        its = {"EC2InstanceId": instance_id, "LifecycleActionToken": token}
        event = {**sample, "id": event_id, "detail": {**sample["detail"], **its}}
        return Arriving(Place(LIFECYCLE_ACTION.name, 1, 1), event, read_event(event))

    @override
    def _scale(self, ground: Ground) -> Autoscaler:
        world, labels = self._world, self._setting.labels
        made = _Pools(
            self.clock,
            self.cluster,
            labels,
            self.join,
            after=self._setting.node_start,
        )
        zones = ((each, each["metadata"]["labels"][ZONE]) for each in shapes(world.nodes, labels))
        made.offers = [each for each, zone in zones if zone != world.sold_out]
        return made

    def _note(self, old: Obj | None, new: Obj | None) -> None:
        """A pod gets Ready or is it no more, or is told to go."""
        now, uid = self.clock.now(), uid_of(new or old or {})
        if new is not None and is_leaving(new):
            self._told.setdefault(uid, now)
        if new is not None and is_ready(new) and not is_leaving(new):
            self._ready_since.setdefault(uid, now)
        elif (since := self._ready_since.pop(uid, None)) is not None:
            self._targets.append((since + HEALTHY_AFTER, now))

    @override
    def _lose(self, node_name: str) -> None:
        workload, now = self._world.workload, self.clock.now()
        for pod in self.cluster.server.store.pods_on(node_name):
            if not is_finished(pod):
                had = (now - self._told.get(uid_of(pod), now)).total_seconds()
                self.cut += max(0.0, workload.stop - had)
        super()._lose(node_name)

    def loss(self) -> Loss | None:
        """What the workload has lost at the end; None: it was not whole before."""
        workload, begins = self._world.workload, self.clock.now()
        end = begins + self.watched
        ready = (each for each in self.cluster.objects("Pod") if is_ready(each))
        self._ready_since = {uid_of(each): begins - HEALTHY_AFTER for each in ready}
        for _ in self.steps():
            pass
        self.clock.advance(max(timedelta(), end - self.clock.now()))
        late = self._late(begins)
        self._check_seats()
        self.close()
        healths = {ref.name: health for ref, health in self.observer.workloads.items()}
        health = healths[workload.app]
        if health.before != workload.replicas:
            return None
        refused = self._refused(begins, end) if workload.is_balanced else 0.0
        return Loss(*_lost(health.seen, end), refused, self.cut, late)

    def _refused(self, begins: datetime, end: datetime) -> float:
        """Seconds for which a load balancer has no pod to send requests to."""
        lasting = ((since + HEALTHY_AFTER, end) for since in self._ready_since.values())
        targets = sorted(each for each in (*self._targets, *lasting) if each[0] < each[1])
        refused, served = timedelta(), begins
        for since, until in (*targets, (end, end)):
            refused += max(timedelta(), since - served)
            served = max(served, until)
        return refused.total_seconds()

    def _check_seats(self) -> None:
        """No seat is left, nor a node held for one, but for pods that wait for nodes still."""
        pods = self.cluster.objects("Pod")
        if all(each["spec"].get("nodeName") for each in pods):
            nodes = self.cluster.objects("Node")
            assert not [each for each in pods if names.SEAT in labels_of(each)]
            assert not [each for each in nodes if names.SEAT in labels_of(each)]

    def _late(self, begins: datetime) -> float:
        for job in self.cluster.objects("Job"):
            text = job.get("status", {}).get("completionTime")
            done = parse_time(text) if text else begins + self.watched
            return (done - begins).total_seconds()
        return 0.0


def loss(world: World, objects: Sequence[Mapping[str, Any]], run: Run) -> Loss | None:
    """What the workload lost; None if it was not whole before."""
    return Played(world, objects, run).loss()


def _lost(seen: Sequence[Look], end: datetime) -> tuple[Mapping[int, float], float, float]:
    """See the first fields of Loss."""
    below, at_zero, longest, now = 0.0, 0.0, Counter[int](), Counter[int]()
    for look, until in zip(seen, [*(each.at for each in seen[1:]), end], strict=True):
        seconds, wanted = max(0.0, (min(until, end) - look.at).total_seconds()), look.wanted or 0
        missing = max(0, wanted - look.ready)
        now = Counter({number: now[number] + seconds for number in range(1, missing + 1)})
        longest |= now
        below += missing * seconds
        at_zero += seconds if wanted and not look.ready else 0
    return longest, below, at_zero
