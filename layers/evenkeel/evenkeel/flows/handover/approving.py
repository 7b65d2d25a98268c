"""What may be taken away: what a fresh read, or a proof that the watches are fresh, approved."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from evenkeel.decisions.drain.route import hash_of
from evenkeel.decisions.plan import earliest
from evenkeel.flows.handover.checking import SHORTEST_INTERVAL, Check, Checker
from evenkeel.flows.handover.following import Follower
from evenkeel.flows.handover.freshness import Claim, Freshness
from evenkeel.flows.handover.planning import Fresh, Planner
from evenkeel.flows.handover.plans import Plans
from evenkeel.flows.handover.view import View
from evenkeel.flows.handover.writing import Writer
from evenkeel.model.decision import Decision
from evenkeel.model.pod import Pod
from evenkeel.ports import Arrival, Reply, Session
from evenkeel.settings import HandoverSettings

POLL = timedelta(seconds=1)
"""How often pods are read that no watch shows."""

APPROVED_FOR = timedelta(milliseconds=500)
"""How long an approval justifies a step that found no room at once."""


OLDEST = timedelta(seconds=2)
"""A read that took longer justifies nothing of what no watch shows."""


class Approvals:
    """Approves the steps that take something away from a workload.

    A few workloads are read afresh, one by one. Where the watches show all of many at once, it
    is proven instead that they are fresh: see ``freshness``.
    """

    def __init__(
        self,
        settings: HandoverSettings,
        session: Session,
        view: View,
        planner: Planner,
        plans: Plans,
        follower: Follower,
        writer: Writer,
    ) -> None:
        """All of them are the invocation's. Nothing is approved yet."""
        self._settings = settings
        self._view = view
        self._planner = planner
        self._plans = plans
        self._follower = follower
        self._writer = writer
        self._checker = Checker(session, view)
        self._freshness = Freshness(session)
        self._approved: dict[str, tuple[datetime, frozenset[str]]] = {}

    @property
    def busy(self) -> bool:
        """Whether reads are under way that complete by themselves."""
        return self._checker.busy

    def has_read(self, key: str) -> bool:
        """Whether all pods of this controller were read by now."""
        return self._checker.has_read(key)

    def due(self, now: datetime) -> datetime | None:
        """When the next controller may be, or has to be, read again."""
        times = (
            self._checker.due_after(key, POLL if plan.polled else SHORTEST_INTERVAL, now)
            for key, plan in self._plans.items()
            if plan.polled or plan.plan.fresh_steps
        )
        return earliest(*(at for at in times if at > now))

    def steps(self, now: datetime) -> Sequence[Decision]:
        """What was approved a moment ago, is planned still, and may be written."""
        self._approved = {
            key: (at, uids) for key, (at, uids) in self._approved.items() if now - at < APPROVED_FOR
        }
        return [
            step
            for key, (_, uids) in self._approved.items()
            if (plan := self._plans.get(key)) is not None
            for step in plan.plan.fresh_steps
            if step.subject.uid in uids and self._writer.may_write(step.subject.uid)
        ]

    def arrived(self, arrival: Arrival, now: datetime) -> None:
        """Take note of how far the watches have come, and of replies to what was asked here."""
        self._freshness.saw(arrival, now)
        if isinstance(arrival, Reply):
            check = self._checker.heard(arrival)
            if check is not None:
                self._checked(check, now)

    def prove(self, now: datetime) -> None:
        """Approve what the watches have proven: no more than was claimed, nor than holds now."""
        for key, uids in self._freshness.proven().items():
            if key in self._follower.news:
                self._plans.replan([key], now)
            plan = self._plans.get(key)
            if plan is not None and plan.shown_by_watches is not None:
                self._approved[key] = now, uids

    def seek(self, now: datetime) -> None:
        """Begin to make sure of what the plans would take away.

        Many controllers at once are not read where the watches show all of them. Whose turns
        are polled for is read every second.
        """
        to_read = [
            key
            for key, plan in self._plans.items()
            if plan.polled and self._checker.due_after(key, POLL, now) <= now
        ]
        unproven = self._freshness.give_up(now)
        claims: dict[str, Claim] = {}
        claimant: Pod | None = None
        for key, plan in self._plans.claiming():
            released = plan.shown_by_watches
            if released is not None and self._freshness.is_open:
                continue
            uids = (step.subject.uid for step in plan.plan.fresh_steps)
            going = frozenset(filter(self._writer.may_write, uids))
            if not going:
                continue
            watches = self._follower.watches_of(hash_of(released)) if released is not None else ()
            if watches and key not in unproven and self._freshness.can_be_proven(watches):
                claims[key] = Claim(going, watches)
                claimant = claimant or released
            else:
                to_read.append(key)
        if len(claims) > self._settings.few and claimant is not None:
            self._freshness.ask(claimant, claims, now)
        else:
            to_read += claims
        self._checker.begin(to_read, now)

    def _checked(self, check: Check, now: datetime) -> None:
        """A fresh read is complete: what it says may be taken away is approved.

        It replaces what an earlier read approved and found no room yet: the two together
        would take away too much. A read that took long says how things were, and the watches
        may know better; where they do not show all, it is not believed.
        """
        key = check.controller_key
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
