"""Carrying steps out: each one's writes in their order, and none while Evenkeel is paused."""

from collections.abc import Sequence
from itertools import batched
from typing import Final

from evenkeel.decisions.restore.step import Step
from evenkeel.errors import (
    AlreadyExistsError,
    ClusterError,
    ConflictError,
    DisruptionRefusedError,
    InvalidError,
    MultipleBudgetsError,
    NotFoundError,
)
from evenkeel.flows import home, pause
from evenkeel.model.metrics import Metric
from evenkeel.model.request import Request, Write
from evenkeel.ports import Clock, Cluster, Recorder, Reply

TOGETHER: Final = 16
"""Steps that are carried out side by side: as many as are done while an answer is fresh."""

_OVERTAKEN: Final = (
    AlreadyExistsError,
    ConflictError,
    DisruptionRefusedError,
    InvalidError,
    MultipleBudgetsError,
    NotFoundError,
)


class PausedError(ClusterError):
    """Evenkeel was paused meanwhile."""


class Writer:
    """Carries steps out. What the API server refuses is left to the next run."""

    def __init__(self, cluster: Cluster, clock: Clock, recorder: Recorder) -> None:
        self._cluster = cluster
        self._clock = clock
        self._recorder = recorder
        self._gate = pause.PauseGate()

    def carry_out(self, steps: Sequence[Step]) -> Sequence[Step]:
        """Carry out steps; those whose own write was accepted.

        Raises PausedError, and ClusterError where it is not known whether Evenkeel is paused.
        """
        for step in steps:
            self._recorder.decided(step.decision)
        left = list(steps)
        for position in range(max((len(step.before) for step in steps), default=0)):
            left = self._write_all(left, position)
        return self._finish(left)

    def _write_all(self, steps: Sequence[Step], position: int) -> list[Step]:
        """The steps whose write at this position was accepted, and those that have none."""
        asked = [step for step in steps if position < len(step.before)]
        replies = self.perform([step.before[position] for step in asked])
        failed = {
            step.workload
            for step, reply in zip(asked, replies, strict=True)
            if not self._is_accepted(step, reply)
        }
        return [step for step in steps if step.workload not in failed]

    def _finish(self, steps: Sequence[Step]) -> Sequence[Step]:
        """The steps' own writes, and what follows those that were accepted."""
        own = [(step, step.decision.write) for step in steps]
        asked = [(step, write) for step, write in own if write is not None]
        replies = self.perform([write for _, write in asked])
        done = [
            step
            for (step, _), reply in zip(asked, replies, strict=True)
            if self._is_accepted(step, reply)
        ]
        after = [(step, write) for step in done for write in step.after]
        for (step, _), reply in zip(after, self.perform([w for _, w in after]), strict=True):
            self._is_accepted(step, reply)
        return done

    def perform(self, writes: Sequence[Write]) -> Sequence[Reply]:
        """Write, some at a time, while Evenkeel is not paused as far as is known by then.

        Raises as ``carry_out`` does.
        """
        return [
            reply
            for some in batched(writes, TOGETHER, strict=False)
            for reply in self._perform(some)
        ]

    def _perform(self, writes: Sequence[Write]) -> Sequence[Reply]:
        return home.perform(self._write, writes)

    def _write(self, writes: Sequence[Write]) -> Sequence[Reply]:
        self._ask()
        return self._cluster.perform(writes)

    def _ask(self) -> None:
        now = self._clock.now()
        if self._gate.is_open(now) and not self._gate.should_ask(now):
            return
        asked = self._gate.ask(now)
        (reply,) = self._cluster.perform([pause.QUESTION])
        self._gate.heard(asked, reply)
        if self._gate.is_paused:
            raise PausedError("Evenkeel is paused")
        if reply.error is not None and not isinstance(reply.error, NotFoundError):
            raise reply.error

    def _is_accepted(self, step: Step, reply: Reply) -> bool:
        """Whether a write was accepted. A refusal is told; of the next run it is taken up."""
        error = reply.error
        if error is None:
            return True
        overtaken = isinstance(error, _OVERTAKEN)
        self._recorder.counted(Metric.RESTORES_OVERTAKEN if overtaken else Metric.WRITES_FAILED)
        self._recorder.noted(
            f"{step.decision.verb} {step.decision.subject} was not done: {error}",
            reason=step.decision.reason,
            error=type(error).__name__,
            request=_named(reply.request),
        )
        return False


def _named(request: Request) -> str:
    return f"{type(request).__name__.lower()} {getattr(request, 'reference', '')}"
