"""One storm on a copy of a cluster."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache, partial
from typing import Any, Final, NamedTuple, Self, override

import msgspec

from evenkeel.decisions.notice.event import INSTANCE_ID
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.interruption import key_of
from evenkeel.model.meta import Reference
from evenkeel.model.node import Node
from evenkeel.model.notice import NoticeKind
from evenkeel.model.pool import Pool
from evenkeel.ports import Ports
from evenkeel.settings.handover import SEATS
from evenkeel.settings.shared import CAPACITY_LABELS
from evenkeel_cli import event_files, events
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.simulate.results import Dip, Trial
from evenkeel_cli.simulation import ReportedSimulation
from evenkeel_hosting import files
from evenkeel_sandbox import snapshot_cluster
from evenkeel_sandbox.built_in import placing
from evenkeel_sandbox.built_in.cluster import OPTIONS
from evenkeel_sandbox.events import Arriving, for_instance, freshened
from evenkeel_sandbox.observer.health import Health
from evenkeel_sandbox.simulation import Responder, nodes_of
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.storms import drainer
from evenkeel_sandbox.storms.autoscaler import Autoscaler
from evenkeel_sandbox.storms.drainer import Drainer
from evenkeel_sandbox.storms.new_nodes import instance_id, on_demand
from evenkeel_sandbox.storms.shapes import Pools, Shape, Strike, pools_among
from evenkeel_sandbox.storms.starts import Range, node_start_of, start_seconds_of

NOTHING: Final = timedelta()
SPREAD: Final = 180.0
"""Seconds within which a storm's notices come, if nothing is said."""

POD_START: Final = 20.0
NODE_START: Final = 60.0
"""Seconds that pods and nodes take of which a cluster's own do not tell it, if nothing is said."""

STEP: Final = timedelta(seconds=1)
LATER: Final = timedelta(minutes=1)
"""A storm begins so long after the last that a cluster's objects tell of."""

EARLIEST: Final = datetime(2026, 1, 1, tzinfo=UTC)
AFTERWARDS: Final = timedelta(minutes=10)
"""So long after the last notice a storm is watched at most."""

TOO_SOON: Final = "its pods went before others were ready"

SERVING: Final = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})

SAMPLES: Final = {
    NoticeKind.INTERRUPTION: "interruption-warning-terminate",
    NoticeKind.REBALANCE: "rebalance-recommendation",
}


class Policy(StrEnum):
    """Who acts on notices."""

    EVENKEEL = "evenkeel"
    EVICT = "evict"
    DELETE = "delete"
    ALL_ON_DEMAND = "all-on-demand"
    """Nobody: every spot node is an on-demand one, of which no notice is given."""


type Objects = Sequence[Mapping[str, Any]]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """The storms that come, who acts, and how fast the cluster is.

    ``pod_start`` (seconds) and ``node_start`` are for pods and nodes of which the cluster does not
    tell it. ``seats``: so many there may be at a time.
    """

    shape: Shape
    policy: Policy
    pod_start: Range = (POD_START, POD_START)
    node_start: timedelta = timedelta(seconds=NODE_START)
    labels: CapacityLabels
    seats: int = SEATS.usual


class Ground(NamedTuple):
    """A cluster that storms may come over: what is found out of its objects once for all of them.

    ``latest`` is when the last of them was made or changed. ``pod_starts`` and ``node_starts`` are
    how long its pods and nodes take, where it tells.
    """

    objects: Objects
    latest: datetime
    pod_starts: Mapping[str, Range]
    node_starts: Mapping[Pool, timedelta]

    @classmethod
    def of(cls, objects: Objects) -> Self:
        """The ground that a cluster is. All its nodes are EC2 instances there."""
        own = [dict(each) for each in objects]
        pods = (each for each in own if each["kind"] == "Pod")
        starts = start_seconds_of(pods), node_start_of(own)
        return cls(list(map(_with_instance, own)), _latest(own), *starts)


def run(ground: Ground, setting: Setting, seed: int) -> Trial:
    """Let one storm come over a copy of the cluster. The same seed gives the same result."""
    return storm(ground, setting, seed).watch()


def in_plain_eviction(ground: Ground, setting: Setting, seed: int) -> "Storm":
    """The same storm where a plain eviction answers its notices, after it is over."""
    plain = storm(ground, msgspec.structs.replace(setting, policy=Policy.EVICT), seed)
    plain.watch()
    return plain


def storm(ground: Ground, setting: Setting, seed: int) -> "Storm":
    """One storm, of which nothing has come yet."""
    return Storm(*copied(ground, seed, setting.pod_start), setting, ground, seed)


def copied(
    ground: Ground, seed: int, pod_start: Range = (POD_START, POD_START)
) -> tuple[SimulatedClock, SimulatedCluster]:
    """A copy of the cluster, and its clock. ``pod_start``: of pods of which it does not tell it."""
    clock = SimulatedClock(ground.latest + LATER)
    options = SimulatorOptions(
        seed=seed,
        start_seconds=pod_start,
        start_seconds_of=ground.pod_starts,
        stop_seconds=OPTIONS.stop_seconds,
    )
    return clock, snapshot_cluster.build(ground.objects, clock, options)


def cluster_under(policy: Policy, objects: Objects, labels: CapacityLabels) -> Objects:
    """A cluster's objects where this policy is followed."""
    if policy is not Policy.ALL_ON_DEMAND:
        return objects
    return [on_demand(each, labels) if each["kind"] == "Node" else each for each in objects]


def _with_instance(each: Mapping[str, Any]) -> Mapping[str, Any]:
    """A node with the id of an EC2 instance, made up where it is of another cloud or of none."""
    if each["kind"] != "Node" or INSTANCE_ID.fullmatch(msgspec.convert(each, Node).instance_id):
        return each
    its = f"aws:///none/{instance_id(each['metadata']['name'])}"
    return {**each, "spec": {**each.get("spec", {}), "providerID": its}}


def _latest(objects: Objects) -> datetime:
    """When the last of a cluster's objects was made, or was last said to be in some condition."""
    times = [
        text
        for each in objects
        for text in (
            each["metadata"].get("creationTimestamp"),
            each.get("status", {}).get("startTime"),
            *(c.get("lastTransitionTime") for c in each.get("status", {}).get("conditions") or ()),
        )
    ]
    return max((datetime.fromisoformat(text) for text in times if text), default=EARLIEST)


def struck(objects: Objects, setting: Setting, seed: int) -> Collection[str]:
    """The names of the nodes that get a notice in a storm."""
    pools = pools_in(objects, setting)
    return {each.node for each in setting.shape.strikes(pools, seed)}


def pools_in(objects: Objects, setting: Setting) -> Pools:
    """The pools of a cluster's spot nodes."""
    nodes = (msgspec.convert(each, Node) for each in objects if each["kind"] == "Node")
    return pools_among(nodes, setting.labels)


def check(objects: Objects, setting: Setting) -> None:
    """Raise BadInputError where the storms would take no node."""
    pools = pools_in(objects, setting)
    if not pools:
        raise BadInputError(
            f"no node is spot by the labels {', '.join(setting.labels.keys)}: name the one that"
            f" tells it in {CAPACITY_LABELS}"
        )
    if not setting.shape.strikes(pools, 0):
        there = ", ".join(f"{pool.type}/{pool.zone}" for pool in sorted(pools))
        raise BadInputError(f"the storm takes no node: the pools that there are are {there}")


class Storm(ReportedSimulation):
    """A simulation with an autoscaler, in which another may act than Evenkeel."""

    def __init__(
        self,
        clock: SimulatedClock,
        cluster: SimulatedCluster,
        setting: Setting,
        ground: Ground,
        seed: int,
    ) -> None:
        self._setting = setting
        self._seed = seed
        if setting.policy is Policy.EVENKEEL:
            placing.install(cluster)
        super().__init__(clock, cluster, labels=setting.labels, seats=setting.seats)
        self._pools = pools_among(nodes_of(cluster), setting.labels)
        self._autoscaler = self._scale(ground)
        self.struck = 0
        self._lost = 0
        self.on_loss = self._count_lost
        self._below: Counter[Reference] = Counter()
        self._at_zero: Counter[Reference] = Counter()

    @override
    def _deploy(self, ports: Ports) -> Responder:
        if self._setting.policy is Policy.EVENKEEL:
            responder = super()._deploy(ports)
            self.application.begin_restore()
            return responder
        tell = drainer.delete if self._setting.policy is Policy.DELETE else drainer.evict
        return Drainer(self.clock, self.cluster, tell)

    def _scale(self, ground: Ground) -> Autoscaler:
        """Who makes nodes."""
        setting = self._setting
        return Autoscaler(
            self.clock,
            self.cluster,
            setting.labels,
            self.join,
            after=setting.node_start,
            after_of=ground.node_starts,
        )

    def watch(self) -> Trial:
        """Let the storm pass."""
        for _ in self.steps():
            self._count()
        found = self._trial(self.struck)
        self.close()
        return found

    def steps(self) -> Iterator[None]:
        """Let the notices come, and time pass until all is well or nothing changes any more.

        A step is a second.
        """
        strikes = self._setting.shape.strikes(self._pools, self._seed) if self._pools else ()
        self.struck = len({strike.node for strike in strikes})
        begins = self.clock.now()
        instances = {node.name: node.instance_id for node in nodes_of(self.cluster)}
        for number, strike in enumerate(strikes):
            arriving = self._arriving(strike, instances[strike.node], f"storm-{number}")
            self.clock.call_at(begins + strike.after, partial(self._send, arriving))
        last = begins + max((strike.after for strike in strikes), default=NOTHING)
        while self.clock.now() <= last or not self._is_well():
            if self.clock.now() > last + AFTERWARDS:
                break
            self.advance(STEP)
            yield

    def _arriving(self, strike: Strike, instance_id: str, event_id: str) -> Arriving:
        """The event of a strike."""
        return for_instance(sample(strike.kind), instance_id, event_id)

    def _send(self, arriving: Arriving) -> None:
        self.send(freshened(arriving, self.clock.now()))

    def _is_well(self) -> bool:
        return self.is_over and all(
            health.ready >= _wanted(health) for health in self.observer.workloads.values()
        )

    def _count_lost(self, _node: str, pods: int) -> None:
        self._lost += pods

    def _count(self) -> None:
        for reference, health in self.observer.workloads.items():
            if health.ready < _wanted(health):
                self._below[reference] += 1
                self._at_zero[reference] += not health.ready

    def _trial(self, nodes: int) -> Trial:
        whys = {key_of(each.subject): each.why for each in self.account().workloads}
        dips = [
            self._dip(reference, health, whys.get(key_of(reference), ""))
            for reference, health in self.observer.workloads.items()
            if health.lowest < _wanted(health)
        ]
        return Trial(
            nodes=nodes,
            made=self._autoscaler.made,
            lost=self._lost,
            dips=dips,
        )

    def _dip(self, reference: Reference, health: Health, why: str) -> Dip:
        pools = Counter(
            {pool: len(health.first_nodes.intersection(on)) for pool, on in self._pools.items()}
        )
        return Dip(
            workload=reference,
            before=_wanted(health),
            lowest=health.lowest,
            below=self._below[reference],
            at_zero=self._at_zero[reference],
            recovered=health.ready >= _wanted(health),
            because=why or health.last_obstacle or TOO_SOON,
            pool=str(next(iter(_most(pools)), "")),
        )


def _wanted(health: Health) -> int:
    """How many pods a workload had, and still wants: 0 of what serves nobody, as a Job.

    One that is gone wants none, such as a ReplicaSet that a Deployment adopted.
    """
    if health.gone or health.workload.kind not in SERVING:
        return 0
    return min(health.before, health.wanted or 0)


def _most[T](counts: Counter[T]) -> Sequence[T]:
    return [each for each, _ in counts.most_common(1)]


def sample(kind: NoticeKind) -> Arriving:
    """Evenkeel's own sample of such an event."""
    return _samples()[kind]


@cache
def _samples() -> Mapping[NoticeKind, Arriving]:
    paths = {path.stem: str(path) for path in files.sample_events()}
    return {
        kind: events.understand(event_files.read_all([paths[stem]]))[0][0]
        for kind, stem in SAMPLES.items()
    }
