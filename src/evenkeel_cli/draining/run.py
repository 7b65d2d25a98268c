"""Draining nodes of a real cluster: marked here, and handed over by the deployed functions.

Without functions that act the reconciler of this process does it, which has no AWS to ask.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import uuid4

from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.decisions.notice import mark
from evenkeel.errors import ClusterError, InstancesError, NotFoundError
from evenkeel.flows.drain.lease.deployed import are_deployed
from evenkeel.flows.reads import ask
from evenkeel.flows.selections import MARKED_NODES, pods_on
from evenkeel.model.instance import Instance
from evenkeel.model.request import List
from evenkeel.ports import Clock, Cluster, Ports
from evenkeel.settings import HANDOVER_TIMEOUT, HandoverSettings
from evenkeel_cli import words
from evenkeel_cli.decisions import draining
from evenkeel_cli.draining.pods import Pods, Step, Watch
from evenkeel_cli.journal import Journal
from evenkeel_cli.retry_on_conflict import change
from evenkeel_cli.ways import situations
from evenkeel_hosting import functions
from evenkeel_runtime.poll.event_source import Schedule
from evenkeel_runtime.poll.in_process import InProcessQueue

FUNCTIONS_WORK: Final = (
    "the deployed functions hand over: they see the marks within a minute; this command watches"
)

LOOK: Final = timedelta(seconds=1)
BETWEEN_INVOCATIONS: Final = timedelta(seconds=5)

ROLLING_BACK: Final = timedelta(seconds=75)
"""So long after its time the functions' schedule has come once, and put back what is released."""

ENDING: Final = timedelta(seconds=25)
"""How long the invocation under way may take when it is asked to end."""


@dataclass(slots=True)
class Drain:
    """One drain of some nodes until a time. ``tell`` is given each step that is seen."""

    cluster: Cluster
    clock: Clock
    nodes: Sequence[str]
    until: datetime
    settings: HandoverSettings
    journal: Journal
    tell: Callable[[Step], None]
    drain_id: str = field(default_factory=lambda: f"drain-{uuid4()}")

    def pods(self) -> Pods:
        """The pods on the nodes now. Raises ClusterError."""
        return Pods.of(situations(self.cluster, [pods_on(name) for name in self.nodes]))

    def mark(self, *, act: bool) -> None:
        """Mark the nodes and cordon them; ``act`` False: only tell. Raises ClusterError."""
        for name in self.nodes:
            decide = partial(
                draining.begin, until=self.until, now=self.clock.now(), drain_id=self.drain_id
            )
            decision = change(self.cluster, name, decide, act=act)
            if decision is not None:
                self.journal.decided(decision)

    def act(self) -> Pods:
        """Hand over until nothing is left, or time is up; the pods that stayed.

        Raises ClusterError where the nodes cannot be marked. Stopped in the middle, marks and
        releases stay as they are.
        """
        watch = Watch()
        watch.look(self.pods())
        self._tell_who_works()
        self.mark(act=True)
        schedule = self._reconciler()
        schedule.start()
        try:
            left = self._watch(watch)
        finally:
            schedule.stop()
            schedule.join(ENDING)
        if not left.are_released:
            self._lift()
        return left

    def _tell_who_works(self) -> None:
        """Note that the functions hand over, or else what nobody does. Raises ClusterError."""
        if are_deployed(self.cluster, self.clock.now()):
            self.journal.noted(FUNCTIONS_WORK)
            return
        for node in ask(self.cluster, List(MARKED_NODES)).items:
            notice = mark.read(node)
            if notice is not None and notice.hook is not None and not notice.hook.is_over:
                self.journal.noted(
                    f"the Auto Scaling group {notice.hook.group} waits for {node.name}: no function"
                    " is deployed to tell it to go on, and this command does not ask AWS"
                )

    def _watch(self, watch: Watch) -> Pods:
        """Look until no pod is left that goes, and beyond the end until none is released."""
        pods = self.pods()
        while pods.going and self.clock.now() < self.until:
            pods = self._look(watch, pods)
        give_up = self.until + ROLLING_BACK
        while pods.are_released and self.clock.now() < give_up:
            pods = self._look(watch, pods)
        return pods

    def _look(self, watch: Watch, before: Pods) -> Pods:
        """The pods after a moment; an API server that does not answer is asked again."""
        self.clock.sleep(LOOK)
        try:
            pods = self.pods()
        except ClusterError as error:
            self.journal.noted(f"the pods cannot be read: {error}")
            return before
        for step in watch.look(pods):
            if not self._was_told(step):
                self.tell(step)
        return pods

    def _was_told(self, step: Step) -> bool:
        """Whether the reconciler of this process has decided that, and so was heard already."""
        about = self.journal.about(step.pod.uid)
        return any(entry.decision.verb is step.verb for entry in about)

    def _lift(self) -> None:
        """Lift the marks of this drain, and keep the cordons."""
        for name in self.nodes:
            decide = partial(draining.end, drain_id=self.drain_id)
            try:
                decision = change(self.cluster, name, decide, act=True)
            except NotFoundError:
                continue
            if decision is not None:
                self.journal.decided(decision)

    def _reconciler(self) -> Schedule:
        """The function handover in this process, invoked again and again."""
        wake_ups = InProcessQueue(self.clock, "wake-ups", visibility=HANDOVER_TIMEOUT)
        events = ClusterEvents(self.cluster, self.clock, self.journal, observes=False)
        recorder = Tee(self.journal, events)
        ports = Ports(self.cluster, NoInstances(), self.clock, recorder)
        handler = functions.handover(self.settings, ports, wake_ups)
        note = self.journal.noted
        return Schedule("handover", handler, self.clock, note, every=BETWEEN_INVOCATIONS)


class NoInstances:
    """Implements the port Instances where EC2 is not asked, for a drain on purpose needs no answer.

    So a node whose deadline has passed keeps its mark, and gets no out-of-service taint.
    """

    def describe(self, instance_ids: Collection[str]) -> Mapping[str, Instance]:
        """No answer: raises InstancesError."""
        asked = words.counted(len(instance_ids), "instance")
        raise InstancesError(f"EC2 is not asked about {asked} in a drain on purpose")


def summary(nodes: Sequence[str], left: Pods) -> str:
    """The last line: what was drained, or how many pods stayed."""
    drained = f"{words.counted(len(nodes), 'node')} drained; the cordon stays"
    if not left.situations:
        return f"{drained}: kubectl uncordon NODE ends it"
    return f"{words.counted(len(left.situations), 'pod')} stayed; the cordon stays, too"
