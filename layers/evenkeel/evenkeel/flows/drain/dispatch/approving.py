"""What may be taken away: what the watches show as of a moment ago, or a fresh read does."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from evenkeel.decisions.plan import earliest
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.checking import SHORTEST_INTERVAL, Check, Checker
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.dispatch.writing import Writer
from evenkeel.flows.drain.sync.following import Follower
from evenkeel.flows.drain.workload.plan import WorkloadPlan
from evenkeel.flows.drain.workload.planning import Fresh, Planner
from evenkeel.model.decision import Decision
from evenkeel.ports import Clock, Session

POLL = timedelta(seconds=1)
"""How often pods are read that no watch shows, or whose watch has nothing to show."""

SEEK_EVERY = timedelta(milliseconds=100)
"""How often to look for controllers that have to be read, while no plan is made."""

APPROVED_FOR = timedelta(milliseconds=500)
"""How long an approval justifies a step that found no room at once."""

OLDEST = timedelta(seconds=2)
"""A read that took longer justifies nothing of what no watch shows."""


class Approvals:
    """Approves the steps that take something away from a workload.

    What the watches have shown is good enough as long as it is no older than a moment. In a storm
    it never is, for every own write that a watch shows says how far it has come. Where a watch has
    nothing to show, and where no watch shows all, the workload is read afresh.
    """

    def __init__(
        self,
        session: Session,
        clock: Clock,
        view: View,
        planner: Planner,
        plans: Plans,
        follower: Follower,
        writer: Writer,
    ) -> None:
        """All of them are the invocation's. Nothing is approved yet."""
        self._clock = clock
        self._view = view
        self._planner = planner
        self._plans = plans
        self._follower = follower
        self._writer = writer
        self._checker = Checker(session, view, self._checked)
        self._seek_at = clock.now()
        self._sought = 0
        self._due: datetime | None = None
        self._approved: dict[str, tuple[datetime, frozenset[str]]] = {}

    @property
    def busy(self) -> bool:
        """Whether reads are under way that complete by themselves."""
        return self._checker.busy

    def has_read(self, key: str) -> bool:
        """Whether all pods of this controller were read by now."""
        return self._checker.has_read(key)

    @property
    def due(self) -> datetime | None:
        """When the next controller may be, or has to be, read again."""
        return self._due

    def steps(self, now: datetime) -> Iterator[Decision]:
        """What may be written of what the plans would take away."""
        self._approved = {
            key: (at, uids) for key, (at, uids) in self._approved.items() if now - at < APPROVED_FOR
        }
        for key in list(self._plans.claiming):
            yield from self._approved_of(key, now)

    def seek(self, now: datetime) -> None:
        """Begin to read what the plans would take something away from, and is not known afresh.

        Whose turns are polled for is read every second.
        """
        if self._sought == self._plans.made and timedelta() < self._seek_at - now <= SEEK_EVERY:
            return
        self._sought = self._plans.made
        polled, stale = list[str](), list[str]()
        for key in self._plans.polled:
            if self._checker.due_after(key, POLL, now) <= now:
                polled.append(key)
        for key, plan in self._plans.claiming.items():
            if self._is_fresh(plan, now):
                continue
            if any(self._writer.may_write(step.subject.uid) for step in plan.plan.fresh_steps):
                (polled if plan.shown_by_watches is None else stale).append(key)
        self._checker.begin(polled, SHORTEST_INTERVAL, now)
        self._checker.begin(stale, POLL, now)
        times = (
            self._checker.due_after(key, _interval(plan), now)
            for key, plan in (self._plans.polled | self._plans.claiming).items()
        )
        self._due = earliest(*(at for at in times if at > now))
        self._seek_at = min(self._due or now + SEEK_EVERY, now + SEEK_EVERY)

    def _approved_of(self, key: str, now: datetime) -> Sequence[Decision]:
        """What a controller's plan takes away, as far as that is approved and may be written.

        A plan that there is news of waits until it is made anew: that is soon, and together with
        the others', or planning would take all the time.
        """
        plan = self._plans.get(key)
        if plan is None or key in self._follower.news:
            return ()
        is_fresh = self._is_fresh(plan, now)
        _, uids = self._approved.get(key, (now, frozenset[str]()))
        return [
            step
            for step in plan.plan.fresh_steps
            if (is_fresh or step.subject.uid in uids) and self._writer.may_write(step.subject.uid)
        ]

    def _is_fresh(self, plan: WorkloadPlan, now: datetime) -> bool:
        released = plan.shown_by_watches
        return released is not None and self._follower.is_fresh(released.template_hash, now)

    def _checked(self, check: Check) -> None:
        """A fresh read is complete: what it says may be taken away is approved.

        It replaces what an earlier read approved and found no room yet: the two together
        would take away too much. A read that took long says how things were, and the watches
        may know better; where they do not show all, it is not believed.
        """
        key, now = check.controller_key, self._clock.now()
        self._approved.pop(key, None)
        self._view.take_over(key, check.controller, list(check.pods.values()), check.read_at)
        if check.deployment is not None:
            self._view.see_deployment(check.deployment)
        pods = self._view.pods.only_counting(check.pods.values(), key)
        if pods:
            fresh = Fresh(controller=check.controller, pods=pods, siblings=check.siblings)
            found = self._planner.plan(key, now, fresh)
            if found.shown_by_watches is not None or now - check.began < OLDEST:
                self._approved[key] = (
                    now,
                    frozenset(step.subject.uid for step in found.plan.fresh_steps),
                )
        self._plans.replan([key], now)


def _interval(plan: WorkloadPlan) -> timedelta:
    is_watched = plan.shown_by_watches is not None
    return POLL if plan.polled or is_watched else SHORTEST_INTERVAL
