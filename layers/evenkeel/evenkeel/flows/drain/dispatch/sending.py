"""Sending: which steps of the plans are written now, and in which order, while there is room.

What takes a pod away from its workload is sent on what is known as of a moment ago alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from evenkeel.decisions.drain.agenda import Slot
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.forced_evictions import ForcedEvictions
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.dispatch.releasing import Releases
from evenkeel.flows.drain.dispatch.writing import Writer
from evenkeel.flows.drain.sync.listings import Listings
from evenkeel.flows.drain.workload.workload_plan import Has
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.times import earliest

COOLDOWN_FIRST_FOR = timedelta(seconds=5)
"""How long a rollback waits for the cooldown of its workload to be written."""


class Evictions:
    """Sends the evictions of the plans, and has those workloads listed that are not known afresh.

    What the watches have shown will do while it is no older than a second. In a storm it seldom is
    older, because a watch shows an own write every moment. Where it shows none, where it lags, and
    where no watch shows all pods, the workload is listed by itself.
    """

    def __init__(self, plans: Plans, writer: Writer, view: View, listings: Listings) -> None:
        """All of them are the invocation's."""
        self._plans = plans
        self._planned = plans.follow()
        self._shown: frozenset[PodLabel] = frozenset()
        self._unshown: set[str] = set()  # the workloads whose pods are awaited, and no watch shows
        self._writer = writer
        self._view = view
        self._listings = listings
        self.next_at: datetime | None = None
        """When the next workload may be listed."""

    @property
    def are_listing(self) -> bool:
        """Whether a workload is being listed."""
        return bool(self._listings)

    def send(self, now: datetime) -> None:
        """Send what may be sent, as far as there is room.

        A plan waits whose workload has changed: it is made anew soon, within the share of time that
        planning may take. A workload that no watch shows is listed every second as long as its plan
        changes with its pods.
        """
        view, may_write = self._view, self._writer.may_write
        stale = self._look_for_unshown()
        for key, plan in self._plans.having(Has.EVICTIONS):
            if view.queue.has_changed(key):
                continue
            steps = [step for step in plan.plan.evictions if may_write(step.subject.uid, step.verb)]
            if steps and view.is_fresh(key, plan.watched_by, now):
                self._writer.submit_all(steps)
            elif steps:
                stale.add(key)
        self.next_at = self._listings.refresh(stale, now)

    def _look_for_unshown(self) -> set[str]:
        """The workloads that no watch shows, among those whose plans await pods.

        That is asked in each turn, and changes with a plan, or when a watch begins.
        """
        shown = self._view.streams.shown
        if shown is not self._shown:
            self._shown = shown
            self._planned.update(key for key, _ in self._plans.having(Has.AWAITS_PODS))
        while self._planned:
            key = self._planned.pop()
            plan = self._plans.of(key)
            is_shown = plan.watched_by and plan.watched_by <= shown
            if Has.AWAITS_PODS in plan.has and not is_shown:
                self._unshown.add(key)
            else:
                self._unshown.discard(key)
        return set(self._unshown)


@dataclass(eq=False)
class Sender:
    """Sends the steps of the plans; a step that finds no room stays planned.

    All its parts are the invocation's.
    """

    _plans: Plans
    _forced: ForcedEvictions
    _writer: Writer
    _evictions: Evictions
    _releases: Releases
    _cooling_since: dict[str, datetime] = field(default_factory=dict)

    def send(self, now: datetime) -> None:
        """Send what may be sent.

        Forced evictions first; then the other steps; then the releases whose turn it is, because a
        pod without a replacement is at risk; then the evictions that need fresh knowledge, such as
        those of pods whose replacement is available, which can wait; and the nodes' steps.
        """
        self._forced.settle()
        self.send_forced(now, now)
        self._send_writes(now)
        self._releases.release(now)
        self._evictions.send(now)
        self._writer.submit_all(self._plans.of_nodes)

    def _send_writes(self, now: datetime) -> None:
        """Send what rests on no count, as long as a namespace leaves others room.

        A tenant may make thousands of pods that are to be put back, and write them anew each time.
        """
        crowds = self._writer.crowds
        self._writer.submit_all(
            step
            for steps in self._plans.writes()
            if not crowds(steps[0].subject.namespace)
            for step in self._in_order(steps, now)
            if not crowds(step.subject.namespace)
        )

    def is_busy(self, now: datetime) -> bool:
        """Whether something is under way, or was decided and is not done."""
        if self._writer.under_way or self._evictions.are_listing or self._plans.is_unfinished:
            return True
        return any(self._forced.due(now, now))

    @property
    def has_deadlines(self) -> bool:
        """Whether pods die at their deadlines."""
        return bool(self._forced)

    def next_forced_at(self, now: datetime) -> datetime | None:
        """When the next forced eviction begins that is not due now."""
        return self._forced.next_at(now)

    def next_at(self, now: datetime) -> datetime | None:
        """When something may be sent, or listed, that may not now."""
        return earliest(self._forced.next_at(now), self._evictions.next_at, self._writer.next_retry)

    def send_forced(self, now: datetime, by: datetime) -> None:
        """Send the forced evictions that have to begin by a time, by deadline.

        Where more are due than can be sent, those of later deadlines still have time.
        """
        if self._writer.room(forced=True):
            slots = sorted(self._forced_slots(now, by), key=lambda slot: slot.forced.evict_by)
            self._writer.submit_all(slot.step(by) for slot in slots)

    def has_unsent_forced(self, now: datetime, by: datetime) -> bool:
        """Whether forced evictions due by ``by`` are still unsent."""
        return any(self._forced_slots(now, by))

    def _forced_slots(self, now: datetime, by: datetime) -> Iterator[Slot]:
        """The slots that are due by a time, but for those that were sent, or whose pod rests."""
        may_write = self._writer.may_write
        due = self._forced.due(now, by)
        return (slot for slot in due if may_write(slot.forced.pod.uid, None))

    def _in_order(self, steps: Sequence[Decision], now: datetime) -> Sequence[Decision]:
        """Those of a workload's steps that may be taken now.

        A workload's cooldown is written before its pods go back: once they are back no object
        shows any more that it needs one. The wait for that write is bounded.
        """
        cool_down = next((step for step in steps if step.verb is Verb.COOL_DOWN), None)
        if cool_down is None:
            return steps
        since = self._cooling_since.setdefault(cool_down.subject.uid, now)
        if now - since >= COOLDOWN_FIRST_FOR:
            return steps
        return [step for step in steps if step.verb is not Verb.ROLL_BACK]
