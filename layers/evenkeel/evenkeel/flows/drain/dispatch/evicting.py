"""Sending what takes a pod away from its workload: on what is known as of a moment ago alone."""

from datetime import datetime

from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.dispatch.writing import Writer
from evenkeel.flows.drain.sync.listings import Listings
from evenkeel.flows.drain.workload.plan import Has


class Evictions:
    """Sends the evictions of the plans, and has those workloads listed that are not known afresh.

    What the watches have shown will do while it is no older than a second. In a storm it never is
    older, because a watch shows an own write every moment. Where it shows none, and where no watch
    shows all pods, the workload is listed by itself.
    """

    def __init__(self, plans: Plans, writer: Writer, view: View, listings: Listings) -> None:
        """All of them are the invocation's."""
        self._plans = plans
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
        planning may take. While a watch lags, its own list is waited for, which shows all its
        workloads. A workload that no watch shows is listed every second as long as its plan changes
        with its pods.
        """
        view, streams, may_write = self._view, self._view.streams, self._writer.may_write
        awaiting = self._plans.having(Has.AWAITS_PODS)
        shown = streams.shown  # no call for each: it is asked in each turn
        stale = {
            key for key, plan in awaiting if not (plan.watched_by and plan.watched_by <= shown)
        }
        for key, plan in self._plans.having(Has.EVICTIONS):
            if view.queue.has_changed(key):
                continue
            steps = [step for step in plan.plan.evictions if may_write(step.subject.uid)]
            if steps and view.is_fresh(key, plan.watched_by, now):
                self._writer.submit_all(steps)
            elif steps and not streams.lag(plan.watched_by):
                stale.add(key)
        self.next_at = self._listings.refresh(stale, now)
