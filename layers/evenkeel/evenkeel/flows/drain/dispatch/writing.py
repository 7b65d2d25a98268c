"""Applying: sends decisions' writes, and draws the conclusions from their replies."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from evenkeel.decisions.drain.refusal import not_taken, put_back
from evenkeel.decisions.drain.writes import release_in
from evenkeel.errors import (
    ClusterError,
    ConflictError,
    DisruptionRefusedError,
    InvalidError,
    MultipleBudgetsError,
    NotFoundError,
    ThrottledError,
    UnauthenticatedError,
    UnavailableError,
)
from evenkeel.flows import pause
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.backoff import Backoff
from evenkeel.flows.drain.dispatch.forced_evictions import Answers
from evenkeel.flows.drain.dispatch.last_moments import LastMoments
from evenkeel.flows.drain.recording import OnceRecorder
from evenkeel.flows.replies import error_in, undoing
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import KubernetesObject, Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Delete, Evict, Get, Patch
from evenkeel.model.workload import WORKLOADS
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


_METRIC_OF_ERROR: Final = {
    ConflictError: Metric.WRITES_CONFLICTED,
    InvalidError: Metric.WRITES_CONFLICTED,
    DisruptionRefusedError: Metric.EVICTIONS_REFUSED,
    MultipleBudgetsError: Metric.EVICTIONS_REFUSED,
    ThrottledError: Metric.WRITES_THROTTLED,
    UnavailableError: Metric.WRITES_UNANSWERED,
}

TRIES: Final = 2
"""A write is not taken that is refused so often in a row although no other write came first."""

TRIES_UNANSWERED: Final = 4
"""As ``TRIES``, of writes without a usable answer: most API servers recover within seconds."""

LONGEST_THROTTLED: Final = timedelta(seconds=1)
"""No write at a pod's last moment waits longer because the API server asks for it."""


class Sent(NamedTuple):
    """A write that was sent for a decision: when, and how old what is known of its object was."""

    decision: Decision
    at: datetime
    revision: int

    @property
    def uid(self) -> str:
        """The uid of its object."""
        return self.decision.subject.uid


@dataclass(eq=False)
class Writer:
    """The only way by which the reconciler changes the cluster.

    - One write at a time per object.
    - No write while Evenkeel is paused, or while it is not known whether it is.
    - No more writes than the session carries out at once: a write that waits in a queue would rest
      on stale objects.

    Its ``answers`` and ``backoff`` outlive the invocation, whose all others are. ``left``: how long
    from now a write may begin that rests on the Lease. ``under_way`` has the namespaces, by uid, of
    objects whose writes are not answered, or looked up.
    """

    _session: Session
    _view: View
    _clock: Clock
    _once: OnceRecorder
    _answers: Answers
    _backoff: Backoff
    _left: TimeLeft
    under_way: dict[str, str] = field(default_factory=dict)
    _gate: pause.PauseGate = field(default_factory=pause.PauseGate)
    _accepted_counts: Counter[Verb] = field(default_factory=Counter)
    _last_moments: LastMoments = field(init=False)

    def __post_init__(self) -> None:
        """No eviction was refused yet."""
        self._last_moments = LastMoments(self._view, self._once)

    @property
    def is_paused(self) -> bool:
        """Whether Evenkeel is known to be paused."""
        return self._gate.is_paused

    def crowds(self, namespace: str) -> bool:
        """Whether a namespace has half of the places under way that are not for forced evictions.

        Others want the rest.
        """
        number = list(self.under_way.values()).count(namespace)
        return number >= max(1, self._session.capacity // 4)

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

    def may_write(self, uid: str, verb: Verb | None) -> bool:
        """Whether a write to this object may be sent as far as the object is concerned.

        Not while another is under way, nor once the object is leaving, nor while it rests after
        such a write was refused. ``verb`` None: at a pod's last moment.
        """
        if uid in self.under_way or self._view.pods.is_assumed_evicted(uid):
            return False
        return self._backoff.may_write(uid, verb, self._clock.now())

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
        decision = self._last_moments.next_step(decision, self._clock.now())
        subject = decision.subject.uid
        if decision.write is None or not self.may_write(subject, _lane(decision)):
            return False
        if self.room(forced=decision.forced) == 0:
            return False
        self.under_way[subject] = decision.subject.namespace
        if isinstance(decision.write, Evict | Delete):
            self._view.evicting(subject, self._clock.now())
        revision = self._view.revision_of(decision.subject)
        sent = Sent(decision, self._clock.now(), revision)
        # A forced eviction needs no Lease: it rests on no count.
        self._session.submit(
            decision.write,
            partial(self._heard, sent),
            None if decision.forced else self._left,
        )
        self._once.record([decision])
        return True

    def submit_all(self, decisions: Iterable[Decision]) -> None:
        """Send as many of these as there is room for."""
        for decision in decisions:
            if not self.submit(decision) and self.room(forced=decision.forced) == 0:
                break

    def _heard(self, sent: Sent, reply: Reply) -> None:
        """Take the reply to a decision's write: is what was asked for in it?"""
        now, error = self._clock.now(), error_in(reply)
        self._answers.saw(now - sent.at, now, is_write=True)
        del self.under_way[sent.uid]
        if isinstance(reply.result, Pod):
            self._view.wrote(reply.result, sent.at, now)
        if error is None:
            self._accepted(sent.decision, reply)
        else:
            self._view.update(reply.result)
            undo = undoing(reply)
            self._refused(sent, error, in_part=bool(undo))
            for write in undo:
                self.submit(put_back(sent.decision, write))

    def _accepted(self, decision: Decision, reply: Reply) -> None:
        uid = decision.subject.uid
        self._accepted_counts[decision.verb] += 1
        self._backoff.forget(uid, _lane(decision))
        self._once.recorder.counted(_metric_of(decision))
        if isinstance(decision.write, Evict | Delete):
            self._view.pods.let_go(uid)
            return  # the plan has counted this pod as gone since the eviction was sent
        self._view.update(reply.result)
        if decision.verb is Verb.SET_CONDITION:
            self._go_on(uid)

    def _refused(self, sent: Sent, error: ClusterError, *, in_part: bool) -> None:
        """What follows an error.

        - the object is gone: as good as done;
        - it has changed or is another one, or the outcome is unknown: read it again;
        - a budget refuses: again soon;
        - throttled: again when the API server said; without credentials: again soon;
        - else no other write came first: the same will be refused again.

        Each refusal in a row lets the object rest for longer. At its last moment a pod does not
        wait: see ``LastMoments``. A pod whose eviction was refused counts again, but not where the
        outcome is unknown. ``in_part``: see ``_in_vain``.
        """
        decision, uid = sent.decision, sent.uid
        retry = partial(self._backoff.refused, uid, _lane(decision), self._clock.now())
        stays = not isinstance(error, NotFoundError | UnavailableError)
        self._view.write_failed(uid, stays=stays)
        if isinstance(error, NotFoundError):
            self._gone(decision.subject)
            return
        self._once.recorder.counted(_METRIC_OF_ERROR.get(type(error), Metric.WRITES_FAILED))
        match error:
            case ConflictError() | UnavailableError():
                retry()
                self._read_again(sent, error)
            case InvalidError() if isinstance(decision.write, Patch):  # perhaps one of its tests
                retry()
                self._read_again(sent, error)
            case ThrottledError(retry_after=seconds):
                asked = timedelta(seconds=seconds)
                retry(at_least=min(asked, LONGEST_THROTTLED) if decision.forced else asked)
                self._last_moments.refused(decision, error)
            case UnauthenticatedError():  # it says nothing of this write
                retry()
            case _ if self._last_moments.refused(decision, error):
                self._go_on(uid)
            case DisruptionRefusedError() | MultipleBudgetsError():
                if self._backoff.in_vain(uid, _lane(decision), type(error)) == 1:
                    self._once.recorder.noted(
                        f"the eviction of {decision.subject} is refused: {error}"
                    )
                retry()
            case _:
                retry()
                self._in_vain(sent, error, in_part=in_part)

    def _in_vain(self, sent: Sent, error: ClusterError, *, in_part: bool = False) -> None:
        """No other write came first. What is refused so again and again is not taken: told once.

        A release of which a policy undid a part alone is not tried again: the ReplicaSet sees the
        rest (``in_part``).
        """
        decision, write = sent.decision, sent.decision.write
        release = release_in(write) if isinstance(write, Patch) else None
        tries = TRIES_UNANSWERED if isinstance(error, UnavailableError) else TRIES
        beyond = self._backoff.in_vain(sent.uid, _lane(decision), type(error)) - tries
        is_news = beyond == 0
        if decision.verb is Verb.SEAT:
            is_news = self._view.seats.refuse()
        if release is not None and (beyond >= 0 or in_part):
            key = f"{decision.subject.namespace}/{release.controller_uid}"
            is_news = self._view.refuse_releases(key, str(error), self._clock.now())
        if is_news:
            self._once.recorder.counted(Metric.WRITES_REFUSED)
            self._once.record([not_taken(decision, error)])

    def _go_on(self, uid: str) -> None:
        """Send what comes next for a pod at its last moment whose eviction was refused."""
        if (eviction := self._last_moments.eviction_of(uid)) is not None:
            self.submit(eviction)

    def _gone(self, subject: Reference) -> None:
        if subject.kind == "Node":
            self._view.delete_node(subject.name)
        else:
            self._view.pods.delete(subject.uid)

    def _read_again(self, sent: Sent, error: ClusterError) -> None:
        subject = sent.decision.subject
        self.under_way[subject.uid] = subject.namespace
        request = Get(_REREAD[subject.kind], subject.name, subject.namespace)
        self._session.submit(request, partial(self._reread, sent, error))

    def _reread(self, sent: Sent, error: ClusterError, reply: Reply) -> None:
        subject, found = sent.decision.subject, reply.result
        del self.under_way[subject.uid]
        self._view.write_failed(subject.uid, stays=True)
        self._view.update(found)
        is_another = isinstance(found, Pod) and found.uid != subject.uid
        if is_another or isinstance(reply.error, NotFoundError):
            self._gone(subject)
        elif isinstance(found, KubernetesObject) and not found.leaving:
            if self._last_moments.refused(sent.decision, error):
                self._go_on(subject.uid)
            elif found.revision == sent.revision:
                self._in_vain(sent, error)


_REREAD: dict[str, type[KubernetesObject]] = {
    "Pod": Pod,
    "Node": Node,
    **{kind.resource.kind: kind for kind in WORKLOADS},
}


def _lane(decision: Decision) -> Verb | None:
    """By what a decision's write rests after a refusal."""
    return None if decision.forced else decision.verb


def _metric_of(decision: Decision) -> Metric:
    """The metric of an accepted write; for a pod that goes it depends on whether it is replaced."""
    if decision.verb is Verb.FREE:
        return Metric.OTHER_WRITES
    if isinstance(decision.write, Evict | Delete):
        is_replaced = decision.reason == Reason.REPLACEMENT_AVAILABLE
        return Metric.PODS_HANDED_OVER if is_replaced else Metric.PODS_UNREPLACED
    return METRICS.get(decision.verb, Metric.OTHER_WRITES)
