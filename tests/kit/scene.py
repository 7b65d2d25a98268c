"""A scene: a simulated cluster with Evenkeel's own handlers beside it, and an observer outside.

Everything happens on one simulated clock, so a story of minutes is told in milliseconds and
is the same every time. Times are seconds since ``begin``.
"""

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from itertools import pairwise
from typing import Any, Self

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.notice import mark
from evenkeel.errors import ClusterError
from evenkeel.handlers import Handler, handover, interruption
from evenkeel.model.decision import Decision
from evenkeel.model.deployment import Deployment
from evenkeel.model.hook import Hook, HookTimes, Termination
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.release import Cooldown
from evenkeel.model.request import Create, Delete, Evict, Patch, Request, Write
from evenkeel.ports import Clock, Ports
from evenkeel.settings import HANDOVER_TIMEOUT, HandoverSettings, InterruptionSettings, Mode
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.steady_clock import SteadyClock
from evenkeel_sandbox.application import Environments, Wiring
from evenkeel_sandbox.observer.health import Look
from evenkeel_sandbox.observer.workloads import Observer
from evenkeel_sandbox.simulation import install_seat_class
from evenkeel_sandbox.simulator.auto_scaling import SimulatedAutoScaling
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.instances import SimulatedInstances
from evenkeel_sandbox.simulator.notifications import SimulatedNotifications
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.simulator.queues import SimulatedQueue
from tests.kit.asking import failing
from tests.kit.clocks import SkewedClock
from tests.kit.manifests import resource
from tests.kit.others import effect, in_vain

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CLUSTER = "scene"
HOOK = "evenkeel"
BEFORE = timedelta(seconds=30)
"""Evenkeel is there so long before the story begins: the schedule comes at 30 s, 90 s, ..."""

CALM = SimulatorOptions(start_seconds=(2.0, 2.0), stop_seconds=(1.0, 1.0), controller_qps=None)
"""Pods take two seconds to get Ready and one to end, and no controller has to wait."""

WITH_PODS = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "Pod"})
"""The kinds whose objects have pods, or are one."""

INTERRUPTION = "EC2 Spot Instance Interruption Warning"
RECOMMENDATION = "EC2 Instance Rebalance Recommendation"
STATE_CHANGE = "EC2 Instance State-change Notification"


BEGUN = ("release NodeDoomed", "wait ReplacementPending")
NO_PLACE = (*BEGUN, "wait NoPlace")
"""The scheduler has looked for a node for its replacement, and found none."""
"""The order in which the handover of a pod begins."""


def tenth(seconds: float) -> float:
    """The tenth of a second in which something happened."""
    return math.floor(seconds * 10) / 10


@dataclass(frozen=True)
class Sent:
    """A write that reached the API server: when, and the error that it met, if any.

    ``undone``: it was accepted, and something of it is not there.
    """

    at: float
    write: Write
    error: ClusterError | None = None
    undone: bool = False

    @property
    def name(self) -> str:
        """The name of the object that it is about."""
        return self.write.reference.name


class Story(list[str]):
    """Lines of what was decided about an object: the time, verb and reason."""

    def order(self) -> list[str]:
        """The same without the times."""
        return [line.split(" ", 1)[1] for line in self]


class TimedRecorder(InMemoryRecorder):
    """Keeps when each decision was told."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        super().__init__()
        self._seconds = seconds
        self.times: list[float] = []

    def decided(self, decision: Decision) -> None:
        super().decided(decision)
        self.times.append(self._seconds())


@contextmanager
def ending[S: Scene](make: Callable[..., S]) -> Iterator[Callable[..., S]]:
    """Make scenes, and close all of them at the end."""
    made: list[S] = []

    def make_one(*args: Any, **options: Any) -> S:
        made.append(make(*args, **options))
        return made[-1]

    yield make_one
    for scene in made:
        scene.close()


class Scene:
    """Set the scene with ``given``, send notices, each of which answers the scene, and ``run``.

    ``place`` comes before it where some are there earlier than others; ``add_node``, ``apply``,
    ``settle`` and ``begin`` are the parts of both.
    """

    def __init__(
        self,
        mode: Mode = Mode.ACT,
        options: SimulatorOptions = CALM,
        *,
        environments_kept: bool = True,
        cluster_name: str = CLUSTER,
        beside: "Scene | None" = None,
        clocks_ahead: Sequence[float] = (),
        steady: bool = False,
        **settings: Any,
    ) -> None:
        """Empty; ``settings`` are the handover function's.

        ``beside``: another cluster's scene, whose time, account and queues are this one's as well.
        ``environments_kept`` False: each of its invocations knows nothing of the one before.
        ``clocks_ahead``: by how many seconds the clock of its first environment is ahead, of its
        second, and so on; the others' are right. ``steady``: its functions are one process that
        runs for long, as those of ``evenkeel poll``, on a machine whose clock ``set_clock`` sets.
        """
        self.clock: SimulatedClock = beside.clock if beside else SimulatedClock(NOW)
        self.cluster = SimulatedCluster(self.clock, options)
        install_seat_class(self.cluster)
        self.instances: SimulatedInstances = beside.instances if beside else SimulatedInstances()
        self.observer = Observer(self.clock)
        self.recorder = TimedRecorder(lambda: self.seconds)
        self.auto_scaling = SimulatedAutoScaling(self.clock, self._terminate)
        self.notifications = SimulatedNotifications(self.clock)
        self.notices = SimulatedQueue(self.clock, "notices", retention=timedelta(seconds=300))
        self.wake_ups = SimulatedQueue(self.clock, "wake-ups", visibility=HANDOVER_TIMEOUT)
        if beside is not None:
            self.notices, self.wake_ups = beside.notices, beside.wake_ups
        self.requests: list[tuple[float, Request]] = []
        self.writes: list[Sent] = []
        self._begun_at = NOW
        self._instances: Iterator[int] = beside._instances if beside else itertools.count()
        self._cluster_name = cluster_name
        self._mode = mode
        self._environments_kept = environments_kept
        self._clocks_ahead = iter(clocks_ahead)
        self._settings = settings
        self._machine = SkewedClock(self.clock, timedelta())
        self.own_clock: Clock = SteadyClock(self._machine) if steady else self._machine
        self.events: list[str] = []
        self.on_take: Callable[[], object] = lambda: None

    # Before it begins.

    def given(
        self,
        *manifests: Mapping[str, Any],
        on: str = "s1",
        spare: str = "",
        room: Mapping[str, str] | None = None,
        settle: float = 20,
    ) -> list[str]:
        """Begin where all runs ``on`` these nodes and ``spare`` ones came when it had settled.

        Names of nodes stand with blanks between them; those that begin with o are on-demand nodes.
        ``room`` is the cores of a node, by its name or by its first letter. Answers the names of
        the pods, workload by workload.
        """
        self.place(*manifests, on=on, room=room, settle=settle)
        self._add(spare, room or {})
        self.begin()
        apps = [each["metadata"]["name"] for each in manifests if each["kind"] in WITH_PODS]
        return [pod.name for app in apps for pod in self.pods(app)]

    def place(
        self,
        *manifests: Mapping[str, Any],
        on: str = "s1",
        room: Mapping[str, str] | None = None,
        settle: float = 20,
    ) -> None:
        """Let this be there, and settle, before what ``given`` adds."""
        self._add(on, room or {})
        if manifests:
            self.apply(*manifests)
            self.settle(settle)

    def _add(self, names: str, room: Mapping[str, str]) -> None:
        for name in names.split():
            cores = room.get(name, room.get(name[0], ""))
            self.add_node(name, spot=not name.startswith("o"), room=cores)

    def add_node(self, name: str, *, spot: bool = True, room: str = "", **labels: str) -> None:
        """Add a Ready node; ``room`` is its cores, 4 if nothing is said."""
        number = next(self._instances)
        node: dict[str, Any] = resource(
            "Node",
            name,
            labels={
                "karpenter.sh/capacity-type": "spot" if spot else "on-demand",
                "kubernetes.io/hostname": name,
                **labels,
            },
            spec={"providerID": f"aws:///eu-central-1a/i-{number:017x}"},
        )
        if room:
            allocatable = {"cpu": room, "memory": "16Gi", "pods": "110"}
            ready = {"type": "Ready", "status": "True"}
            node["status"] = {"allocatable": allocatable, "conditions": [ready]}
        self.cluster.apply(node)
        self.instances.adopt([self.node(name)], self._cluster_name)

    def apply(self, *manifests: Mapping[str, Any]) -> None:
        """Create or change objects, as kubectl would."""
        self.cluster.apply(*manifests)

    def settle(self, seconds: float = 10) -> None:
        """Let the cluster come to rest."""
        self.clock.advance(timedelta(seconds=seconds))

    def begin(self) -> None:
        """Deploy Evenkeel, begin to observe; some calm seconds later the story starts."""
        self.settle()
        self.environments: Sequence[Environments] = (
            Environments(self._interruption),
            Environments(self._handover, kept=self._environments_kept),
        )
        wiring = Wiring(
            self.clock,
            self.notices,
            self.wake_ups,
            *self.environments,
        )
        self.marking, self.moving, self.schedule = wiring.marking, wiring.moving, wiring.schedule
        self.clock.start(self._watch)
        self.clock.advance(BEFORE)
        self._begun_at = self.clock.now()
        self.observer.begin()
        self.cluster.intercept(self._record)

    # While it goes on.

    @property
    def seconds(self) -> float:
        """The time, in seconds since the story began."""
        return (self.clock.now() - self._begun_at).total_seconds()

    def at(self, seconds: float) -> datetime:
        """That time of the story."""
        return self._begun_at + timedelta(seconds=seconds)

    def restart(self) -> None:
        """Kill all that runs of Evenkeel; the next invocations are those of a new process."""
        sources = (self.marking, self.moving, self.schedule)
        for process in [each for source in sources for each in source.running]:
            process.kill()
        for environment in self.environments:
            environment.end()
        if isinstance(self.own_clock, SteadyClock):
            self.own_clock = SteadyClock(self._machine)

    def set_clock(self, by: float) -> None:
        """Set the clock of the machine that Evenkeel runs on so many seconds from the true time."""
        self._machine.by = timedelta(seconds=by)

    def run(self, until: float) -> None:
        """Let the story go on until this time."""
        self.clock.advance(self.at(until) - self.clock.now())

    def later(self, seconds: float, action: Callable[[], object]) -> None:
        """Let something happen at this time of the story."""
        self.clock.call_at(self.at(seconds), lambda: (action(), None)[1])

    def interrupt(self, *nodes: str, action: str = "terminate", carried_out: bool = True) -> Self:
        """EC2 warns of the interruption of these nodes; whether it is also ``carried_out``."""
        lead = 0 if action == "hibernate" else 120
        for node in nodes:
            self.send(node, INTERRUPTION, **{"instance-action": action})
            if carried_out:
                self.later(self.seconds + lead, partial(self.take, node, action))
        return self

    def recommend(self, *nodes: str) -> Self:
        """EC2 recommends to replace these nodes. They live on."""
        for node in nodes:
            self.send(node, RECOMMENDATION)
        return self

    def take(self, node: str, action: str = "terminate") -> None:
        """EC2 takes an instance: the machine is off at once, and 5 s later EC2 says so.

        The node of a terminated one is deleted after 10 s, as the cloud's controller does.
        """
        instance_id = self.node(node).instance_id
        terminated = action == "terminate"
        during, after = ("shutting-down", "terminated") if terminated else ("stopping", "stopped")
        self.cluster.kill_node(node, timedelta(seconds=10) if terminated else None)
        self.observer.lose(node)
        self.instances.set_state(instance_id, during)
        self.later(self.seconds + 5, lambda: self.instances.set_state(instance_id, after))

    def state_change(self, node: str, state: str) -> Self:
        """EC2 says that a node's instance changes its state; nothing happens to the machine."""
        self.instances.set_state(self.node(node).instance_id, state)
        self.send(node, STATE_CHANGE, state=state)
        return self

    def schedule_change(self, *nodes: str, start: float, **detail: str) -> Self:
        """AWS Health says that these nodes are retired at a time of the story. They live on."""
        ids = [self.node(node).instance_id for node in nodes]
        change = {
            "eventArn": "arn:aws:health:eu-central-1::event/EC2/retirement",
            "service": "EC2",
            "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
            "eventTypeCategory": "scheduledChange",
            "startTime": format_datetime(self.at(start), usegmt=True),
            "statusCode": "upcoming",
            "affectedEntities": [{"entityValue": each} for each in ids],
        }
        self.put("aws.health", "AWS Health Event", change | detail)
        return self

    def scale_in(
        self, *nodes: str, heartbeat: float = 300, longest: float = 30_000, name: str = HOOK
    ) -> Self:
        """An Auto Scaling group terminates these nodes, and waits for its hook."""
        times = HookTimes(timedelta(seconds=heartbeat), timedelta(seconds=longest))
        self.auto_scaling.put_hook("workers", name, times)
        for node in nodes:
            instance_id = self.node(node).instance_id
            hook = Hook(
                group="workers", name=name, token=f"87654321-4321-4321-4321-{len(self.events):012x}"
            )
            self.auto_scaling.begin(Termination(hook, instance_id))
            detail = {
                "LifecycleActionToken": hook.token,
                "AutoScalingGroupName": hook.group,
                "LifecycleHookName": hook.name,
                "EC2InstanceId": instance_id,
                "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
            }
            self.put("aws.autoscaling", "EC2 Instance-terminate Lifecycle Action", detail)
        return self

    def told_group(self, what: str) -> list[float]:
        """When the group was asked for times, sent a heartbeat, or told to go on."""
        calls = self.auto_scaling.calls
        return [tenth((at - self._begun_at).total_seconds()) for at, name in calls if name == what]

    def send(self, node: str, kind: str, **detail: str) -> None:
        """An event of EC2 about a node's instance."""
        self.put("aws.ec2", kind, {"instance-id": self.node(node).instance_id, **detail})

    def put(self, source: str, kind: str, detail: Mapping[str, Any]) -> None:
        """An event, as EventBridge puts it into the notice queue."""
        event = {
            "version": "0",
            "id": f"event-{len(self.events) + 1}",
            "detail-type": kind,
            "source": source,
            "account": "123456789012",
            "time": self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
            "region": "eu-central-1",
            "resources": [],
            "detail": detail,
        }
        self.events.append(json.dumps(event))
        self.redeliver()

    def redeliver(self) -> None:
        """Deliver the last event, once more if it was delivered before."""
        self.notices.put(self.events[-1])

    def crash(self) -> None:
        """Kill whatever invocation of the handover function runs."""
        for process in (*self.moving.running, *self.schedule.running):
            process.kill()

    def fail(
        self,
        error: ClusterError,
        concerns: Callable[[Request], bool],
        *,
        times: int = 1_000_000,
        done: bool = False,
    ) -> None:
        """Answer requests with an error, so many times; ``done``: carried out all the same."""
        failing(self.cluster, error, concerns, times=times, done=done)

    def delay(self, by: timedelta, concerns: Callable[[Request], bool]) -> None:
        """Let the answers to requests come so much later."""

        def answer(request: Request, proceed: Callable[[], Any]) -> Any:
            if concerns(request):
                self.clock.sleep(by)
            return proceed()

        self.cluster.intercept(answer)

    def close(self) -> None:
        """End everything that still waits on the clock."""
        self.clock.stop()

    # What came of it.

    def node(self, name: str) -> Node:
        """A node as it is now."""
        return next(
            msgspec.convert(obj, Node)
            for obj in self.cluster.objects("Node")
            if obj["metadata"]["name"] == name
        )

    def notice(self, node: str) -> NodeNotice:
        """What the mark of a node says, which has to be there."""
        found = mark.read(self.node(node))
        assert found is not None
        return found

    def pods(self, app: str, node: str = "") -> list[Pod]:
        """The pods of a workload that are there now, sorted by name; of one node, if named."""
        pods = [msgspec.convert(obj, Pod) for obj in self.cluster.objects("Pod")]
        return [
            pod
            for pod in sorted(pods, key=lambda pod: pod.name)
            if pod.metadata.labels.get("app") == app and node in ("", pod.spec.node_name)
        ]

    def pod(self, app: str, node: str = "") -> str:
        """The name of a workload's only pod, or of its only one on a node."""
        found = [(pod.name, pod.spec.node_name) for pod in self.pods(app, node)]
        assert len(found) == 1, f"{app} has not one pod there: {found}"
        return found[0][0]

    def cooldown(self, app: str) -> Cooldown | None:
        """The cooldown that a Deployment carries."""
        (found,) = (
            msgspec.convert(obj, Deployment)
            for obj in self.cluster.objects("Deployment")
            if obj["metadata"]["name"] == app
        )
        return writes.cooldown_of(found)

    def lowest(self, workload: str) -> int:
        """The lowest count of ready pods of a workload since the story began."""
        (health,) = (h for ref, h in self.observer.workloads.items() if ref.name == workload)
        return health.lowest

    def seconds_at_zero(self, workload: str) -> float:
        """For how long no pod of a workload was ready so far."""
        (health,) = (h for ref, h in self.observer.workloads.items() if ref.name == workload)
        looks = [*health.seen, Look(self.clock.now(), -1, None)]
        times = (after.at - before.at for before, after in pairwise(looks) if before.ready == 0)
        return sum(times, timedelta()).total_seconds()

    def story(self, subject: str) -> Story:
        """What was decided about an object: the tenth of a second, verb and reason.

        Several environments of the function tell the same wait once each: it stands here once.
        """
        story = Story()
        last = ""
        for time, decision in self.told():
            word = f"{decision.verb} {decision.reason}"
            if decision.subject.name == subject and word != last:
                story.append(f"{tenth(time):.1f} {word}")
                last = word
        return story

    def told(self, reason: str = "") -> list[tuple[float, Decision]]:
        """All decisions with their times, or those with one reason."""
        together = zip(self.recorder.times, self.recorder.decisions, strict=True)
        return [(at, decision) for at, decision in together if reason in ("", decision.reason)]

    def written(self, name: str = "", *, after: float = 0) -> list[Sent]:
        """The writes that were accepted, to one object or to all but Evenkeel's own Lease."""
        return [
            sent
            for sent in self.writes
            if sent.error is None
            and sent.at >= after
            and sent.write.reference.kind not in ("Lease", "Namespace")
            and name in ("", sent.name)
        ]

    def in_vain(self, *of: type[Write]) -> dict[str, int]:
        """The most writes, or writes of a type, to an object within a minute that were in vain."""
        return in_vain(
            (sent.at, sent.write)
            for sent in self.writes
            if (sent.error is not None or sent.undone) and (not of or isinstance(sent.write, of))
        )

    def gone_at(self, pod: str) -> float:
        """When a pod was evicted or deleted through the API."""
        (sent,) = (s for s in self.written(pod) if isinstance(s.write, Evict | Delete))
        return tenth(sent.at)

    def outcomes(self) -> list[str]:
        """How the invocations of the handover function ended that found something to do."""
        return [
            str(details["outcome"])
            for message, details in self.recorder.notes
            if message == "invocation ended"
        ]

    @property
    def is_quiet(self) -> bool:
        """Whether no message waits and no invocation runs."""
        return not (self.notices.messages or self.wake_ups.messages or self.moving.running)

    def _record(self, request: Request, proceed: Callable[[], Any]) -> Any:
        at = self.seconds
        self.requests.append((at, request))
        if not isinstance(request, Patch | Create | Delete | Evict):
            return proceed()
        is_undone = effect(self.cluster, request)
        try:
            result = proceed()
        except ClusterError as error:
            self.writes.append(Sent(at, request, error))
            raise
        self.writes.append(Sent(at, request, undone=is_undone()))
        return result

    def _watch(self) -> None:
        with self.cluster.session() as session:
            self.observer.watch(session)
            while True:
                self.observer.absorb(session.next(timedelta(hours=1)))

    def _interruption(self) -> Handler:
        return interruption.build(
            InterruptionSettings(
                mode=self._mode, cluster_name=self._cluster_name, lifecycle_hook=HOOK
            ),
            Ports(self.cluster, self.instances, self.own_clock, self.recorder, self.auto_scaling),
            self.notices,
            self.wake_ups,
        )

    def _terminate(self, instance_id: str) -> None:
        """The group of an instance waits no more."""
        nodes = (msgspec.convert(obj, Node) for obj in self.cluster.objects("Node"))
        for node in nodes:
            if node.instance_id == instance_id:
                self.on_take()
                self.take(node.name)

    def _handover(self) -> Handler:
        ahead = timedelta(seconds=next(self._clocks_ahead, 0))
        return handover.build(
            HandoverSettings(
                mode=self._mode,
                cluster_name=self._cluster_name,
                **({"lifecycle_hook": HOOK} | self._settings),
            ),
            Ports(
                self.cluster,
                self.instances,
                SkewedClock(self.own_clock, ahead) if ahead else self.own_clock,
                self.recorder,
                self.auto_scaling,
                self.notifications,
            ),
            self.wake_ups,
        )
