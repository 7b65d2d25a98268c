"""The flow of the handover function: look whether there is work, take the Lease, reconcile."""

import itertools
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

import msgspec

from evenkeel.errors import ClusterError, ForbiddenError
from evenkeel.flows import pause
from evenkeel.flows.access import FORBIDDEN, metric_of
from evenkeel.flows.handover import reading
from evenkeel.flows.handover.knowledge import Knowledge
from evenkeel.flows.handover.nodes import NodeKeeper
from evenkeel.flows.handover.outcome import UNHURRIED, Outcome
from evenkeel.flows.handover.questions import AtOnce
from evenkeel.flows.handover.reconciler import Reconciler, observe
from evenkeel.flows.handover.telling import Teller
from evenkeel.flows.handover.tenure import CLOSING, Hide, Tenure, TimeLeft, pulse_of
from evenkeel.flows.handover.view import View
from evenkeel.flows.lease import ReconcilerLease
from evenkeel.model.notice import NodeNotice
from evenkeel.model.request import Request
from evenkeel.ports import Clock, Cluster, Instances, Recorder
from evenkeel.settings import HANDOVER_TIMEOUT, HandoverSettings, Mode

READS = (
    reading.read_pods,
    reading.find_lost_nodes,
    reading.read_owners,
    reading.read_surroundings,
)
"""What an invocation reads first, in this order."""

AFTER_A_FAILURE = timedelta(seconds=1)
"""How long to rest when the API server does not answer: deadlines do not wait either."""

AFTER_A_REFUSAL = UNHURRIED
"""How long to rest when it refuses who asks. No right comes back within a second, and a wake-up
that came back every second would be a dead letter after a quarter of an hour."""


class HandoverFlow:
    """Outlives invocations. What it keeps between them only saves work.

    Two invocations of one process at a time are two holders of the Lease.
    """

    def __init__(
        self,
        settings: HandoverSettings,
        cluster: Cluster,
        instances: Instances,
        clock: Clock,
        recorder: Recorder,
    ) -> None:
        """Keep the ports; nothing is called yet."""
        self._settings = settings
        self._cluster = cluster
        self._clock = clock
        self._recorder = recorder
        self._teller = Teller(recorder)
        self._runs = itertools.count(1)
        self._knowledge = Knowledge(cluster, instances, settings.capacity_labels, recorder)

    def run(
        self,
        assumed: Mapping[str, NodeNotice] | None = None,
        *,
        scheduled: bool = False,
        watched: Collection[str] = (),
        hide: Hide | None = None,
        left: TimeLeft | None = None,
    ) -> Outcome:
        """One invocation. ``assumed``: notices that no node carries, by node name.

        They count in observe mode alone, where nodes are never marked. ``scheduled``: no
        wake-up led to it, so none comes back. ``watched``: there is something to do only if
        one of these takings of the Lease still stands, for whoever took it has died. ``hide``
        is for the wake-up that led to it. ``left`` None: it may take all the time
        that its function has. Whatever the API server refuses or leaves unanswered
        ends the invocation, and another follows.
        """
        started = self._clock.now()
        try:
            if self._settings.mode is Mode.OBSERVE:
                return self._observe(View(assumed))
            view = View(capacities=self._knowledge.capacities.known(started))
            return self._act(
                view,
                started,
                scheduled=scheduled,
                watched=watched,
                hide=hide,
                left=left or (lambda: started + HANDOVER_TIMEOUT - self._clock.now()),
            )
        except ClusterError as error:
            return msgspec.structs.replace(self._failed(error), awaited=True, error=error)

    def _failed(self, error: ClusterError) -> Outcome:
        metric = metric_of(error)
        self._recorder.counted(metric)
        self._recorder.noted(
            f"the API server failed this invocation: {error}", error=type(error).__name__
        )
        rest = AFTER_A_REFUSAL if metric == FORBIDDEN else AFTER_A_FAILURE
        return Outcome("ClusterUnavailable", rest)

    def _observe(self, view: View) -> Outcome:
        if reading.is_any_work(self._cluster, view) or view.notices:
            for read in READS:
                read(self._cluster, view)
            keeper = NodeKeeper(self._settings, view, self._knowledge, AtOnce())
            reading.read_peers(self._cluster, view)
            observe(view, keeper, self._teller, self._clock.now())
        return Outcome("Observed")

    def _act(
        self,
        view: View,
        started: datetime,
        *,
        scheduled: bool,
        watched: Collection[str],
        hide: Hide | None,
        left: TimeLeft,
    ) -> Outcome:
        if not reading.is_any_work(self._cluster, view):
            self._teller.forget()
            return Outcome("Quiet")
        if pause.is_paused(self._cluster):
            return Outcome("Paused", UNHURRIED, awaited=True)
        holder = f"{self._settings.holder}/{next(self._runs)}"
        pulse = pulse_of(self._clock.now() - started)
        lease = ReconcilerLease(self._cluster, self._clock, holder)
        tenure = Tenure(lease, self._recorder, hide, left, pulse)
        try:
            if watched and not lease.stands(watched):
                return Outcome("HolderLives")
            self._keep(tenure)
            if not lease.acquire():
                if scheduled:
                    return Outcome("LeaseHeld", lease.held_for, taking=lease.taking)
                lease.announce(self._clock.now() + UNHURRIED)
                return Outcome("LeaseHeld", UNHURRIED)
            problem = lease.problem
        except ForbiddenError as error:
            problem = error
        if problem is not None:
            if metric_of(problem) == FORBIDDEN:
                self._recorder.counted(FORBIDDEN)
            self._recorder.noted(f"works without its Lease, which only saves work: {problem}")
        wake_up_at = None
        try:
            outcome = self._work(view, tenure, started, left)
            if outcome.again_in is not None:
                wake_up_at = self._clock.now() + outcome.again_in
        finally:
            awaited = lease.release(wake_up_at)
        rest = None if wake_up_at is None else max(wake_up_at - self._clock.now(), timedelta())
        return msgspec.structs.replace(outcome, again_in=rest, awaited=awaited)

    def _work(self, view: View, tenure: Tenure, started: datetime, left: TimeLeft) -> Outcome:
        """Read what there is, and reconcile."""
        for read in READS:
            read(self._cluster, view)
            self._keep(tenure)
            if tenure.is_over:
                return Outcome(tenure.end, timedelta())
        gathered_in = self._clock.now() - started
        with self._cluster.session() as session:
            reconciler = Reconciler(
                *(self._settings, self._cluster, session, self._clock),
                *(view, self._knowledge, self._teller),
            )
            try:
                return reconciler.act(tenure, self._end(started, left()), gathered_in)
            except ClusterError as error:
                return self._failed(error)

    def _end(self, started: datetime, left: timedelta) -> datetime:
        """When an invocation ends that has gathered everything by now.

        A slow API server takes most of its time for that; something has to come of it.
        """
        work, now = self._settings.work, self._clock.now()
        return max(started + work, min(now + work / 3, now + left - CLOSING))

    def _keep(self, tenure: Tenure) -> None:
        def renew(renewal: Request) -> None:
            for reply in self._cluster.perform([renewal]):
                tenure.heard(reply)

        tenure.keep(self._clock.now(), renew)
