"""From notices to marked nodes: gather the nodes, decide the marks, apply them, wake the handover.

Nothing here waits for a pod: that is the handover's work. A notice that cannot be handled
now is delivered again; marks that are made already are recognised on the node, so a notice may
come any number of times.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.notice import mark, which_notice
from evenkeel.decisions.notice.concern import Refused, Unproven, doubt
from evenkeel.errors import (
    ClusterError,
    ConflictError,
    InvalidError,
    NotFoundError,
    QueueError,
    ThrottledError,
)
from evenkeel.flows.interruption.hooks import HookTimer, NoHook, Silent
from evenkeel.flows.interruption.nodes import Absent, Found, NodeLookup, NotYet
from evenkeel.flows.pause import is_paused
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, Notice, WakeUp
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Get
from evenkeel.ports import Clock, Cluster, LifecycleActions, Queue, Recorder, Reply

WAKE_UP_DELAY: Final = timedelta(seconds=1)
"""Notices of one storm come together: by then most of them are marked."""

NO_ANSWER_DELAY: Final = timedelta(seconds=2)
"""When a notice is tried again that met an error."""

POSTPONED_DELAY: Final = timedelta(seconds=5)
"""When a notice is tried again that waits for its node, or for the end of a pause."""

PATIENCE: Final = timedelta(seconds=120)
"""A notice waits at least so long, even if it tells of a loss that happens at once."""

LONGEST_DELAY: Final = timedelta(seconds=20)
"""However long a throttling API server asks for: a notice has no more time than that."""

ATTEMPTS: Final = 5
"""How often a node that others write to as well is read and decided again, per delivery."""


@dataclass(slots=True)
class _Work:
    """One delivery: what is known of its nodes, and what has become of each notice."""

    notices: list[Notice]
    hooks: HookTimer
    found: dict[str, Found] = field(default_factory=dict)
    queues: dict[str, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    attempts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    again: dict[int, timedelta] = field(default_factory=dict)
    marked: set[int] = field(default_factory=set)
    carried: dict[str, NodeNotice] = field(default_factory=dict)
    errors: list[ClusterError] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a delivery.

    ``again``: which notices, by position, have to be delivered again, and after how long.
    ``errors``: what the API server refused or left unanswered.
    """

    again: Mapping[int, timedelta]
    errors: Sequence[ClusterError]


class InterruptionFlow:
    """Marks the nodes of notices. One object serves a process: it keeps the last node list."""

    def __init__(  # noqa: PLR0913 - what it acts on, each of it once
        self,
        *,
        acts: bool,
        cluster: Cluster,
        lookup: NodeLookup,
        wake_ups: Queue,
        clock: Clock,
        recorder: Recorder,
        labels: CapacityLabels,
        lifecycle: LifecycleActions | None = None,
    ) -> None:
        """``acts`` False: decide and tell, but write nothing to the cluster.

        ``labels`` tell which nodes are spot where EC2 does not answer. ``lifecycle`` is asked about
        lifecycle hooks, if any are heeded.
        """
        self._acts = acts
        self._cluster = cluster
        self._lookup = lookup
        self._wake_ups = wake_ups
        self._clock = clock
        self._recorder = recorder
        self._labels = labels
        self._lifecycle = lifecycle

    def handle(self, notices: Sequence[Notice]) -> Outcome:
        """Mark the nodes of these notices. Raises nothing: what fails is delivered again."""
        now = self._clock.now()
        work = self._gather([notice.heard_at(now) for notice in notices])
        while work.queues:
            decisions = self._decide(work)
            if not decisions:
                break
            if not self._acts:
                self._tell(work, decisions)
            elif self._may_write(work, decisions):
                self._apply(work, decisions)
        self._wake(work)
        return Outcome(work.again, work.errors)

    # gather

    def _gather(self, notices: list[Notice]) -> _Work:
        """Find the node of each notice, and settle those that have none."""
        work = _Work(notices, HookTimer(self._lifecycle))
        findings = self._lookup.find([notice.instance_id for notice in notices])
        for position in sorted(range(len(notices)), key=lambda p: _weight(notices[p])):
            notice = notices[position]
            match findings[notice.instance_id]:
                case Found() as found:
                    if self._is_timed(work, position):
                        work.found[found.node.name] = found
                        work.queues[found.node.name].append(position)
                case Absent() as absent:
                    self._acknowledge(notice, absent.reason, absent.message)
                    if absent.is_foreign:
                        self._recorder.counted(Metric.NOTICES_FOREIGN)
                case NotYet(is_booting=True) as finding:
                    self._wait(work, position, finding.reason, finding.message)
                case finding:
                    if finding.error is not None:
                        work.errors.append(finding.error)
                    self._try_again(work, [position], finding.reason, finding.message)
        return work

    def _is_timed(self, work: _Work, position: int) -> bool:
        """Bound a notice's deadline by its hook's times; one without an answer is settled."""
        notice = work.notices[position]
        match work.hooks.timed(notice):
            case Notice() as timed:
                work.notices[position] = timed
                return True
            case NoHook(message=message):
                self._acknowledge(notice, Reason.NO_LIFECYCLE_HOOK, message)
            case Silent(message=message):
                self._try_again(work, [position], Reason.NO_ANSWER_FROM_AUTO_SCALING, message)
        return False

    # decide

    def _decide(self, work: _Work) -> dict[str, Decision]:
        """The next mark of every node that needs one; notices that need none are settled here."""
        now = self._clock.now()
        decisions = {}
        for name, queue in list(work.queues.items()):
            while queue:
                found = work.found[name]
                notice = work.notices[queue[0]]
                match doubt(notice, found.instance, found.node, self._labels, now):
                    case Refused() as refused:
                        self._refuse(notice, found.node, refused)
                        queue.popleft()
                        continue
                    case Unproven(reason=reason, message=message, until=until):
                        self._try_again(work, [queue.popleft()], reason, message, until=until)
                        continue
                decision = which_notice.decide(found.node, notice, now, found.instance_state)
                if decision.write is not None:
                    decisions[name] = decision
                    break
                position = queue.popleft()
                if decision.reason == Reason.ALREADY_MARKED:
                    work.marked.add(position)
                self._settle(notice, decision, now)
            else:
                del work.queues[name]
        return decisions

    # apply

    def _tell(self, work: _Work, decisions: Mapping[str, Decision]) -> None:
        """Observe mode: the wake-up carries what would have been written."""
        now = self._clock.now()
        for name, decision in decisions.items():
            position = work.queues[name].popleft()
            notice = work.notices[position]
            node = work.found[name].node
            present = work.carried.get(name) or mark.read(node)
            if decision.verb is not Verb.LIFT:
                work.carried[name] = which_notice.merge(node, present, notice, now)
                work.marked.add(position)
            self._settle(notice, decision, now)

    def _may_write(self, work: _Work, names: Iterable[str]) -> bool:
        """Whether Evenkeel is not paused: asked again before each round of writes."""
        try:
            paused = is_paused(self._cluster)
        except ClusterError as error:
            for name in names:
                self._give_back(work, work.queues.pop(name), error)
            return False
        if paused:
            for name in names:
                for position in work.queues.pop(name):
                    self._wait(work, position, Reason.PAUSED, "Evenkeel is paused")
        return not paused

    def _apply(self, work: _Work, decisions: Mapping[str, Decision]) -> None:
        """Write the marks, all at once, and read again the nodes that others wrote to."""
        writes = [decision.write for decision in decisions.values()]
        replies = self._cluster.perform([write for write in writes if write is not None])
        stale = []
        for (name, decision), reply in zip(decisions.items(), replies, strict=True):
            if isinstance(reply.result, Node):
                self._written(work, decision, reply.result)
            elif isinstance(reply.error, ConflictError | InvalidError):
                stale.append(name)
            else:
                self._failed(work, name, reply)
        self._read_again(work, stale)

    def _written(self, work: _Work, decision: Decision, node: Node) -> None:
        before = work.found[node.name]
        position = work.queues[node.name].popleft()
        work.found[node.name] = Found(node, before.instance)
        work.marked.add(position)
        lifts = decision.verb is Verb.LIFT
        self._recorder.counted(Metric.NODES_LIFTED if lifts else Metric.NODES_MARKED)
        if node.spec.unschedulable and not before.node.spec.unschedulable:
            self._recorder.counted(Metric.NODES_CORDONED)
        self._settle(work.notices[position], decision, self._clock.now())

    def _read_again(self, work: _Work, names: Sequence[str]) -> None:
        """These nodes have changed meanwhile: decide again on what they are now."""
        tired = [name for name in names if work.attempts[name] >= ATTEMPTS]
        for name in tired:
            message = f"node {name} changed {ATTEMPTS} times while it was being marked"
            self._try_again(work, work.queues.pop(name), Reason.NODE_KEEPS_CHANGING, message)
        fresh = [name for name in names if name not in tired]
        replies = self._cluster.perform([Get(Node, name) for name in fresh]) if fresh else []
        for name, reply in zip(fresh, replies, strict=True):
            work.attempts[name] += 1
            before = work.found[name]
            node = reply.result
            if not isinstance(node, Node):
                self._failed(work, name, reply)
            elif node.instance_id != before.node.instance_id:
                self._gone(work, name)
            else:
                work.found[name] = Found(node, before.instance)

    def _failed(self, work: _Work, name: str, reply: Reply) -> None:
        error = reply.error or ClusterError("the answer holds no node")
        if isinstance(error, NotFoundError):
            self._gone(work, name)
        else:
            self._give_back(work, work.queues.pop(name), error)

    def _gone(self, work: _Work, name: str) -> None:
        for position in work.queues.pop(name):
            self._acknowledge(work.notices[position], Reason.NODE_GONE, f"node {name} is gone")

    def _wake(self, work: _Work) -> None:
        """Wake the handover if any node carries a mark, also one of an earlier delivery.

        That delivery may have ended between its marks and its wake-up. Without a wake-up the
        notices have to come again.
        """
        if not work.marked:
            return
        wake_up = WakeUp(reason=Metric.NODES_MARKED, notices=work.carried)
        try:
            self._wake_ups.send(wake_up, WAKE_UP_DELAY)
        except QueueError as error:
            self._try_again(
                work,
                sorted(work.marked),
                Reason.NO_WAKE_UP,
                f"the wake-up could not be sent: {error}",
            )

    # verdicts on single notices

    def _settle(self, notice: Notice, decision: Decision, now: datetime) -> None:
        self._recorder.decided(decision)
        if decision.verb is Verb.MARK:
            delay = (now - notice.time) / timedelta(milliseconds=1)
            self._recorder.counted(Metric.NOTICE_DELAY, delay)

    def _acknowledge(self, notice: Notice, reason: Reason, message: str) -> None:
        self._recorder.decided(Decision.about(_subject(notice), Verb.ACKNOWLEDGE, reason, message))

    def _refuse(self, notice: Notice, node: Node, refused: Refused) -> None:
        """Acknowledge a notice that is not true of its instance, with a warning on the node."""
        self._recorder.counted(Metric.NOTICES_REFUSED)
        self._recorder.decided(
            Decision.about(
                node,
                Verb.ACKNOWLEDGE,
                refused.reason,
                f"{notice.name} notice {notice.event_id} is not believed: {refused.message}",
                warning=True,
            )
        )

    def _wait(self, work: _Work, position: int, reason: Reason, message: str) -> None:
        """Try again later, until it is too late."""
        notice = work.notices[position]
        until = max(notice.deadline, notice.time + PATIENCE)
        if self._clock.now() >= until:
            self._acknowledge(notice, reason, f"{message}, and the notice's time has passed")
        else:
            self._try_again(work, [position], reason, message, POSTPONED_DELAY, until)

    def _give_back(self, work: _Work, positions: Iterable[int], error: ClusterError) -> None:
        work.errors.append(error)
        delay = NO_ANSWER_DELAY
        if isinstance(error, ThrottledError):
            delay = min(max(delay, timedelta(seconds=error.retry_after)), LONGEST_DELAY)
        message = f"the API server did not carry it out: {error}"
        self._try_again(work, positions, Reason.NO_ANSWER_FROM_API_SERVER, message, delay)

    def _try_again(
        self,
        work: _Work,
        positions: Iterable[int],
        reason: Reason,
        message: str,
        delay: timedelta = NO_ANSWER_DELAY,
        until: datetime | None = None,
    ) -> None:
        for position in positions:
            work.again[position] = delay
            self._recorder.counted(Metric.NOTICES_RETRIED)
            self._recorder.decided(
                Decision.about(
                    _subject(work.notices[position]),
                    Verb.RETRY,
                    reason,
                    f"{message}; again in {delay.total_seconds():g} s",
                    until=until,
                )
            )


def _weight(notice: Notice) -> tuple[bool, bool, datetime]:
    """Sorts the notices of one node so that the first one's mark makes the others needless.

    What AWS takes back comes last.
    """
    return notice.withdrawn, notice.is_hint, notice.deadline


def _subject(notice: Notice) -> Reference:
    return Reference(kind="Instance", name=notice.instance_id)
