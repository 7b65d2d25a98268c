"""One run of restore: gather, decide, and carry the first steps out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import batched
from typing import Final

import msgspec

from evenkeel.decisions.restore.plan import plan, plan_again
from evenkeel.decisions.restore.snapshot import Candidate, Snapshot, Terms
from evenkeel.decisions.restore.step import RestorePlan, RestoreStep
from evenkeel.errors import ClusterError, QueueError
from evenkeel.flows import pause
from evenkeel.flows.remedies import metric_of
from evenkeel.flows.restore.reading import Scope, any_takes_part, read, read_again
from evenkeel.flows.restore.refusals import RefusedWorkloads
from evenkeel.flows.restore.writing import (
    TOGETHER,
    PausedError,
    StepWriter,
    sweep_moves,
    sweep_traces,
)
from evenkeel.model.decision import Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.notice import WakeUp
from evenkeel.model.reasons import Reason
from evenkeel.ports import Clock, Cluster, Queue, Recorder
from evenkeel.settings import LONGEST_RESTORE

TOLD_AGAIN_AFTER: Final = timedelta(hours=1)
"""A workload that is left for the same reason is told at most once in this time."""

REASON: Final = "Restore"
"""What its wake-up says."""

_COUNTED: Final = {
    Verb.RELEASE: Metric.MOVES_BEGUN,
    Verb.EVICT: Metric.ORDINALS_MOVED,
    Verb.RELAX: Metric.FLOORS_RELAXED,
    Verb.HOLD: Metric.FLOORS_HELD_AGAIN,
    Verb.COOL_DOWN: Metric.MOVES_FAILED,
    Verb.ACKNOWLEDGE: Metric.OTHER_WRITES,
    Verb.DELETE: Metric.PODS_MADE_ANEW,
    Verb.PATCH_TEMPLATE: Metric.TEMPLATES_WRITTEN,
}


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a run. ``done`` are the steps that were carried out.

    ``error``: what the API server refused or left unanswered, so that the run ended early.
    """

    reason: str
    plan: RestorePlan = RestorePlan()
    done: Sequence[RestoreStep] = ()
    error: ClusterError | None = None


@dataclass(eq=False)
class RestoreFlow:
    """Outlives runs; what it keeps between them is what it has told, and what is not taken.

    ``acts`` False: decide and tell, but write nothing.
    """

    _terms: Terms
    _scope: Scope
    _cluster: Cluster
    _wake_ups: Queue
    _clock: Clock
    _recorder: Recorder
    acts: bool = field(kw_only=True)
    _told: dict[tuple[Reference, str], datetime] = field(default_factory=dict)
    _told_of_volumes: bool = False
    _refusals: RefusedWorkloads = field(default_factory=RefusedWorkloads)

    def run_if_any(self) -> RunResult:
        """One run, if a namespace takes part: else there is nothing to move, and no pod is read."""
        try:
            if not any_takes_part(self._cluster, self._scope):
                return RunResult(reason="Quiet")
        except ClusterError as error:
            return self._failed(error)
        return self.run()

    def run(self) -> RunResult:
        """One run. What the API server refuses or leaves unanswered is left to the next."""
        ends_at = self._clock.now() + LONGEST_RESTORE
        try:
            if self.acts and pause.is_paused(self._cluster):
                return RunResult(reason="Paused")
            snapshot = self._gather()
        except ClusterError as error:
            return self._failed(error)
        made = plan(snapshot)
        self._tell(made)
        if self.acts:
            return self._apply(snapshot, made, ends_at)
        for step in made.steps:
            self._recorder.decided(step.decision)
        return RunResult(reason="Observed", plan=made)

    def _gather(self) -> Snapshot:
        """What a run decides by. A role of a version before may not read volumes."""
        snapshot = read(self._cluster, self._clock, self._terms, self._scope)
        if snapshot.fleet.volumes is None and not self._told_of_volumes:
            self._told_of_volumes = True
            self._recorder.noted(
                "no right to list persistentvolumes: pods that mount one are not moved"
            )
        return msgspec.structs.replace(snapshot, not_taken=self._refusals.resting(snapshot.now))

    def _apply(self, snapshot: Snapshot, made: RestorePlan, ends_at: datetime) -> RunResult:
        """Carry the steps out, and delete what is noted and of no use any more."""
        done: list[RestoreStep] = []
        writer = StepWriter(self._cluster, self._recorder)
        try:
            if made.rest is not None and not writer.note(made.rest):
                # What is known of moves without room cannot be noted: none of them is begun.
                steps = [step for step in made.steps if not step.shortage]
                made = msgspec.structs.replace(made, steps=steps)
            self._carry_out(writer, snapshot, made, done, ends_at)
            not_taken = self._refusals.heard(
                [step.workload for step in done], writer.refused, self._clock.now()
            )
            self._recorder.counted(Metric.WRITES_REFUSED, not_taken)
            if made.steps:  # a Lease that makes no sense may be in their way
                swept = sweep_moves(writer, snapshot, self._clock.now())
                self._recorder.counted(Metric.MOVES_SWEPT, swept)
                if not self._scope.namespace:
                    traces = sweep_traces(writer, snapshot)
                    self._recorder.counted(Metric.TRACES_SWEPT, traces)
        except PausedError:
            return RunResult(reason="Paused", plan=made, done=done)
        except ClusterError as error:
            return msgspec.structs.replace(self._failed(error), plan=made, done=done)
        finally:
            # Not only what is known to be done: an answer may be lost, and its move begun.
            # The reconciler also looks after doomed nodes, and released pods.
            released = any(pod.released for each in snapshot.candidates for pod in each.pods)
            if released or snapshot.fleet.doomed or any(step.moves for step in made.steps):
                self._wake()
        return RunResult(reason="Restored" if done else "Quiet", plan=made, done=done)

    def _wake(self) -> None:
        try:
            self._wake_ups.send(WakeUp(reason=REASON))
        except QueueError as error:
            self._recorder.noted(f"the moves wait for the schedule: {error}")

    def _carry_out(
        self,
        writer: StepWriter,
        snapshot: Snapshot,
        made: RestorePlan,
        done: list[RestoreStep],
        ends_at: datetime,
    ) -> None:
        """Carry steps out, some at a time, none later than ``ends_at``; ``done`` is filled."""
        candidates = {each.workload.key: each for each in snapshot.candidates}
        for number, some in enumerate(batched(made.steps, TOGETHER, strict=False)):
            if self._clock.now() >= ends_at:
                left = len(made.steps) - number * TOGETHER
                self._recorder.noted("time is up; the next run takes what is left", steps=left)
                return
            renewed = self._renewed(snapshot, [(candidates[step.workload], step) for step in some])
            for step in writer.carry_out(renewed):
                self._recorder.counted(_COUNTED[step.decision.verb], max(1, step.moves))
                done.append(step)

    def _renewed(
        self, snapshot: Snapshot, some: Sequence[tuple[Candidate, RestoreStep]]
    ) -> Sequence[RestoreStep]:
        """The steps for workloads that are read again: the snapshot's first pages are old by now.

        Without those that are not to be moved any more.
        """
        newer = read_again(self._cluster, [candidate for candidate, step in some if step.moves])
        anew = msgspec.structs.replace(snapshot, now=self._clock.now())
        renewed = []
        for _, step in some:
            read = newer.get(step.workload)
            again = step if not step.moves else plan_again(anew, read, step) if read else None
            if again is not None:
                renewed.append(again)
            else:
                told = f"{step.decision.subject} is not moved: it has changed meanwhile"
                self._recorder.noted(told)
        return renewed

    def _tell(self, made: RestorePlan) -> None:
        """Tell what is left and why, but for what is as wanted; the same once in a while."""
        now = self._clock.now()
        as_wanted = [each for each in made.left if each.reason is Reason.AS_WANTED]
        self._recorder.counted(Metric.WORKLOADS_AS_WANTED, len(as_wanted))
        for decision in made.left:
            key = (decision.subject, decision.reason)
            last = self._told.get(key)
            is_news = last is None or now - last >= TOLD_AGAIN_AFTER
            if is_news and decision.reason is not Reason.AS_WANTED:
                self._told[key] = now
                self._recorder.decided(decision)
        kept = {(each.subject, each.reason) for each in made.left}
        self._told = {key: at for key, at in self._told.items() if key in kept}

    def _failed(self, error: ClusterError) -> RunResult:
        self._recorder.counted(metric_of(error))
        self._recorder.noted(f"the API server failed this run: {error}", error=type(error).__name__)
        return RunResult(reason="ClusterUnavailable", error=error)
