"""One scene from its beginning to its end: the cluster, EC2, the queues, Evenkeel's functions."""

import contextlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from evenkeel.decisions.notice.which_notice import OUTLIVED_AFTER
from evenkeel.errors import ClusterError, ForbiddenError
from evenkeel.flows.reads import ask
from evenkeel.handlers import Handler, handover, interruption
from evenkeel.model import names
from evenkeel.model.instance import SPOT, Instance
from evenkeel.model.node import Node
from evenkeel.model.notice import WakeUp
from evenkeel.model.request import List, Selection, Write
from evenkeel.ports import Ports
from evenkeel.settings import HandoverSettings, InterruptionSettings, Mode
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.application import Environments, Wiring
from evenkeel_sandbox.simulator.api.eviction import evict
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    is_active,
    is_ready,
    key_of,
    labels_of,
    node_of,
    uid_of,
)
from evenkeel_sandbox.simulator.api.webhooks import Client
from evenkeel_sandbox.simulator.clock import Process, SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.instances import SimulatedInstances
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.simulator.queues import SimulatedQueue
from evenkeel_sandbox.simulator.staleness import NONE
from tests.kit.drainer import Asking
from tests.kit.manifests import PAUSED
from tests.kit.others import effect
from tests.property import events, levels, manifests
from tests.property.draining import Draining
from tests.property.hands import Cause, Deed, Hands, SignedCluster
from tests.property.meddling import MEDDLING, Meddling
from tests.property.plumbing import ForgetfulQueue, Line
from tests.property.scenes import Disturbance, News, NoticePlan, Recovery, Scene, Trouble
from tests.property.spectator import Ledger, Life, Spectator

BEGINNING: Final = datetime(2026, 11, 21, 6, 0, 0, 370_000, tzinfo=UTC)
CLUSTER_NAME: Final = "prod"
MINUTE: Final = timedelta(minutes=1)
A_MOMENT: Final = timedelta(milliseconds=100)
ENDING: Final = timedelta(seconds=5)
"""How long an instance is shutting down."""

REDELIVERY: Final = timedelta(seconds=20)
"""So long after an invocation took a message it comes again, unless that was deleted."""

UNREADY_FOR: Final = timedelta(seconds=20)
TURNS: Final = 10
"""After one of so many of the drain's turns its plans are looked at."""


@dataclass(frozen=True, slots=True)
class Story:
    """What happened in a scene; ``later_deeds`` when everything came once more after the end.

    ``deaths``: when each node's machine went. ``began_at`` is the zero of the scene's times.
    ``alone_at``: from when on the schedule alone was left, where messages were lost. ``asked``:
    the evictions that drainers asked for, by the name of the pod. ``forgotten``: plans that would
    have been others had they been made anew (see ``levels``). ``ledgers``: how many pods of each
    workload served. ``cordons``: which nodes an operator has cordoned last, and which
    uncordoned. ``cordoned``: which nodes are in the end.
    """

    scene: Scene
    began_at: datetime
    deeds: Sequence[Deed]
    later_deeds: Sequence[Deed]
    lives: Sequence[Life]
    dips: Sequence[str]
    deaths: dict[str, datetime]
    crashed_at: datetime | None
    alone_at: datetime | None
    errors: Sequence[Exception]
    asked: Mapping[str, Asking]
    forgotten: Sequence[str]
    recorder: InMemoryRecorder
    ledgers: Mapping[str, Ledger]
    cordons: Mapping[str, bool]
    cordoned: Mapping[str, bool]

    def seconds(self, when: datetime) -> float:
        """A time as the scene counts it."""
        return (when - self.began_at).total_seconds()

    def time(self, seconds: float) -> datetime:
        """A time of the scene on the clock."""
        return self.began_at + timedelta(seconds=seconds)


def play(scene: Scene) -> Story:
    """Let a scene happen, and then deliver all notices once more.

    The same scene has the same story.
    """
    with levels.watched(one_of=TURNS) as forgotten:
        return _World(scene, forgotten).play()


class _World:
    def __init__(self, scene: Scene, forgotten: Sequence[str]) -> None:
        self.scene = scene
        self.forgotten = forgotten
        self.clock = SimulatedClock(BEGINNING)
        options = SimulatorOptions(
            seed=scene.seed,
            controller_qps=scene.controller_qps,
            staleness=scene.staleness or NONE,
        )
        self.cluster = SimulatedCluster(self.clock, options)
        self.hands = Hands(self.clock, scene.crash)
        self.began_at = BEGINNING + timedelta(seconds=scene.age)
        self.plans = {f"w{number}": plan for number, plan in enumerate(scene.workloads)}
        self.spectator = Spectator(self.cluster, self.hands, self.plans, self._deadline)
        self.spectator.may_roll_out = any(
            each.trouble is Trouble.ROLL_OUT for each in scene.disturbances
        )
        self.instances = SimulatedInstances()
        self.notices = SimulatedQueue(
            self.clock, "notices", retention=timedelta(seconds=300), receive_limit=1_000
        )
        self.wake_ups = ForgetfulQueue(self.clock, "wake-ups")
        self.line = Line(self.wake_ups)
        self.recorder = InMemoryRecorder()
        self.draining = Draining(self.cluster, self.hands, self.recorder, scene.window)
        self.numbers = itertools.count()
        self.deaths: dict[str, datetime] = {}
        self.alone_at: datetime | None = None
        self.meddling = Meddling(self.cluster, self.hands)

    def play(self) -> Story:
        try:
            self._set_up()
            self._deploy()
            self.clock.advance(self.began_at - self.clock.now())
            self._arrange()
            self.clock.advance(timedelta(seconds=self.scene.end))
            deeds = list(self.hands.deeds)
            self._deliver_again()
            self.clock.advance(1.5 * MINUTE)
        finally:
            self.clock.stop()
        return Story(
            scene=self.scene,
            began_at=self.began_at,
            deeds=deeds,
            later_deeds=self.hands.deeds[len(deeds) :],
            lives=list(self.spectator.lives.values()),
            dips=self.spectator.dips,
            deaths=self.deaths,
            crashed_at=self.hands.crashed_at,
            alone_at=self.alone_at,
            asked=self.draining.pods,
            forgotten=self.forgotten,
            errors=self.wiring.errors,
            recorder=self.recorder,
            ledgers=self.spectator.ledgers,
            cordons=self.meddling.cordons,
            cordoned={
                node["metadata"]["name"]: bool(node["spec"].get("unschedulable"))
                for node in self.cluster.objects("Node")
            },
        )

    # Before anything happens.

    def _set_up(self) -> None:
        for number, node in enumerate(self.scene.nodes):
            self.cluster.apply(manifests.node(number, node))
        # EC2 warns of spot instances alone, whatever the labels of their nodes tell.
        spot = {events.instance_of(notice) for notice in self.scene.notices}
        nodes = ask(self.cluster, List(Selection(Node))).items
        self.instances.adopt(nodes, CLUSTER_NAME, spot=spot)
        self.instances.add(
            Instance(
                instance_id=events.IMPOSTORS_ID,
                state="running",
                private_dns_name="n0",
                tags={"kubernetes.io/cluster/other": "owned"},
                lifecycle=SPOT,
            )
        )
        for name, workload in self.plans.items():
            self.cluster.apply(*manifests.workload(name, workload))
            self.meddling.add(name, workload)
        schedule_begins = self.began_at + timedelta(seconds=self.scene.phase) - MINUTE
        self.clock.advance(schedule_begins - self.clock.now())
        for name, workload in self.plans.items():
            if workload.by_hash:
                (replica_set,) = self.cluster.objects("ReplicaSet", name)
                template_hash = labels_of(replica_set)[names.TEMPLATE_HASH]
                self.cluster.apply(manifests.hash_service(name, template_hash))

    def _deploy(self) -> None:
        """Put the functions in place: the schedule comes first a minute from now."""
        self.cluster.intercept(self.hands.execute)
        self.hands.on_crash = self._after_the_crash
        self.hands.node_of = self._node_of
        self.hands.effect = partial(effect, self.cluster)
        signed = SignedCluster(self.cluster, self.hands)
        ports = Ports(signed, self.instances, self.clock, self.recorder)
        mode = Mode.OBSERVE if self.scene.observe else Mode.ACT

        def marking() -> Handler:
            return interruption.build(
                InterruptionSettings(mode=mode, cluster_name=CLUSTER_NAME),
                ports,
                self.notices,
                self.line,
            )

        def moving() -> Handler:
            settings = HandoverSettings(
                mode=mode,
                cluster_name=CLUSTER_NAME,
                holder=f"environment-{next(self.numbers)}",
                window=self.scene.window,
                pods_each=self.scene.pods_each,
                seats=0,  # the invariants are of workloads' pods; the dominance worlds have seats
            )
            return handover.build(settings, ports, self.wake_ups)

        handlers = Environments(marking), Environments(moving)
        self.wiring = Wiring(self.clock, self.notices, self.wake_ups, *handlers)

    # What happens.

    def _arrange(self) -> None:
        self.spectator.begin()
        if self.scene.is_gated:
            self.draining.begin(self.plans)
        for number, notice in enumerate(self.scene.notices):
            body = events.event(number, notice, self.began_at)
            for later in (0, *notice.copies):
                self._at(notice.at + later, partial(self.notices.put, body))
            if notice.node >= 0:
                self._arrange_fate(notice)
                self._arrange_words(notice)
        for disturbance in self.scene.disturbances:
            act = self.meddling.act if disturbance.trouble in MEDDLING else self._disturb
            self._at(disturbance.at, partial(act, disturbance))
        if self.scene.paused is not None:
            begin, end = self.scene.paused
            self._at(begin, partial(self.cluster.apply, PAUSED))
            unpause = partial(
                self.cluster.delete, "ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE
            )
            self._at(end, unpause)

    def _at(self, seconds: float, action: Callable[[], object]) -> None:
        def act() -> None:
            action()

        self.clock.call_at(self.began_at + timedelta(seconds=seconds), act)

    def _arrange_fate(self, notice: NoticePlan) -> None:
        taken = events.taken_at(notice, self.began_at)
        if taken is None:
            return
        last = events.LAST_STATE.get(notice.news, "terminated")
        ending = "stopping" if last == "stopped" else "shutting-down"
        instance = events.instance_of(notice)
        node = f"n{notice.node}"

        def take() -> None:
            if node in self.deaths:
                return
            self.deaths[node] = self.clock.now()
            self.spectator.node_dies(node)
            removal = None if last == "stopped" else timedelta(seconds=notice.remove_after)
            self.cluster.kill_node(node, removal)
            self.instances.set_state(instance, ending)
            self.clock.call_in(ENDING, partial(self.instances.set_state, instance, last))

        self.clock.call_at(taken, take)

    def _arrange_words(self, notice: NoticePlan) -> None:
        """EC2 says of an instance what its event says, for a minute also of one that lives on."""
        end = notice.said + OUTLIVED_AFTER.total_seconds()
        if notice.news is not News.STATE or notice.at >= end:
            return

        def say(state: str) -> None:
            if f"n{notice.node}" not in self.deaths:
                self.instances.set_state(events.instance_of(notice), state)

        self._at(notice.at, partial(say, "shutting-down"))
        if not notice.obeyed:
            self._at(end, partial(say, "running"))

    def _disturb(self, disturbance: Disturbance) -> None:
        name = f"w{disturbance.workload}"
        kind = self.plans[name].kind
        with self.hands.on_account_of(Cause.OTHERS):
            match disturbance.trouble:
                case Trouble.SCALE:
                    self.cluster.scale(kind, name, name, disturbance.number)
                case Trouble.ROLL_OUT:
                    template = {"metadata": {"annotations": {"version": str(disturbance.at)}}}
                    patch = {"spec": {"template": template}}
                    self.cluster.server.patch(kind, (name, name), patch)
                case Trouble.UNREADY:
                    self._let_fail(name, disturbance.number)
                case Trouble.EVICT | Trouble.DELETE:
                    self._take_away(disturbance, name)
                case Trouble.LOSE_LEASE:
                    self._lose_lease()
                case Trouble.DRAIN:
                    node = disturbance.number % (len(self.scene.nodes) - 1)
                    self.draining.drain(f"n{node}", f"drainer-{disturbance.at}")
                case Trouble.KILL_DRAINERS:
                    self.draining.kill_drainers()
                case Trouble.CROWD:
                    self._crowd(name, disturbance.number)
                case Trouble.BREAK_GATE | Trouble.BREAK_LEASE:
                    self._break_down(disturbance)

    def _break_down(self, disturbance: Disturbance) -> None:
        """What others depend on fails for a while."""
        if disturbance.trouble is Trouble.BREAK_GATE:
            self.draining.break_down(disturbance.number)
        else:
            lasts = timedelta(seconds=disturbance.number)
            self.hands.leases_fail_until = self.clock.now() + lasts

    def _crowd(self, name: str, number: int) -> None:
        """A neighbour takes the next places in a namespace's quota, before anybody else can."""
        left = iter(range(number))

        def take() -> None:
            with self.hands.on_account_of(Cause.OTHERS), contextlib.suppress(ForbiddenError):
                for each in left:
                    self.cluster.server.create(manifests.neighbour(name, each))

        def changed(_: Obj | None, quota: Obj | None) -> None:
            if quota is not None and key_of(quota)[0] == name:
                self.clock.call_in(timedelta(), take)

        self.cluster.server.store.observe("ResourceQuota", changed)

    def _lose_lease(self) -> None:
        """The Lease is free, and another invocation begins: its holder knows nothing of that."""
        key = names.SYSTEM_NAMESPACE, names.HANDOVER_LEASE
        if self.cluster.server.store.get("Lease", key) is not None:
            self.cluster.server.patch("Lease", key, {"spec": {"holderIdentity": ""}})
            self.wake_ups.send(WakeUp(reason="LeaseLost"))

    def _let_fail(self, name: str, number: int) -> None:
        """One of its pods that are Ready is not for a while."""
        pods = self.cluster.objects("Pod", name)
        pods = [pod for pod in pods if is_active(pod) and is_ready(pod)]
        if not pods:
            return
        pod = pods[number % len(pods)]

        def set_ready(status: str) -> None:
            found = self.cluster.server.store.get("Pod", key_of(pod))
            if found is not None and uid_of(found) == uid_of(pod) and is_active(found):
                condition = {"type": "Ready", "status": status}
                with self.hands.on_account_of(Cause.OTHERS):
                    self.cluster.server.set_condition(key_of(pod), condition)

        set_ready("False")
        self.clock.call_in(UNREADY_FOR, partial(set_ready, "True"))

    def _take_away(self, disturbance: Disturbance, name: str) -> None:
        """Another drainer works on the doomed nodes, too."""
        pods = [
            pod
            for pod in self.cluster.objects("Pod", name)
            if is_active(pod) and self._deadline(node_of(pod)) is not None
        ]
        if not pods:
            return
        pod: Obj = pods[disturbance.number % len(pods)]
        try:
            if disturbance.trouble is Trouble.EVICT:
                evict(self.cluster.server, key_of(pod), uid_of(pod), Client())
            else:
                self.cluster.server.delete("Pod", key_of(pod), uid=uid_of(pod))
        except ClusterError:
            return  # its budget refuses

    def _deadline(self, node: str) -> datetime | None:
        """When a node is lost, by the notices that were sent so far."""
        known = [
            events.deadline(notice, self.began_at)
            for notice in self.scene.notices
            if f"n{notice.node}" == node
            and self.began_at + timedelta(seconds=notice.at) <= self.clock.now()
        ]
        return min((each for each in known if each is not None), default=None)

    def _node_of(self, write: Write) -> str:
        subject = write.reference
        if subject.kind == "Node":
            return subject.name
        if subject.uid in self.spectator.lives:
            return self.spectator.lives[subject.uid].node
        pod = self.cluster.server.store.get("Pod", (subject.namespace, subject.name))
        return node_of(pod) if pod is not None and subject.kind == "Pod" else ""

    def _after_the_crash(self, dead: Process) -> None:
        """Its messages come again; or all wake-ups are lost, and only the schedule is left.

        A notice is never lost: if its invocation has died, it comes again, without a wake-up.
        """
        if self.scene.crash is None or self.scene.crash.recovery is not Recovery.SCHEDULE:
            return
        self.line.is_cut = True
        self.wake_ups.forget()
        is_marking = dead in self.wiring.marking.running
        self.alone_at = self.clock.now() + (REDELIVERY if is_marking else timedelta())
        self._await(self.wiring.running)

    def _await(self, others: Sequence[Process]) -> None:
        """An invocation at work when a message was lost may go on, but no other comes after it."""
        at_work = [each for each in others if each.alive and not each.killed]
        if at_work:
            self.alone_at = max(self.alone_at or BEGINNING, self.clock.now())
            self.clock.call_in(A_MOMENT, partial(self._await, at_work))

    def _deliver_again(self) -> None:
        for number, notice in enumerate(self.scene.notices):
            self.notices.put(events.event(number, notice, self.began_at))
        self.wake_ups.send(WakeUp(reason="Again"))
