"""What is recorded of the plans beside their writes: their notes, each once, and counts of pods."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.forced_evictions import ForcedEvictions
from evenkeel.flows.drain.dispatch.plans import NOTHING, Plans
from evenkeel.flows.drain.recording import Counted, OnceRecorder
from evenkeel.flows.drain.workload.workload_plan import WorkloadPlan
from evenkeel.ports import Clock, Session

FLUSH_EVERY: Final = timedelta(seconds=30)
"""How long metrics and Kubernetes Events are held back while an invocation works."""


@dataclass(eq=False)
class Reports:
    """Records what is news in the plans of an invocation, whose all its parts but ``once`` are."""

    _session: Session
    _plans: Plans
    _view: View
    _forced: ForcedEvictions
    _once: OnceRecorder
    _clock: Clock
    _untold: set[str] = field(default_factory=set)
    _uncounted: set[str] = field(default_factory=set)
    _flush_at: datetime = field(init=False)
    _flushing: Future[None] | None = None

    def __post_init__(self) -> None:
        """From now on it is told of each plan."""
        self._flush_at = self._clock.now() + FLUSH_EVERY
        self._plans.tell(self._changed)

    def _changed(self, key: str, before: WorkloadPlan, after: WorkloadPlan) -> None:
        """A plan takes the place of another: its notes are news, and its count may be."""
        if after.counted is None:
            self._count_without(key, before)
        if after is NOTHING:
            self._untold.discard(key)
        else:
            self._untold.add(key)
            self._uncounted.add(key)
            self._count(key)

    def tell(self, now: datetime) -> None:
        """Record new notes and counts; every 30 s the recorder is flushed, beside the loop.

        A plan that awaits pods tells its notes once all pods of its workload were seen.
        """
        self._once.record(step for step in self._plans.of_nodes if step.write is None)
        for key in sorted(self._uncounted):
            self._count(key)
        self._once.tell_counts(now)
        awaits = {key for key in self._untold if self._plans.of(key).plan.awaits_pods}
        told = {key for key in self._untold if key not in awaits or self._were_seen(key)}
        self._untold -= told
        notes = (note for key in sorted(told) for note in self._plans.of(key).notes)
        has_begun = self._forced.has_begun
        self._once.record(note for note in notes if not has_begun(note.subject.uid, now))
        if now >= self._flush_at and (self._flushing is None or self._flushing.done()):
            self._flush_at = now + FLUSH_EVERY
            self._flushing = self._session.start(self._once.recorder.flush)

    def _count(self, key: str) -> None:
        """Hand on the count of a plan; a low one only once all pods of its workload were seen.

        They were, too, if as many as are wanted are known, with those that were told to go.
        """
        members, counted = self._view.pods.members, self._plans.of(key).counted
        if counted is None:
            self._uncounted.discard(key)
            return
        count, known = counted.count, {pod.uid for pod in (*members.of(key), *members.going(key))}
        if count.is_whole or len(known) >= count.wanted or self._were_seen(key):
            self._uncounted.discard(key)
            self._once.count(counted)

    def _count_without(self, key: str, before: WorkloadPlan) -> None:
        """Count a workload of which all pods that are known were just told to go.

        That is none, or not known where others of it were not seen yet.
        """
        members, was_counted = self._view.pods.members, key not in self._uncounted
        self._uncounted.discard(key)
        if before.counted is not None and not members.of(key) and members.number_of(key):
            count = msgspec.structs.replace(
                before.counted.count,
                at=self._clock.now(),
                available=0 if was_counted else None,
            )
            self._once.count(Counted(count, tuple, before.counted.begins))

    def _were_seen(self, key: str) -> bool:
        """Whether all pods of a workload were seen: else only those on doomed nodes were."""
        view = self._view
        return key in view.listed_at or view.streams.show(self._plans.of(key).watched_by)
