"""Carrying steps out: each one's writes in their order, and none while Evenkeel is paused.

What restore noted in Leases is deleted, too: every rollout makes another ReplicaSet.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import batched
from typing import Final

from evenkeel.decisions.restore.snapshot import Snapshot
from evenkeel.decisions.restore.step import RestoreStep
from evenkeel.errors import (
    ChangedError,
    ClusterError,
    DisruptionRefusedError,
    MultipleBudgetsError,
    NotFoundError,
)
from evenkeel.flows import home, pause
from evenkeel.flows.replies import error_in, undoing
from evenkeel.flows.sweeping import delete_all
from evenkeel.model import names
from evenkeel.model.decision import Decision
from evenkeel.model.metrics import Metric
from evenkeel.model.move import believed_move
from evenkeel.model.request import Request, Write
from evenkeel.ports import Cluster, Recorder, Reply

TOGETHER: Final = 16
"""Steps that are carried out side by side: so many writes are made within a second, as long as an
answer about the pause is good for."""

MOVE_SWEPT_AFTER: Final = timedelta(hours=1)
"""So long after its end a move's Lease is not read any more."""

_OVERTAKEN: Final = (ChangedError, DisruptionRefusedError, MultipleBudgetsError, NotFoundError)


class PausedError(ClusterError):
    """Evenkeel was paused meanwhile."""


class StepWriter:
    """Carries steps out. What the API server refuses is left to the next run."""

    def __init__(self, cluster: Cluster, recorder: Recorder) -> None:
        self._cluster = cluster
        self._recorder = recorder
        self.refused: dict[str, tuple[Decision, ClusterError]] = {}
        """The workloads, by key, whose step was not done: what was decided, and why it was not."""

    def carry_out(self, steps: Sequence[RestoreStep]) -> Sequence[RestoreStep]:
        """Carry out steps of different workloads; those whose own write was accepted.

        Raises PausedError, and ClusterError where it is not known whether Evenkeel is paused.
        """
        for step in steps:
            self._recorder.decided(step.decision)
        going = list(steps)
        for position in range(max((len(step.before) for step in steps), default=0)):
            asked = [(each, each.before[position]) for each in going if position < len(each.before)]
            self.refused |= self._refused(asked)
            going = [step for step in going if step.workload not in self.refused]
        own = [(step, step.decision.write) for step in going]
        asked = [(step, write) for step, write in own if write is not None]
        self.refused |= self._refused(asked)
        done = [step for step, _ in asked if step.workload not in self.refused]
        self._refused([(step, write) for step in done for write in step.after])
        return done

    def note(self, decision: Decision) -> bool:
        """Whether the write of a decision about the cluster was accepted.

        Raises as ``carry_out`` does.
        """
        self._recorder.decided(decision)
        assert decision.write is not None  # noqa: S101 - it is decided for its write
        (reply,) = self.perform([decision.write])
        if reply.error is not None:
            self._log(decision, reply.request, reply.error)
        return reply.error is None

    def perform(self, writes: Sequence[Write]) -> Sequence[Reply]:
        """Write, some at a time, while Evenkeel is not paused.

        Raises as ``carry_out`` does.
        """
        return [
            reply
            for some in batched(writes, TOGETHER, strict=False)
            for reply in home.perform(self._write, some)
        ]

    def _write(self, writes: Sequence[Write]) -> Sequence[Reply]:
        if pause.is_paused(self._cluster):
            raise PausedError("Evenkeel is paused")
        return self._cluster.perform(writes)

    def _refused(
        self, asked: Sequence[tuple[RestoreStep, Write]]
    ) -> Mapping[str, tuple[Decision, ClusterError]]:
        """Make a write of each of these steps; as ``refused``, whose write was refused or undone.

        A refusal is logged, and a later run takes the workload up again.
        """
        refused = {}
        for (step, _), reply in zip(asked, self.perform([w for _, w in asked]), strict=True):
            if (error := error_in(reply)) is not None:
                refused[step.workload] = (step.decision, error)
                self._log(step.decision, reply.request, error)
                self.perform(undoing(reply))
        return refused

    def _log(self, decision: Decision, request: Request, error: ClusterError) -> None:
        overtaken = isinstance(error, _OVERTAKEN)
        self._recorder.counted(Metric.RESTORES_OVERTAKEN if overtaken else Metric.WRITES_FAILED)
        self._recorder.noted(
            f"{decision.verb} {decision.subject} was not done: {error}",
            reason=decision.reason,
            error=type(error).__name__,
            request=f"{type(request).__name__.lower()} {getattr(request, 'reference', '')}",
        )


def sweep_moves(writer: StepWriter, snapshot: Snapshot, now: datetime) -> int:
    """Delete Leases of moves that are long over, or that tell of none that can be true.

    Answers how many. Raises as the writer does.

    One of a move without room stays while its ReplicaSet is there: it says when its workload had
    its turn, and turns may be many hours apart. A run that is not about such moves deletes none.
    """
    there = {each.uid for candidate in snapshot.candidates for each in candidate.replica_sets}
    old = []
    for lease in snapshot.move_leases:
        move = believed_move(lease, now)
        is_there = snapshot.rest is None or lease.metadata.labels[names.MOVE_OF] in there
        if move is None or (
            now - move.until >= MOVE_SWEPT_AFTER and not (move.without_room and is_there)
        ):
            old.append(lease)
    return delete_all(old, writer.perform)


def sweep_traces(writer: StepWriter, snapshot: Snapshot) -> int:
    """Delete what tells of templates of workloads that are gone; ``snapshot`` is of them all.

    Answers how many. Raises as the writer does.
    """
    there = {candidate.workload.uid for candidate in snapshot.candidates}
    leases = snapshot.template_leases
    gone = [each for each in leases if each.metadata.labels[names.TEMPLATE_OF] not in there]
    return delete_all(gone, writer.perform)
