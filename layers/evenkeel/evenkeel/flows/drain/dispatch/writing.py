"""Applying: sends decisions' writes, and draws the conclusions from their replies."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial

import msgspec

from evenkeel.decisions.drain.refusal import after_refusal
from evenkeel.errors import (
    ClusterError,
    ConflictError,
    DisruptionRefusedError,
    InvalidError,
    MultipleBudgetsError,
    NotFoundError,
    ThrottledError,
    UnavailableError,
)
from evenkeel.flows import pause
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.backoff import AFTER_AN_ERROR, Backoff
from evenkeel.flows.drain.dispatch.forced_evictions import Answers
from evenkeel.flows.drain.recording import OnceRecorder
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Delete, Evict, Get
from evenkeel.model.workload import Deployment, ReplicaSet
from evenkeel.ports import Clock, Reply, Session, TimeLeft

METRICS = {
    Verb.CORDON: Metric.NODES_CORDONED,
    Verb.LIFT: Metric.NODES_LIFTED,
    Verb.EXCLUDE: Metric.NODES_EXCLUDED,
    Verb.TAINT: Metric.NODES_OUT_OF_SERVICE,
    Verb.RELEASE: Metric.PODS_RELEASED,
    Verb.ROLL_BACK: Metric.PODS_ROLLED_BACK,
}
"""The metric of each accepted write, except evictions and deletions."""


class Writer:
    """The only way by which the reconciler changes the cluster.

    - One write at a time per object.
    - No write while Evenkeel is paused, or while it is not known whether it is.
    - No more writes than the session carries out at once: a write that waits in a queue would rest
      on stale objects.
    """

    def __init__(
        self,
        session: Session,
        view: View,
        clock: Clock,
        once: OnceRecorder,
        answers: Answers,
        left: TimeLeft,
    ) -> None:
        """All of them are the invocation's. ``answers`` keeps how long they took.

        ``left``: how long from now a write may begin that rests on the Lease.
        """
        self._session = session
        self._view = view
        self._clock = clock
        self._once = once
        self._recorder = once.recorder
        self._gate = pause.PauseGate()
        self._left = left
        self._answers = answers
        self._under_way: set[str] = set()
        self._accepted_counts: Counter[Verb] = Counter()
        self._backoff = Backoff()

    @property
    def is_paused(self) -> bool:
        """Whether Evenkeel is known to be paused."""
        return self._gate.is_paused

    @property
    def busy(self) -> bool:
        """Whether writes are under way."""
        return bool(self._under_way)

    def is_under_way(self, uid: str) -> bool:
        """Whether a write to this object is under way, or its answer is being looked up."""
        return uid in self._under_way

    def accepted(self, verb: Verb) -> int:
        """How many writes of this kind were accepted so far."""
        return self._accepted_counts[verb]

    def keep_asking(self) -> None:
        """Ask whether Evenkeel is paused, when the last answer gets old."""
        now = self._clock.now()
        if self._gate.should_ask(now):
            self._session.submit(pause.QUESTION, partial(self._told_pause, self._gate.ask(now)))

    def _told_pause(self, asked: pause.Asked, reply: Reply) -> None:
        self._gate.heard(asked, reply)
        now = self._clock.now()
        self._answers.saw(now - asked.at, now, is_write=False)

    def may_write(self, uid: str, *, forced: bool = False) -> bool:
        """Whether a write to this object may be sent as far as the object is concerned.

        Not while another is under way, nor once the object is leaving, nor while it rests after a
        refusal. A budget's refusal does not hold a forced eviction.
        """
        if uid in self._under_way or self._view.pods.is_assumed_evicted(uid):
            return False
        return self._backoff.may_write(uid, self._clock.now(), forced=forced)

    @property
    def next_retry(self) -> datetime | None:
        """When the next object has rested enough; None if none rests."""
        return self._backoff.next_at(self._clock.now())

    def room(self, *, forced: bool = False) -> int:
        """How many writes can be sent now: none while the answer about the pause is too old.

        Half of the session is kept for forced evictions.
        """
        if not self._gate.is_open(self._clock.now(), forced=forced):
            return 0
        if not forced and self._left() <= timedelta():
            return 0
        capacity = self._session.capacity
        return max(0, (capacity if forced else capacity - capacity // 2) - self._session.in_flight)

    def submit(self, decision: Decision) -> bool:
        """Send a decision's write, and tell the decision if it is news; whether it was sent.

        It is not sent without room, nor when ``may_write`` forbids it.
        """
        subject = decision.subject.uid
        if decision.write is None or not self.may_write(subject, forced=decision.forced):
            return False
        if self.room(forced=decision.forced) == 0:
            return False
        self._under_way.add(subject)
        if isinstance(decision.write, Evict | Delete):
            self._view.evicting(subject, self._clock.now())
        # A forced eviction needs no Lease: it rests on no count.
        self._session.submit(
            decision.write,
            partial(self._heard, decision, self._clock.now()),
            None if decision.forced else self._left,
        )
        self._once.record([decision])
        return True

    def submit_all(self, decisions: Iterable[Decision]) -> None:
        """Send as many of these as there is room for."""
        for decision in decisions:
            if not self.submit(decision) and self.room(forced=decision.forced) == 0:
                break

    def _heard(self, decision: Decision, sent_at: datetime, reply: Reply) -> None:
        """Take the reply to a decision's write."""
        now = self._clock.now()
        self._answers.saw(now - sent_at, now, is_write=True)
        self._under_way.discard(decision.subject.uid)
        if isinstance(reply.result, Pod):
            self._view.wrote(reply.result, sent_at, now)
        if reply.error is None:
            self._accepted(decision, reply)
        else:
            self._refused(decision, reply.error)

    def _accepted(self, decision: Decision, reply: Reply) -> None:
        uid = decision.subject.uid
        self._accepted_counts[decision.verb] += 1
        self._backoff.forget(uid)
        self._recorder.counted(_metric_of(decision))
        if isinstance(decision.write, Evict | Delete):
            return  # planned for since it was sent
        self._view.see(reply.result)
        if decision.verb is Verb.SET_CONDITION and isinstance(reply.result, Pod):
            self._after_refusal(reply.result)

    def _refused(self, decision: Decision, error: ClusterError) -> None:
        """What follows an error.

        - the object is gone: as good as done;
        - it has changed or is another one, or the outcome is unknown: read it again;
        - a budget refuses: again soon, or a delete at the last moment;
        - throttled: again when the API server said;
        - else: told, and again after a while.

        A pod whose eviction was refused counts again, but not where the outcome is unknown.
        """
        uid, now = decision.subject.uid, self._clock.now()
        self._view.spared(uid, counts=not isinstance(error, NotFoundError | UnavailableError))
        match error:
            case NotFoundError():
                self._gone(decision.subject)
            case ConflictError() | InvalidError():
                self._recorder.counted(Metric.WRITES_CONFLICTED)
                self._backoff.retry(uid, now)
                self._read_again(decision.subject)
            case DisruptionRefusedError() | MultipleBudgetsError():
                self._budget_refused(decision, error)
            case ThrottledError(retry_after=seconds):
                self._recorder.counted(Metric.WRITES_THROTTLED)
                self._backoff.rest(uid, now + timedelta(seconds=seconds))
            case UnavailableError():
                self._recorder.counted(Metric.WRITES_UNANSWERED)
                self._backoff.retry(uid, now)
                self._read_again(decision.subject)
            case _:
                self._recorder.counted(Metric.WRITES_FAILED)
                self._recorder.noted(
                    f"{decision.verb} {decision.subject} failed: {error}",
                    reason=decision.reason,
                    error=type(error).__name__,
                )
                self._backoff.rest(uid, now + AFTER_AN_ERROR)

    def _budget_refused(self, decision: Decision, error: ClusterError) -> None:
        uid, now = decision.subject.uid, self._clock.now()
        self._recorder.counted(Metric.EVICTIONS_REFUSED)
        pod = self._view.pods.get(uid)
        if decision.forced and pod is not None:
            self._after_refusal(pod)
            return
        if not self._backoff.has_retried(uid):
            self._recorder.noted(f"the eviction of {decision.subject} is refused: {error}")
        self._backoff.hold(uid, now)

    def _after_refusal(self, pod: Pod) -> None:
        """The next write for a pod at its last moment that a budget keeps."""
        decision = after_refusal(pod, self._view.owner_of(pod), self._clock.now())
        if decision.write is None:
            self._once.record([decision])
            self._backoff.rest(pod.uid, self._clock.now() + AFTER_AN_ERROR)
        else:
            self.submit(msgspec.structs.replace(decision, forced=True))

    def _gone(self, subject: Reference) -> None:
        if subject.kind == "Node":
            self._view.miss_node(subject.name)
        else:
            self._view.pods.forget(subject.uid)

    def _read_again(self, subject: Reference) -> None:
        kind = _REREAD[subject.kind]
        self._under_way.add(subject.uid)
        request = Get(kind, subject.name, subject.namespace)
        self._session.submit(request, partial(self._reread, subject))

    def _reread(self, subject: Reference, reply: Reply) -> None:
        self._under_way.discard(subject.uid)
        self._view.spared(subject.uid, counts=True)
        found = reply.result
        self._view.see(found)
        is_another = isinstance(found, Pod) and found.uid != subject.uid
        if is_another or isinstance(reply.error, NotFoundError):
            self._gone(subject)


_REREAD: dict[str, type[Pod | Node | Deployment | ReplicaSet]] = {
    "Pod": Pod,
    "Node": Node,
    "Deployment": Deployment,
    "ReplicaSet": ReplicaSet,
}


def _metric_of(decision: Decision) -> Metric:
    """The metric of an accepted write; for a pod that goes it depends on whether it is replaced."""
    if isinstance(decision.write, Evict | Delete):
        is_replaced = decision.reason == Reason.REPLACEMENT_AVAILABLE
        return Metric.PODS_HANDED_OVER if is_replaced else Metric.PODS_UNREPLACED
    return METRICS.get(decision.verb, Metric.OTHER_WRITES)
