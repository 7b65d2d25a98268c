"""Restoring a real cluster: one run after the other, each until its handovers are through."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.decisions.restore.step import RestorePlan
from evenkeel.flows import pause
from evenkeel.flows.restore.flow import RestoreFlow
from evenkeel.flows.restore.reading import Scope
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.reasons import Reason
from evenkeel.ports import Clock, Cluster, Ports
from evenkeel.settings import HANDOVER_TIMEOUT, HandoverSettings, Mode
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.journal import Journal
from evenkeel_cli.program import NAME
from evenkeel_hosting import functions
from evenkeel_sandbox.application import CLUSTER_NAME
from evenkeel_sandbox.node_instances import NodeInstances
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.event_source import SimulatedEventSource
from evenkeel_sandbox.simulator.queues import SimulatedQueue

LOOK: Final = timedelta(milliseconds=100)

BETWEEN_RUNS: Final = timedelta(seconds=2)
"""Between two looks for what is waited for, such as an ordinal that is not Ready yet."""

AFTER_PATIENCE: Final = timedelta(seconds=60)
"""How much longer than a move's patience one waits for its end."""

PASSES: Final = frozenset(
    {
        Reason.MOVING,
        Reason.NOT_ALL_AVAILABLE,
        Reason.PODS_WAIT,
        Reason.FLOOR_NOT_READY,
        Reason.BUDGET_OF_RUN,
        Reason.ROLLING_OUT,
    }
)
"""What a workload waits for that passes by itself before long."""

FAILURES: Final = 5
"""So many times the reconciler may raise before it is taken for its nature."""


@dataclass(slots=True)
class Restoring:
    """Moves pods of a real cluster. ``journal`` hears of every decision."""

    cluster: Cluster
    clock: Clock
    terms: Terms
    scope: Scope
    journal: Journal
    moved: int = 0
    _driver: SimulatedClock = field(init=False)
    _wake_ups: SimulatedQueue = field(init=False)
    _source: SimulatedEventSource = field(init=False)
    _flow: RestoreFlow = field(init=False)

    def __post_init__(self) -> None:
        """Put the flow and the reconciler together, with a queue between them."""
        events = ClusterEvents(self.cluster, self.clock, self.journal, observes=False)
        recorder = Tee(self.journal, events)
        self._driver = SimulatedClock(self.clock.now())
        self._wake_ups = SimulatedQueue(
            self._driver, "evenkeel-wake-ups", visibility=HANDOVER_TIMEOUT
        )
        instances = NodeInstances(self.cluster, self.clock, CLUSTER_NAME)
        moving = functions.handover(
            HandoverSettings(
                mode=Mode.ACT,
                cluster_name=CLUSTER_NAME,
                capacity_labels=self.scope.capacity_labels,
                stands_in=True,
            ),
            Ports(self.cluster, instances, self.clock, recorder),
            self._wake_ups,
        )
        self._source = SimulatedEventSource(
            self._driver, self._wake_ups, moving, concurrency=functions.HANDOVERS
        )
        self._flow = RestoreFlow(
            self.terms,
            self.scope,
            self.cluster,
            self._wake_ups,
            self.clock,
            recorder,
            acts=True,
        )

    def act(self) -> RestorePlan:
        """Move until nothing more can be, and answer what is left. Raises UnmetError."""
        patient_until = self.clock.now() + self.terms.patience
        while True:
            outcome = self._flow.run()
            if outcome.reason in ("Paused", "ClusterUnavailable"):
                raise UnmetError(f"nothing more was moved: {self._complaint(outcome.reason)}")
            self.moved += sum(step.moves for step in outcome.done)
            self._finish()
            now = self.clock.now()
            if outcome.done:
                patient_until = now + self.terms.patience
                continue
            if now >= patient_until or not _passes(outcome.plan.left):
                return outcome.plan
            self.clock.sleep(BETWEEN_RUNS)

    @property
    def rolled_back(self) -> Sequence[Decision]:
        """The pods that went back because their moves failed."""
        entries = self.journal.entries
        return [e.decision for e in entries if e.decision.verb is Verb.ROLL_BACK]

    def _finish(self) -> None:
        """Let the reconciler work until it has nothing left to do. Raises UnmetError.

        A move goes back when its patience is over; what is not through some time later waits
        for something else.
        """
        give_up = self.clock.now() + self.terms.patience + AFTER_PATIENCE
        while self._wake_ups.messages or self._source.running:
            self._driver.advance(self.clock.now() - self._driver.now())
            if len(self._source.errors) > FAILURES:
                error = self._source.errors[-1]
                raise UnmetError(f"the handovers fail: {type(error).__name__}: {error}")
            if self.clock.now() >= give_up:
                why = self._complaint("Paused" if pause.is_paused(self.cluster) else "")
                raise UnmetError(f"the handovers are not through: {why}")
            self.clock.sleep(LOOK)

    def _complaint(self, reason: str) -> str:
        if reason == "Paused":
            return f"Evenkeel is paused: {NAME} resume --apply ends it"
        return self.journal.notes[-1] if self.journal.notes else "the cluster does not answer"


def _passes(left: Sequence[Decision]) -> bool:
    return any(decision.reason in PASSES for decision in left)
