"""What may be taken away: what the watches show as of a moment ago, or a fresh read does."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.checking import Checker
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.dispatch.writing import Writer
from evenkeel.flows.drain.sync.following import Follower
from evenkeel.flows.drain.workload.plan import WorkloadPlan
from evenkeel.model.decision import Decision
from evenkeel.model.times import earliest

SEEK_EVERY = timedelta(milliseconds=100)
"""How often to look at the plans of all controllers, for those that have to be read."""


class Approvals:
    """Approves the steps that take something away from a workload.

    What the watches have shown is good enough as long as it is no older than a moment. In a storm
    it never is, for every own write that a watch shows says how far it has come. Where a watch has
    nothing to show, and where no watch shows all, the workload is read afresh.
    """

    def __init__(
        self,
        checker: Checker,
        view: View,
        plans: Plans,
        follower: Follower,
        writer: Writer,
    ) -> None:
        """All of them are the invocation's. Nothing is approved yet."""
        self._checker = checker
        self._view = view
        self._plans = plans
        self._follower = follower
        self._writer = writer
        self._seek_at: datetime | None = None
        self._due: datetime | None = None

    @property
    def busy(self) -> bool:
        """Whether reads are under way that complete by themselves."""
        return self._checker.busy

    def has_seen(self, key: str) -> bool:
        """Whether all pods of this controller were seen by now."""
        plan = self._plans.get(key)
        is_shown = plan is not None and self._follower.shows(plan.watched_by)
        return is_shown or self._checker.has_read(key)

    @property
    def due(self) -> datetime | None:
        """When the next controller may be, or has to be, read again."""
        return self._due

    def steps(self, now: datetime) -> Iterator[Decision]:
        """What may be written of what the plans would take away.

        A plan that there is news of waits until it is made anew: that is soon, and together with
        the others', or planning would take all the time.
        """
        for key, plan in list(self._plans.claiming.items()):
            if not self._view.queue.has_changed(key) and self._is_known(key, plan, now):
                yield from self._writable(plan)

    def take(self, now: datetime) -> None:
        """Take what was read, and plan by it."""
        for keys in self._checker.take(now):
            self._seek_at = None  # another may be read now
            self._plans.replan(keys, now)

    def seek(self, now: datetime) -> None:
        """Begin to read what the plans would take something away from, and is not known afresh.

        What no watch shows is read as long as its plan changes with its pods. A plan that was made
        just now is looked at in any case, all of them seldom: in a storm there are many.
        """
        is_early = self._seek_at is not None and timedelta() < self._seek_at - now <= SEEK_EVERY
        plans = self._plans.polled | self._plans.claiming
        keys = plans.keys() & self._plans.made if is_early else plans.keys()
        wanted = [key for key in keys if self._has_to_be_read(key, plans[key], now)]
        self._plans.made.clear()
        self._checker.begin(wanted, now)
        times = (self._checker.due_at(key, now) for key in wanted)
        due = earliest(*(at for at in times if at > now))
        if is_early:
            self._due = earliest(self._due, due)
        else:
            self._due = due
            self._seek_at = min(due or now + SEEK_EVERY, now + SEEK_EVERY)

    def _has_to_be_read(self, key: str, plan: WorkloadPlan, now: datetime) -> bool:
        """Whether a read has to say what may be taken; where a watch lags, its list will."""
        if plan.polled and not self._follower.shows(plan.watched_by):
            return True
        if self._is_known(key, plan, now) or self._follower.lags(plan.watched_by):
            return False
        return any(self._writable(plan))

    def _is_known(self, key: str, plan: WorkloadPlan, now: datetime) -> bool:
        """Whether all that matters to a plan is known as of a moment ago."""
        is_fresh = self._follower.is_fresh(plan.watched_by, now)
        return is_fresh or self._view.is_just_read(key, now)

    def _writable(self, plan: WorkloadPlan) -> Iterator[Decision]:
        may_write = self._writer.may_write
        return (step for step in plan.plan.fresh_steps if may_write(step.subject.uid))
