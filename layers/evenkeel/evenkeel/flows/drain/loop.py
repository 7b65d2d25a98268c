"""One invocation of the reconciler: decide and apply, until time is up or nothing is due.

Everything happens in one thread, in turns. A turn takes what has arrived in the session's mailbox
(changes that watches show, and replies) into the view, which puts the keys of the workloads
concerned into the queue. The keys that may not wait are planned for, and others as long as planning
has taken no more than its share of the time. Then the steps of the plans are sent as far as there
is room: forced evictions, releases, evictions of replaced pods, writes to nodes. The next turn
begins with the next arrival, or when something falls due.

An invocation ends when its time is up, when it has lost the Lease, or when nothing is due soon. It
says how soon the next one has to begin.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from evenkeel.errors import ClusterError
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.dispatch.reports import Reports
from evenkeel.flows.drain.dispatch.sending import Sender
from evenkeel.flows.drain.dispatch.writing import Writer
from evenkeel.flows.drain.lease.hold import Leadership
from evenkeel.flows.drain.nodes import NodeReconciler
from evenkeel.flows.drain.queue import NODES, Queue
from evenkeel.flows.drain.room_search import RoomSearch
from evenkeel.flows.drain.sync.questions import Questions
from evenkeel.flows.drain.sync.reader import Reader
from evenkeel.flows.drain.sync.watches import Watches
from evenkeel.flows.drain.telling import Telling
from evenkeel.model.request import Change, Relisted
from evenkeel.model.times import earliest
from evenkeel.ports import Arrival, Clock, Done, Reply, Session, TimeLeft

REST_IN_CALM = timedelta(seconds=5)
"""How long to rest where no node dies: while paused, and while only hints are followed."""

LONGEST_WAIT = timedelta(milliseconds=400)
"""How long to wait for the mailbox at most: the pause has to be asked for."""

WAIT_FOR_REPLIES = timedelta(seconds=2)
"""How long to wait, in the end, for the replies to what is under way."""

FIRST_LISTS = timedelta(seconds=1)
"""How long the watches may take for their first lists, before work begins without them."""

NO_DELAY = timedelta()

LEAD = timedelta(seconds=1)
"""Lead time of the next wake-up: a queue counts in whole seconds."""

SHORTEST_REST = timedelta(seconds=10)
"""An invocation stays if its next step is due within this time."""

CLOSING = timedelta(seconds=3)
"""No write is begun within this time of the end of the invocation."""

SCHEDULE = timedelta(seconds=60)
"""A step that is due later than this is left to the schedule."""


class Outcome(msgspec.Struct, frozen=True):
    """How an invocation ended, and when the next one has to begin.

    ``again_in`` None: nothing is left that cannot wait a minute.

    ``needs_no_wake_up``: the schedule need not send one. One comes anyway, or its own next turn is
    soon enough.
    ``error``: why nothing could be done: the invocation could not read what it needs.
    """

    reason: str
    again_in: timedelta | None = None
    needs_no_wake_up: bool = False
    error: ClusterError | None = None


@dataclass(eq=False)
class Reconcile:
    """Turns the keys that the queue has by now into plans.

    In a storm changes wait a little, so that planning takes only a share of the time. Plans that
    are due do not wait, nor those that have to be made before another step.
    """

    _view: View
    _plans: Plans
    _keeper: NodeReconciler
    _reader: Reader
    _room_search: RoomSearch
    _questions: Questions
    _clock: Clock

    @property
    def queue(self) -> Queue:
        """The keys that wait."""
        return self._view.queue

    def begin(self) -> None:
        """All that is known is to be planned for."""
        self.queue.add([*self._plans.controllers, NODES], urgent=True)

    def __call__(self) -> None:
        """Plan for the keys that may not wait, and for others as far as the share goes.

        Then ask for what the plans lack.
        """
        plans, keeper = self._plans, self._keeper
        for key in self.queue.take(self._clock):
            now = self._clock.now()
            if key == NODES:
                plans.of_nodes = keeper.plan(plans, now)
            else:
                plans.replan(key, now)
        now = self._clock.now()
        self._reader.ask(now)
        self._room_search.ask(self._plans.room_requests, self._view, now, self._questions)

    @property
    def has_work(self) -> bool:
        """Whether a key waits, or something that was asked and is needed to decide."""
        is_asked = bool(self._keeper.questions or self._questions)
        return bool(self.queue) or is_asked or self._view.facts.are_missing


@dataclass(eq=False)
class Loop:
    """The turns of one invocation: take what arrives, decide what has changed, send.

    All its parts are the invocation's, but for ``telling``, which outlives it.
    """

    _session: Session
    _clock: Clock
    _leadership: Leadership
    _watches: Watches
    _reconcile: Reconcile
    _writer: Writer
    _sender: Sender
    _reports: Reports
    _telling: Telling
    _lead: timedelta = LEAD
    _left: TimeLeft = timedelta
    _first_lists_by: datetime | None = None

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
        return Outcome(reason, max(NO_DELAY, again_at - self._clock.now()))

    def begin(self, gathered_in: timedelta, left: TimeLeft) -> None:
        """Watch what is known, and plan for all of it first."""
        self._left = left
        self._lead = LEAD + 1.5 * gathered_in
        now = self._clock.now()
        self._reconcile.begin()
        self._watches.begin(now)
        self._first_lists_by = now + FIRST_LISTS

    def turn(self, now: datetime, until: datetime) -> Outcome | None:
        """Take what arrives, decide what has changed, send; an Outcome if nothing is left.

        A turn in which nothing arrives and nothing is due decides and sends nothing.
        """
        self._leadership.beat(self._session)
        self._telling.keep(self._leadership, self._session)
        self._writer.keep_asking()
        if not self._take(now, until):
            return None
        self._watches.keep(self._clock.now())
        self._reconcile()
        return self._send(self._clock.now())

    def _take(self, now: datetime, until: datetime) -> bool:
        """Wait until something arrives or is due, and take it; False if there was nothing."""
        due = earliest(until, self._due(now)) or until
        wait_until = max(now, min(due, now + LONGEST_WAIT))
        arrivals = self._session.next(wait_until - now)
        for arrival in arrivals:
            self._take_in(arrival)
        now = self._clock.now()
        is_due = now < wait_until or now >= due
        return bool(arrivals) or is_due or self._sender.has_unsent_forced(now, now)

    def _send(self, now: datetime) -> Outcome | None:
        """Send what may be sent, and tell what is news; an Outcome if nothing is left.

        Until the watches have listed only forced evictions are sent.
        """
        if self._awaits_first_lists(now):
            self._sender.send_forced(now, now)
            return None
        self._first_lists_by = None
        self._sender.send(now)
        self._reports.tell(now)
        outcome = self._outcome(now)
        sharing = self._leadership.sharing
        if sharing.is_shared and sharing.goes_on(is_done=outcome is not None):
            return None
        return outcome

    def _awaits_first_lists(self, now: datetime) -> bool:
        """Whether a watch has not listed yet, within its second for that."""
        by = self._first_lists_by
        return by is not None and now < by and self._watches.are_blind

    @property
    def _has_to_stop(self) -> bool:
        """Whether nothing may be begun any more."""
        return self._writer.is_paused or self._leadership.is_lost or self._left() <= CLOSING

    def _take_in(self, arrival: Arrival) -> None:
        """Give an answer to its ``then``, and an event of a watch to the watches."""
        match arrival:
            case Done(then=take):
                take()
            case Reply(then=None, request=request, error=error):
                if error is not None:
                    self._watches.refused(request, error)
            case Reply(then=take) if take is not None:
                take(arrival)
            case Change() | Relisted():
                self._watches.saw(arrival)

    def _finish(self, now: datetime) -> None:
        """Wait for the replies to the writes that are under way.

        Pods whose forced eviction would begin before the next invocation has read all go now.
        """
        back_at, until = now + self._lead, now + WAIT_FOR_REPLIES
        while (at := self._clock.now()) < until:
            has_to_stop = self._has_to_stop
            if not has_to_stop:
                self._writer.keep_asking()
                self._sender.send_forced(at, back_at)
            is_done = has_to_stop or not self._sender.has_unsent_forced(at, back_at)
            if is_done and not self._writer.under_way:
                return
            for arrival in self._session.next(LONGEST_WAIT):
                if isinstance(arrival, Reply | Done):
                    self._take_in(arrival)

    def _outcome(self, now: datetime) -> Outcome | None:
        """How the invocation ends, if nothing but waiting for a time is left.

        While pods die at their deadlines a wake-up is sent, beside the schedule.
        It goes on while something is under way, or a change that a watch would show; while the next
        step is due so soon that another invocation would be late; and while SQS is slow, for the
        next wake-up would come late.
        """
        wake_up = self._leadership.wake_up
        if self._reconcile.has_work or self._sender.is_busy(now):
            return None
        if wake_up.is_hiding or wake_up.is_sqs_slow:
            return None
        step = self._next_step(now)
        if step is not None and step - now < max(self._lead, SHORTEST_REST):
            return None
        if step is None or (step - now > SCHEDULE and not self._sender.has_deadlines):
            return Outcome("Quiet")
        return Outcome("Waiting", step - now - self._lead)

    def _rest(self, now: datetime) -> timedelta:
        """How long until the next invocation: a moment where nodes die, and never too long."""
        rest = NO_DELAY if self._sender.has_deadlines else REST_IN_CALM
        step = self._next_step(now)
        return rest if step is None else max(NO_DELAY, min(rest, step - now - self._lead))

    def _next_step(self, now: datetime) -> datetime | None:
        """When something is decided or sent by time alone."""
        return earliest(self._reconcile.queue.due_at, self._sender.next_forced_at(now))

    def _due(self, now: datetime) -> datetime | None:
        """When something has to be done though nothing arrives."""
        queue, sender = self._reconcile.queue, self._sender
        return earliest(self._first_lists_by, queue.next_at(now), sender.next_at(now))
