"""One invocation of the reconciler: decide and apply, until time is up or nothing is due."""

from concurrent.futures import Future
from datetime import datetime, timedelta
from typing import NamedTuple

from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.cloud import Cloud
from evenkeel.flows.drain.dispatch.approving import Approvals
from evenkeel.flows.drain.dispatch.checking import Checker
from evenkeel.flows.drain.dispatch.forcing import ForcedEvictions
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.dispatch.releasing import Releases
from evenkeel.flows.drain.dispatch.sending import Sender
from evenkeel.flows.drain.dispatch.writing import Writer
from evenkeel.flows.drain.leadership import Leadership
from evenkeel.flows.drain.nodes import NodeKeeper
from evenkeel.flows.drain.outcome import REST_IN_CALM, Outcome
from evenkeel.flows.drain.recording import OnceRecorder
from evenkeel.flows.drain.sync.following import Follower
from evenkeel.flows.drain.sync.owners import Owners
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.model.times import earliest
from evenkeel.ports import Arrival, Clock, Cluster, Reply, Session, TimeLeft
from evenkeel.settings import HandoverSettings

LONGEST_WAIT = timedelta(milliseconds=400)
"""How long to wait for the mailbox at most: the pause has to be asked for."""

DRAINING = timedelta(seconds=2)
"""How long to wait, in the end, for the replies to what is under way."""

FIRST_LOOK = timedelta(seconds=1)
"""How long the watches may take for their first lists, before work begins without them."""

LEAD = timedelta(seconds=1)
"""Lead time of the next wake-up: a queue counts in whole seconds."""

SHORTEST_REST = timedelta(seconds=10)
"""An invocation with something to do before this stays for it."""

CLOSING = timedelta(seconds=3)
"""No invocation begins anything so shortly before it is stopped."""

FLUSH_EVERY = timedelta(seconds=30)
"""How long metrics and Kubernetes Events are held back while an invocation works."""

SCHEDULE = timedelta(seconds=60)
"""A step that is due later than this is left to the schedule."""


class Ports(NamedTuple):
    """What one invocation has of the outside; the session is open."""

    cluster: Cluster
    session: Session
    clock: Clock


class Reconciler:
    """Carries out one invocation on a gathered view."""

    def __init__(
        self,
        settings: HandoverSettings,
        ports: Ports,
        view: View,
        cloud: Cloud,
        once: OnceRecorder,
        leadership: Leadership,
    ) -> None:
        """All but ``cloud`` and ``once`` are the invocation's."""
        cluster, session, clock = ports
        self._settings = settings
        self._session = session
        self._clock = clock
        self._view = view
        self._keeper = NodeKeeper(settings, view, cloud, session)
        self._once = once
        planner = Planner(view)
        self._forced = forced = ForcedEvictions(
            settings.evictions_per_second, session.capacity, cloud.answers
        )
        self._plans = plans = Plans(planner, view, forced)
        self._leadership = leadership
        self._follower = follower = Follower(session, view, settings.capacity_labels, once.recorder)
        self._writer = writer = Writer(
            session, view, clock, once, cloud.answers, leadership.left, follower
        )
        checker = Checker(cluster, session, view)
        self._approvals = Approvals(checker, view, plans, follower, writer)
        releases = Releases(settings, view, planner, plans, follower, writer, forced)
        self._sender = Sender(plans, writer, self._approvals, releases, forced)
        self._owners = Owners(cluster, session, view, once.recorder, clock.now())
        self._flush_at = clock.now() + FLUSH_EVERY
        self._flushing: Future[None] | None = None
        self._lead = LEAD
        self._left: TimeLeft = timedelta
        self._first_look: datetime | None = None

    def act(self, until: datetime, gathered_in: timedelta, left: TimeLeft) -> Outcome:
        """Work until nothing but waiting for a time is left, the Lease is lost, or time is up.

        That is ``until``, or when this invocation is about to be stopped: ``left``.
        ``gathered_in`` is how long the first reads took: the next wake-up comes so much before the
        next step is due, and some more.
        """
        self.begin(gathered_in, left)
        while (now := self._clock.now()) < until and not self._has_to_stop:
            outcome = self.turn(now, until)
            if outcome is not None:
                return outcome
        again_at = now + self._rest(now)
        self._finish(now)
        if self._writer.is_paused:
            return Outcome("Paused", REST_IN_CALM)
        reason = "LeaseLost" if self._leadership.is_lost else "OutOfTime"
        return Outcome(reason, max(self._settings.pause, again_at - self._clock.now()))

    def begin(self, gathered_in: timedelta, left: TimeLeft) -> None:
        """Plan what is known, and watch it from now on."""
        self._left = left
        self._lead = LEAD + 1.5 * gathered_in
        now = self._clock.now()
        self._plans.replan(self._plans.controllers, now)
        self._keeper.plan(self._handovers, now)
        self._follower.follow(now)
        self._first_look = now + FIRST_LOOK

    def turn(self, now: datetime, until: datetime) -> Outcome | None:
        """Send what may be sent, take what arrives, plan anew; an Outcome if nothing is left."""
        self._leadership.beat(self._session)
        self._flush(now)
        self._writer.keep_asking()
        self._follower.keep_budgets(self._plans.held_namespaces, now)
        if self._first_look is not None and self._follower.is_blind and now < self._first_look:
            self._sender.send_forced(now, now)
        else:
            if self._first_look is not None:
                self._first_look = None
                self._forced.settle()
            self._sender.send(now, self._keeper.steps)
            self._once.record(step for step in self._keeper.steps if step.write is None)
            news = self._plans.news(self._approvals.has_seen)
            has_begun = self._forced.has_begun
            self._once.record(step for step in news if not has_begun(step.subject.uid, now))
            self._approvals.seek(now)
            if self._only_waits(now) and not self._is_soon(now):
                return self._outcome(now)
        for arrival in self._session.next(self._patience(now, until)):
            self._take(arrival)
        self._catch_up()
        return None

    def _flush(self, now: datetime) -> None:
        """Hand on what was recorded, beside the loop."""
        if now >= self._flush_at and (self._flushing is None or self._flushing.done()):
            self._flush_at = now + FLUSH_EVERY
            self._flushing = self._session.start(self._once.recorder.flush)

    @property
    def _has_to_stop(self) -> bool:
        """Whether nothing may be begun any more."""
        return self._writer.is_paused or self._leadership.is_lost or self._left() <= CLOSING

    def _take(self, arrival: Arrival) -> None:
        """Give a reply to its ``then``, and what watches show to the follower."""
        if isinstance(arrival, Reply):
            if arrival.then is not None:
                arrival.then(arrival)
            elif arrival.error is not None:
                self._follower.refused(arrival.request, arrival.error)
            return
        self._follower.absorb(arrival)

    def _catch_up(self) -> None:
        """Plan again for controllers whose objects have changed, and for those that are due.

        Changes wait a little in a storm, so that planning takes only a share of the time; plans
        that are due do not wait, nor those that have to be made before another step.
        """
        now, queue = self._clock.now(), self._view.queue
        found = self._owners.catch_up(now)
        if found:
            self._follower.follow(now)
        queue.add(found, urgent=True)
        self._approvals.take(now)
        self._follower.ask_for_nodes()
        self._follower.read_again(now)
        if self._view.changed_dooms:
            queue.add(self._view.controllers_on(self._view.changed_dooms), urgent=True)
        news = queue.take(now)
        if news:
            self._plans.replan(news, now)
            queue.planned(now, self._clock.now())
        handovers = self._handovers
        if self._keeper.is_stale(now, handovers, news=bool(news)):
            self._keeper.plan(handovers, now)
        self._view.caught_up()

    @property
    def _handovers(self) -> frozenset[str]:
        """The nodes that have pods which are handed over, or whose pods are not known yet."""
        return frozenset(self._plans.handovers) | self._view.unread

    def _finish(self, now: datetime) -> None:
        """Wait for the replies to the writes that are under way.

        Pods whose forced eviction would begin before the next invocation has read all go now.
        """
        back_at, until = now + self._lead, now + DRAINING
        while (at := self._clock.now()) < until:
            has_to_stop = self._has_to_stop
            if not has_to_stop:
                self._writer.keep_asking()
                self._sender.send_forced(at, back_at)
            if not self._writer.busy and (has_to_stop or not self._sender.forced_wait(at, back_at)):
                return
            for arrival in self._session.next(LONGEST_WAIT):
                if isinstance(arrival, Reply):
                    self._take(arrival)

    def _only_waits(self, now: datetime) -> bool:
        """Whether nothing is under way, neither a request nor a change that a watch would show."""
        if self._writer.busy or self._approvals.busy or self._owners.busy:
            return False
        if (
            self._follower.busy
            or self._view.queue
            or self._leadership.is_hiding
            or self._leadership.is_sqs_slow
        ):
            return False  # the next wake-up would come late
        if self._keeper.is_asking or any(step.write is not None for step in self._keeper.steps):
            return False
        return not self._plans.restless and not any(self._forced.due(now, now))

    def _is_soon(self, now: datetime) -> bool:
        """Whether the next step is due so soon that another invocation would be late."""
        due = self._next_due
        return due is not None and due - now < max(self._lead, SHORTEST_REST)

    def _outcome(self, now: datetime) -> Outcome:
        due = self._next_due
        if due is None or (due - now > SCHEDULE and not self._is_pressing):
            self._once.forget(but=self._view.uids)
            return Outcome("Quiet")
        return Outcome("Waiting", due - now - self._lead)

    def _rest(self, now: datetime) -> timedelta:
        """How long until the next invocation: a moment where nodes die, and never too long."""
        rest = self._settings.pause if self._is_pressing else REST_IN_CALM
        due = self._next_due
        return rest if due is None else max(self._settings.pause, min(rest, due - now - self._lead))

    @property
    def _is_pressing(self) -> bool:
        """Whether pods die at their deadline: then a wake-up is sent, beside the schedule."""
        return bool(self._plans.pressing)

    @property
    def _next_due(self) -> datetime | None:
        now = self._clock.now()
        return earliest(self._keeper.due, self._view.queue.due_at, self._forced.next_at(now))

    def _patience(self, now: datetime, until: datetime) -> timedelta:
        """How long to wait for news: until something else has to be done."""
        due = earliest(
            until if now < until else None,
            now + LONGEST_WAIT,
            self._writer.next_retry,
            self._next_due,
            self._approvals.due,
            self._view.queue.next_at(now),
        )
        return max(timedelta(), (due or now) - now)
