"""One invocation of the reconciler: decide and apply, until time is up or all waits."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.decisions.drain.route import hash_of
from evenkeel.decisions.handover import pace
from evenkeel.decisions.plan import earliest
from evenkeel.flows.handover.checking import SHORTEST_INTERVAL, Check, Checker
from evenkeel.flows.handover.following import Follower
from evenkeel.flows.handover.freshness import Freshness
from evenkeel.flows.handover.nodes import NodeKeeper
from evenkeel.flows.handover.outcome import UNHURRIED, Outcome
from evenkeel.flows.handover.planning import Fresh, Planner
from evenkeel.flows.handover.plans import Plans
from evenkeel.flows.handover.progress import PaceOfPlanning, Progress
from evenkeel.flows.handover.telling import Teller
from evenkeel.flows.handover.view import View
from evenkeel.flows.handover.writing import Writer
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.pod import Pod
from evenkeel.model.request import Relisted
from evenkeel.ports import Arrival, Clock, Cluster, Reply
from evenkeel.settings import HandoverSettings

POLL = timedelta(seconds=1)
"""How often pods are read that no watch shows."""

LONGEST_WAIT = timedelta(milliseconds=400)
"""How long to wait for news before looking around: the pause has to be asked for."""

DRAINING = timedelta(seconds=2)
"""How long to wait, in the end, for the replies to what is under way."""

APPROVED_FOR = timedelta(milliseconds=500)
"""How long a fresh read justifies a step that found no room at once."""

FIRST_LOOK = timedelta(seconds=1)
"""How long the watches may take to show what there is, before work begins without them."""

COOLDOWN_FIRST_FOR = timedelta(seconds=5)
"""How long a rollback waits for the cooldown of its workload to be written."""

AHEAD = timedelta(seconds=1)
"""How long before a time somebody has to be back: a queue counts in whole seconds."""

SHORTEST_REST = timedelta(seconds=1)
"""Nobody leaves to be back sooner than after this."""

SCHEDULE = timedelta(seconds=60)
"""What can wait as long as this is left to the schedule."""


class Reconciler:
    """Carries out one invocation on a gathered view."""

    def __init__(
        self,
        settings: HandoverSettings,
        cluster: Cluster,
        clock: Clock,
        view: View,
        keeper: NodeKeeper,
        teller: Teller,
    ) -> None:
        """All of them are the invocation's."""
        self._settings = settings
        self._cluster = cluster
        self._clock = clock
        self._view = view
        self._keeper = keeper
        self._teller = teller
        self._planner = Planner(view)
        self._progress = Progress()
        self._plans = Plans(self._planner, view)
        self._approved: dict[str, tuple[datetime, Sequence[Decision]]] = {}
        self._cooling_since: dict[str, datetime] = {}
        self._ahead = AHEAD
        self._answered: set[str] = set()
        self._pace_of_planning = PaceOfPlanning(clock.now())
        self._node_steps: Sequence[Decision] = ()
        self._handovers: frozenset[str] | None = None
        self._nodes_due: datetime | None = None

    def observe(self) -> None:
        """Tell what would be done now, and do nothing."""
        now = self._clock.now()
        self._plans.replan(self._plans.controllers, now)
        everyone = len(self._view.pods.active)
        for plan in self._plans:
            self._teller.tell([*plan.plan.steps, *plan.plan.fresh_steps])
        turns = pace.turns(self._plans.queues, everyone)
        self._teller.tell(pace.release(turn) for turn in turns)
        self._plan_nodes(now)
        self._teller.tell(self._node_steps)

    def act(self, until: datetime, gathered_in: timedelta) -> Outcome:
        """Work until nothing but waiting for a time is left, or until ``until``.

        ``gathered_in`` is how long it took to know what there is: whoever has to act again at a
        time must be back so much earlier, and some more to ask whether Evenkeel is paused.
        """
        self._ahead = AHEAD + 1.5 * gathered_in
        self._plans.replan(self._plans.controllers, self._clock.now())
        self._plan_nodes(self._clock.now())
        with self._cluster.session() as session:
            writer = Writer(session, self._view, self._clock, self._teller)
            checker = Checker(session, self._view)
            freshness = Freshness(session)
            follower = Follower(self._cluster, session, self._view)
            follower.follow()
            first_look = self._clock.now() + FIRST_LOOK
            while True:
                now = self._clock.now()
                if now >= until or writer.is_paused:
                    break
                writer.keep_asking()
                follower.keep_budgets(self._held_namespaces(), now)
                blind = follower.is_blind and now < first_look
                if blind:
                    self._apply_forced(writer)
                else:
                    self._prove(freshness, follower, now)
                    self._apply(writer, follower, now)
                    self._read(writer, checker, follower, freshness, now)
                if (
                    not blind
                    and self._only_waits(writer, checker, follower)
                    and not self._is_soon(now)
                ):
                    return self._outcome(now)
                for arrival in session.next(self._patience(writer, checker, follower, now, until)):
                    freshness.saw(arrival)
                    self._take(arrival, writer, checker, follower)
                self._catch_up(follower)
            while writer.busy and self._clock.now() < until + DRAINING:
                for arrival in session.next(LONGEST_WAIT):
                    if isinstance(arrival, Reply):
                        writer.heard(arrival)
            if writer.is_paused:
                return Outcome("Paused", UNHURRIED)
            return Outcome("OutOfTime", self._rest(self._clock.now()))

    def _take(self, arrival: Arrival, writer: Writer, checker: Checker, follower: Follower) -> None:
        """Hand an arrival to whoever waits for it."""
        if not isinstance(arrival, Reply):
            follower.absorb(arrival)
            if isinstance(arrival, Relisted):
                self._answered |= follower.take_news()  # all is seen, and nothing was planned on it
            return
        check = checker.heard(arrival)
        if check is not None:
            self._checked(check)
        elif not follower.heard(arrival):
            self._answered |= writer.heard(arrival)

    def _catch_up(self, follower: Follower) -> None:
        """Plan anew for whatever there is news of, and for whatever is due.

        What watches show waits a little in a storm, so that planning takes but a share of the
        time; what was answered to a write, and what is due, does not.
        """
        follower.gather_new_nodes()
        now = self._clock.now()
        news = self._answered | self._plans.due(now)
        self._answered = set()
        if self._view.dooms_changed:
            news |= follower.take_news() | self._plans.controllers
        elif follower.news and now >= self._pace_of_planning.next_at:
            news |= follower.take_news()
        self._plans.replan(news, now)
        self._pace_of_planning.planned(now, self._clock.now())
        concerned = self._keeper.hangs_on_pods or self._plans.handovers != self._handovers
        if (news and concerned) or self._view.nodes_changed or self._is_due(self._nodes_due, now):
            self._plan_nodes(now)
        self._view.caught_up()

    def _plan_nodes(self, now: datetime) -> None:
        self._handovers = self._plans.handovers
        steps, self._nodes_due = self._keeper.plan(self._handovers, now)
        self._node_steps = [*self._keeper.cordons(now), *steps]

    def _apply_forced(self, writer: Writer) -> None:
        """Send what cannot wait until everything was seen: last moments."""
        for steps in self._plans.writing:
            for step in steps:
                if step.forced:
                    writer.submit(step)

    def _apply(self, writer: Writer, follower: Follower, now: datetime) -> None:
        """Send what may be sent.

        Last moments first, then the other steps, then the releases whose turn it is, which
        leave half of the room to what a fresh read approved, and the nodes' part. What finds no
        room stays planned.
        """
        steps = [step for each in self._plans.writing for step in self._in_order(each, now)]
        steps.sort(key=lambda step: not step.forced)
        for step in steps:
            writer.submit(step)
        self._approved = {
            uid: (at, steps)
            for uid, (at, steps) in self._approved.items()
            if now - at < APPROVED_FOR
        }
        approved = [
            step
            for _, steps in self._approved.values()
            for step in steps
            if writer.may_write(step.subject.uid)
        ]
        self._release(writer, follower, now, min(len(approved), writer.room // 2))
        for step in (*approved, *self._node_steps):
            if writer.room == 0:
                break
            writer.submit(step)
        self._teller.tell(step for step in self._node_steps if step.write is None)

    def _read(
        self,
        writer: Writer,
        checker: Checker,
        follower: Follower,
        freshness: Freshness,
        now: datetime,
    ) -> None:
        """Read the controllers of which something may be taken away, or make sure otherwise.

        Many at once are not read, where the watches show all of them: see ``freshness``.
        Whose turns are polled for is read every second.
        """
        self._teller.tell(self._plans.news(checker.has_read))
        to_read = [
            uid
            for uid, plan in self._plans.items()
            if plan.polled and checker.due_after(uid, POLL, now) <= now
        ]
        is_slow = freshness.is_slow(now)
        they_wait = freshness.is_open or self._replaced_stay(now)
        claims: dict[str, int] = {}
        claimant: Pod | None = None
        for uid, plan in self._plans.claiming():
            released = plan.shown_by_watches
            if released is not None and they_wait:
                continue
            going = sum(writer.may_write(step.subject.uid) for step in plan.plan.fresh_steps)
            if not going:
                continue
            if released is not None and follower.shows_all_of(hash_of(released)):
                claims[uid] = going
                claimant = claimant or released
            else:
                to_read.append(uid)
        if len(claims) > self._settings.few and claimant is not None and not is_slow:
            freshness.ask(claimant, claims, now)
        else:
            to_read += claims
        checker.begin(to_read, now)

    def _replaced_stay(self, now: datetime) -> bool:
        """Whether pods that have their replacement stay until others have theirs."""
        plans = self._plans
        if not plans.claimed or plans.is_short_of_quota:
            return False
        deadlines = map(node_deadline, self._view.dooms.values())
        return pace.others_first(
            plans.waiting, plans.claimed, self._settings.window, deadlines, now
        )

    def _prove(self, freshness: Freshness, follower: Follower, now: datetime) -> None:
        """Approve what the watches have proven: no more than was claimed, nor than holds now."""
        for uid, count in freshness.proven(follower.pod_watches).items():
            if uid in follower.news:
                self._plans.replan([uid], now)
            plan = self._plans.get(uid)
            if plan is not None:
                self._approved[uid] = now, plan.plan.fresh_steps[:count]

    def _in_order(self, steps: Sequence[Decision], now: datetime) -> Sequence[Decision]:
        """Those of a workload's steps that may be taken now.

        A workload's cooldown is written before its pods go back: once they are back nothing
        tells any more that it needs a rest. But it is not waited for without end.
        """
        cool_down = next((step for step in steps if step.verb is Verb.COOL_DOWN), None)
        if cool_down is None:
            return steps
        since = self._cooling_since.setdefault(cool_down.subject.uid, now)
        if now - since >= COOLDOWN_FIRST_FOR:
            return steps
        return [step for step in steps if step.verb is not Verb.ROLL_BACK]

    def _release(self, writer: Writer, follower: Follower, now: datetime, kept: int) -> None:
        """Release those whose turn it is, as far as the window and the session have room.

        Of the session's room so much is ``kept`` for others.
        """
        if writer.room == 0 or not self._plans.queues:
            return

        def may_go(pod: Pod) -> bool:
            known = self._view.pods.get(pod.uid)
            if known is None or known.released or not known.active:
                return False  # news that are not planned for yet
            return writer.may_write(pod.uid) and follower.shows_all_of(hash_of(pod))

        under_way = writer.count_under_way(Verb.RELEASE)
        short = self._plans.not_made_anew
        window = pace.window(
            self._settings.window,
            self._progress.rate(writer.accepted(Verb.RELEASE) - short, now),
            zeros_wait=pace.would_reach_zero(self._plans.queues, may_go),
        )
        room = min(window - short - under_way, writer.room - kept)
        if room > 0:
            for turn in pace.turns(self._plans.queues, room, may_go):
                key, census = turn.replica_set.key, turn.census
                if census.worth_keeping < census.replicas and key in follower.news:
                    self._answered.add(key)  # more may be worth keeping by now: plan for it first
                    continue
                self._planner.promise(turn.replica_set.uid, turn.census.worth_keeping)
                writer.submit(pace.release(turn))

    def _checked(self, check: Check) -> None:
        """A fresh read is complete: what it says may be taken away is approved.

        It replaces what an earlier read approved and found no room yet: the two together
        would take away too much.
        """
        now = self._clock.now()
        uid = check.controller_uid
        self._approved.pop(uid, None)
        self._view.take_over(uid, check.controller, list(check.pods.values()))
        if check.deployment is not None:
            self._view.see_deployment(check.deployment)
        pods = self._view.pods.only_counting(check.pods.values(), uid)
        if pods:
            fresh = Fresh(controller=check.controller, pods=pods, siblings=check.siblings)
            plan = self._planner.plan(uid, now, fresh)
            self._approved[uid] = now, plan.plan.fresh_steps
        self._plans.replan([uid], now)

    def _held_namespaces(self) -> set[str]:
        """Where voluntary moves hang on budgets."""
        return {
            plan.census.owned[0].namespace
            for plan in self._plans
            if plan.voluntary and plan.census is not None and plan.census.owned
        }

    def _only_waits(self, writer: Writer, checker: Checker, follower: Follower) -> bool:
        """Whether nothing is under way, and nothing that a watch or a poll would show."""
        if writer.busy or checker.busy or follower.busy or self._answered:
            return False
        if any(step.write is not None for step in self._node_steps):
            return False
        return not any(plan.restless for plan in self._plans)

    def _is_soon(self, now: datetime) -> bool:
        """Whether what is waited for is due so soon that nobody would be back in time."""
        due = self._next_due
        return due is not None and due - now < self._ahead + SHORTEST_REST

    def _outcome(self, now: datetime) -> Outcome:
        due = self._next_due
        if due is None or due - now > SCHEDULE:
            self._teller.forget(but=self._view.uids)
            return Outcome("Quiet")
        return Outcome("Waiting", due - now - self._ahead)

    def _rest(self, now: datetime) -> timedelta:
        """How long to rest with work left: a moment where pods die, and never too long."""
        pressing = any(plan.pressing for plan in self._plans)
        rest = self._settings.pause if pressing else UNHURRIED
        due = self._next_due
        return (
            rest if due is None else max(self._settings.pause, min(rest, due - now - self._ahead))
        )

    @property
    def _next_due(self) -> datetime | None:
        return earliest(self._nodes_due, self._plans.next_due)

    def _patience(
        self, writer: Writer, checker: Checker, follower: Follower, now: datetime, until: datetime
    ) -> timedelta:
        if self._answered:
            return timedelta()
        checks = (
            checker.due_after(uid, POLL if plan.polled else SHORTEST_INTERVAL, now)
            for uid, plan in self._plans.items()
            if plan.polled or plan.plan.fresh_steps
        )
        due = earliest(
            until,
            now + LONGEST_WAIT,
            writer.next_retry,
            self._nodes_due,
            self._plans.next_due,
            self._pace_of_planning.next_at if follower.news else None,
            *(check for check in checks if check > now),
        )
        return max(timedelta(), (due or now) - now)

    @staticmethod
    def _is_due(at: datetime | None, now: datetime) -> bool:
        return at is not None and at <= now
