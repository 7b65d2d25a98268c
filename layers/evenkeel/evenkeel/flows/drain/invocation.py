"""The flow of the handover function: take the Lease, read what there is, reconcile."""

import itertools
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

import msgspec

from evenkeel.decisions.drain.divide import divide, how_many
from evenkeel.decisions.notice.which_notice import is_past
from evenkeel.errors import ClusterError, ForbiddenError
from evenkeel.flows import pause
from evenkeel.flows.drain.assembly import Opened, loop_of, observe
from evenkeel.flows.drain.cache.share import Share, is_to_go
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.hooks import Hooks
from evenkeel.flows.drain.lease.deployed import are_deployed, note_schedule
from evenkeel.flows.drain.lease.hold import Leadership
from evenkeel.flows.drain.lease.notes import Remembered
from evenkeel.flows.drain.lease.sharing import Call
from evenkeel.flows.drain.loop import CLOSING, REST_IN_CALM, Outcome
from evenkeel.flows.drain.low_counts import LowCounts
from evenkeel.flows.drain.memory import Memory
from evenkeel.flows.drain.nodes import NodeReconciler
from evenkeel.flows.drain.recording import OnceRecorder
from evenkeel.flows.drain.sync import reader
from evenkeel.flows.drain.sync.questions import AtOnce
from evenkeel.flows.drain.telling import LONGEST, Telling
from evenkeel.flows.drain.wake_up import Hide
from evenkeel.flows.reads import ask
from evenkeel.flows.remedies import metric_of
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.metrics import Metric
from evenkeel.model.notice import NodeNotice
from evenkeel.model.request import List, Selection
from evenkeel.ports import Ports, Reply, Session, TimeLeft
from evenkeel.settings import HANDOVER_TIMEOUT, HandoverSettings, Mode
from evenkeel.settings.handover import Role

AFTER_A_FAILURE = timedelta(seconds=1)
"""How long until the next try when the API server does not answer: deadlines do not wait."""

AFTER_A_REFUSAL = REST_IN_CALM
"""How long until the next try when it refuses the role. No right comes back within a second, and a
wake-up that came back every second would be a dead letter after a quarter of an hour."""

WITHOUT_LEASE = timedelta(seconds=5)
"""How long an invocation works that did not get the Lease; the next one tries again."""

STANDING_BY = timedelta(seconds=5)
"""How soon a stand-in looks again whether the deployed functions have done the work."""

STANDING_IN = timedelta(seconds=60)
"""How long an invocation of a stand-in works; then it looks whether functions are deployed."""

LOOK_AROUND = timedelta(milliseconds=400)
"""How long to wait for replies before the next heartbeat may be due."""


class HandoverFlow:
    """Outlives invocations; what it keeps between them only saves requests.

    Two invocations of one process at a time are two holders of the Lease.
    """

    def __init__(
        self, settings: HandoverSettings, ports: Ports, telling: Telling, call: Call | None = None
    ) -> None:
        """``call`` None: no storm is divided, because nobody else would come."""
        cluster, clock, recorder = ports.cluster, ports.clock, ports.recorder
        self._settings = settings
        self._call = call
        self._cluster = cluster
        self._clock = clock
        self._telling = telling
        self._recorder = recorder
        self._low = LowCounts(cluster, clock, recorder)
        self._once = OnceRecorder(recorder, self._low)
        self._runs = itertools.count(1)
        acts = settings.mode is Mode.ACT
        actions = ports.lifecycle if acts and settings.lifecycle_hook else None
        hooks = Hooks(actions, settings.lifecycle_hook, recorder, cluster)
        labels = settings.capacity_labels
        self._memory = Memory(cluster, ports.instances, labels, recorder, hooks, clock)
        self._on_lease: Mapping[str, Remembered] = {
            names.WAITING_HOOKS: hooks,
            names.LOW_COUNTS: self._low,
            names.INTERRUPTION: self._telling,
        }

    def run(
        self,
        assumed: Mapping[str, NodeNotice] | None = None,
        *,
        scheduled: bool = False,
        hide: Hide | None = None,
        left: TimeLeft | None = None,
    ) -> Outcome:
        """One invocation. ``assumed``: notices that no node carries, by node name.

        They count in observe mode alone, where nodes are never marked, and for as long as a mark
        would: their wake-up may come out of the dead letters. ``scheduled``: no
        wake-up led to it, so none comes back. ``hide`` is for the wake-up that led to it. ``left``
        None: it may take all the time that its function has. Whatever the API server
        refuses or leaves unanswered ends the invocation, and another follows.
        """
        started = self._clock.now()
        try:
            if self._settings.mode is Mode.OBSERVE:
                lasting = {k: v for k, v in (assumed or {}).items() if not is_past(v, started)}
                return self._observe(View(lasting))
            with self._cluster.session() as session:
                holder = f"{self._settings.holder}/{next(self._runs)}"
                leadership = Leadership(
                    self._cluster,
                    self._clock,
                    self._recorder,
                    holder,
                    hide,
                    self._settings.capacity_labels,
                    self._on_lease,
                    self._call,
                )
                leadership.beat(session)
                end = started + HANDOVER_TIMEOUT
                outcome = self._act(session, leadership, left or (lambda: end - self._clock.now()))
                self._finish_hiding(session, leadership)
                if scheduled and not self._settings.stands_in:
                    self._note_schedule()
                return outcome
        except ClusterError as error:
            return msgspec.structs.replace(self._failed(error), needs_no_wake_up=True, error=error)
        finally:
            self._telling.end()

    def _failed(self, error: ClusterError) -> Outcome:
        metric = metric_of(error)
        self._recorder.counted(metric)
        self._recorder.noted(
            f"the API server failed this invocation: {error}", error=type(error).__name__
        )
        rest = AFTER_A_REFUSAL if metric is Metric.CLUSTER_FORBIDDEN else AFTER_A_FAILURE
        return Outcome("ClusterUnavailable", rest)

    def _observe(self, view: View) -> Outcome:
        if reader.is_any_work(self._cluster, view) or view.nodes.notices:
            self._read_pods(view)
            self._read_facts(view, of_doomed=False)
            keeper = NodeReconciler(self._settings, view, self._memory, AtOnce(), self._clock)
            reader.read_peers(self._cluster, view)
            observe(self._settings, view, keeper, self._once, self._memory.room_search, self._clock)
            self._telling.observed(view)
        return Outcome("Observed")

    def _act(self, session: Session, leadership: Leadership, left: TimeLeft) -> Outcome:
        """Work, unless another holds the Lease, or there is nothing to do, or it may not be done.

        Where the Lease is held nothing else is read. The wake-up comes back when it runs out.
        """
        started = self._clock.now()
        held = self._look(leadership)
        if held is not None:
            return held
        self._memory.backoff.begin(started)
        self._memory.stops.forget(started)
        view = View(
            node_pools=self._memory.pools(started),
            releases_refused=self._memory.refusals(started),
            share=Share(leadership.sharing.division, leadership.sharing.number),
            stops=self._memory.stops,
            most_seats=self._most_seats(leadership),
        )
        is_any = reader.is_any_work(self._cluster, view)
        # The holder of a share waits for a doomed node, or a released pod.
        if not (is_any or view.share.number or self._memory.hooks.are_waited_for):
            self._once.forget()
            self._close(session, leadership, view)
            return Outcome("Quiet")
        if pause.is_paused(self._cluster):
            return Outcome("Paused", REST_IN_CALM, needs_no_wake_up=True)
        if self._settings.stands_in and are_deployed(self._cluster, started):
            return Outcome("LeftToFunctions", STANDING_BY, needs_no_wake_up=True)
        leadership.notes.lost_pools.nodes = view.nodes
        return self._take(leadership) or self._hold(session, leadership, view, started, left)

    def _most_seats(self, leadership: Leadership) -> int:
        """None where a storm is divided, and none for a command, which sweeps nothing after it."""
        may_not = leadership.sharing.division.of > 1 or self._settings.stands_in
        return 0 if may_not else self._settings.seats

    def _look(self, leadership: Leadership) -> Outcome | None:
        """Look at the Lease; an Outcome if another holds it, and None also if it may not be read.

        If its holder has divided a storm, a share is taken that nobody has.
        """
        role = self._settings.role
        try:
            held_for = leadership.look()
        except ForbiddenError as error:
            self._tell_refusal(error)
            held_for = timedelta()
        if held_for and role is not Role.FIRST and self._call is not None and leadership.join():
            return None
        return _held(held_for) if held_for or role is Role.SHARE else None

    def _take(self, leadership: Leadership) -> Outcome | None:
        """Take the Lease; an Outcome where another took it first.

        Where it is refused number 0 goes on: without the Lease only forced evictions are made.
        """
        try:
            held_for = timedelta() if leadership.take() else leadership.look()
        except ClusterError as error:
            self._tell_refusal(error)
            held_for = timedelta()
        if held_for or (leadership.sharing.number and not leadership.is_held):
            return _held(held_for or STANDING_BY)
        return None

    def _hold(
        self,
        session: Session,
        leadership: Leadership,
        view: View,
        started: datetime,
        left: TimeLeft,
    ) -> Outcome:
        """Work under the Lease, and give it up."""
        wake_up_at = None
        try:
            outcome = self._work(session, view, leadership, started, left)
            if outcome.again_in is not None:
                wake_up_at = self._clock.now() + outcome.again_in
        finally:
            needs_none = leadership.give_up(wake_up_at)
        rests = outcome.again_in is None or outcome.again_in > LONGEST
        if rests and outcome.reason in {"Quiet", "Waiting"}:
            self._telling.finish(leadership, session)
        rest = None if wake_up_at is None else max(wake_up_at - self._clock.now(), timedelta())
        return msgspec.structs.replace(outcome, again_in=rest, needs_no_wake_up=needs_none)

    def _close(self, session: Session, leadership: Leadership, view: View) -> None:
        """Count the workloads that are whole again, and tell what is due, but for during a pause.

        The Lease notes it.
        """
        is_due = self._low or self._telling.are_due
        if not is_due or pause.is_paused(self._cluster):
            return
        if self._low.close():
            leadership.note()
        self._telling.begin(view)
        self._telling.finish(leadership, session)

    def _note_schedule(self) -> None:
        """Tell commands that functions are deployed; where that is refused they do not learn it."""
        try:
            if not pause.is_paused(self._cluster):
                note_schedule(self._cluster, self._clock.now())
        except ClusterError as error:
            self._recorder.noted(f"commands do not learn that this is deployed: {error}")

    def _tell_refusal(self, error: ClusterError) -> None:
        self._recorder.counted(Metric.LEASE_REFUSED)
        self._recorder.noted(
            "without the Lease, so only forced evictions are made; evenkeel doctor says"
            f" whether a right is missing: {error}",
            error=type(error).__name__,
        )

    def _work(
        self,
        session: Session,
        view: View,
        leadership: Leadership,
        started: datetime,
        left: TimeLeft,
    ) -> Outcome:
        """Read nodes and pods, with heartbeats meanwhile, and reconcile."""
        for read in (self._read_pods, self._read_facts):
            reading = session.start(partial(read, view))
            while not reading.done():
                if leadership.is_lost:
                    return Outcome("LeaseLost", timedelta())
                if left() <= CLOSING:
                    return Outcome("OutOfTime", timedelta())
                leadership.beat(session)
                for arrival in session.next(LOOK_AROUND):
                    if isinstance(arrival, Reply) and arrival.then is not None:
                        arrival.then(arrival)
            reading.result()
            if read == self._read_pods:
                self._telling.begin(view)
                self._divide(view, leadership)
        opened = Opened(self._cluster, session, self._clock)
        loop = loop_of(
            self._settings, opened, view, self._memory, self._once, leadership, self._telling
        )
        longest = STANDING_IN if self._settings.stands_in else self._settings.work
        until = started + (longest if leadership.is_held else WITHOUT_LEASE)
        try:
            outcome = loop.act(until, self._clock.now() - started, left)
        finally:
            self._once.tell_counts()
            self._telling.look(leadership)
        if outcome.reason in {"Quiet", "Waiting"} and leadership.is_held:
            self._low.close()
        if outcome.reason == "Quiet":
            seen = (*view.pods, *view.nodes.marked.values())
            self._once.forget(but={item.uid for item in seen})
        return outcome

    def _read_pods(self, view: View) -> None:
        reader.read_pods(self._cluster, view, self._clock.now())

    def _read_facts(self, view: View, *, of_doomed: bool = True) -> None:
        labels = self._settings.capacity_labels
        reader.read_facts(
            self._cluster, view, labels, self._recorder, self._clock, of_doomed=of_doomed
        )

    def _divide(self, view: View, leadership: Leadership) -> None:
        """Share a storm with others that is too large for one invocation. Raises ClusterError."""
        if view.share.number or self._call is None:
            return
        pods = [pod for name in view.nodes.dooms for pod in view.pods.on(name) if is_to_go(pod)]
        pods_each = self._settings.pods_each
        if how_many(len(pods), pods_each) == 1:
            return
        budgets = ask(self._cluster, List(Selection(PodDisruptionBudget), fresh=False))
        division = leadership.divide(divide(pods, budgets.items, pods_each, budgets.unread))
        if division.of > 1:
            view.divide(division)

    def _finish_hiding(self, session: Session, leadership: Leadership) -> None:
        """Wait a moment for SQS: a late request would hide a wake-up that was given back."""
        give_up = self._clock.now() + AFTER_A_FAILURE
        while leadership.wake_up.is_hiding and self._clock.now() < give_up:
            session.next(LOOK_AROUND)


def _held(held_for: timedelta) -> Outcome:
    """Another holds the Lease for so long: a wake-up comes back then, and none is sent for it."""
    return Outcome("LeaseHeld", held_for, needs_no_wake_up=True)
