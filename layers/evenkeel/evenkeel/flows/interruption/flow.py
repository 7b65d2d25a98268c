"""From notices to marked nodes: gather the nodes, decide the marks, apply them, wake the handover.

Nothing here waits for a pod: that is the handover's work. A notice that cannot be handled
now is delivered again; marks that are made already are recognised on the node, so a notice may
come any number of times.
"""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain
from typing import Final

from evenkeel.decisions.notice import mark, which_notice
from evenkeel.decisions.notice.concern import doubt
from evenkeel.decisions.notice.result import (
    NO_ANSWER_DELAY,
    Again,
    Done,
    Result,
    acknowledged,
    instance_reference,
)
from evenkeel.errors import (
    ChangedError,
    ClusterError,
    ForbiddenError,
    NotFoundError,
    QueueError,
    ThrottledError,
    UndoneError,
)
from evenkeel.flows.interruption.hooks import HookTimer
from evenkeel.flows.interruption.nodes import Booting, NodeFound, NodeLookup
from evenkeel.flows.pause import is_paused
from evenkeel.flows.replies import error_in
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, Notice, WakeUp
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Get
from evenkeel.ports import Ports, Queue
from evenkeel.settings import InterruptionSettings, Mode

WAKE_UP_DELAY: Final = timedelta(seconds=1)
"""Notices of one storm come together: by then most of them are marked."""

POSTPONED_DELAY: Final = timedelta(seconds=5)
"""When a notice is tried again that waits for its node, or for the end of a pause."""

REFUSED_DELAY: Final = timedelta(seconds=10)
"""When a notice is tried again whose node may not be marked, as under a policy."""

PATIENCE: Final = timedelta(seconds=120)
"""A notice waits at least so long, even if it tells of a loss that happens at once."""

LONGEST_DELAY: Final = timedelta(seconds=20)
"""However long a throttling API server asks for: a notice has no more time than that."""

ATTEMPTS: Final = 5
"""How often a node that others write to as well is read and decided again, per delivery."""


@dataclass(slots=True)
class _Work:
    """One delivery: what is known of its nodes, and what has become of each notice.

    ``queues`` has the notices of each node that are still to be decided. ``marked`` are those whose
    node carries a mark now. ``carried``, in observe mode, is what it would carry. Notices are named
    by their positions.
    """

    notices: list[Notice]
    found: dict[str, NodeFound] = field(default_factory=dict)
    queues: dict[str, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    attempts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    marked: set[int] = field(default_factory=set)
    carried: dict[str, NodeNotice] = field(default_factory=dict)
    results: dict[int, Result] = field(default_factory=dict)


class InterruptionFlow:
    """Marks the nodes of notices. One object serves a process: it keeps the last node list."""

    def __init__(self, settings: InterruptionSettings, ports: Ports, wake_ups: Queue) -> None:
        """In observe mode it decides, counts and records, but writes nothing to the cluster."""
        self._acts = settings.mode is Mode.ACT
        self._cluster = ports.cluster
        self._clock = ports.clock
        self._recorder = ports.recorder
        self._lifecycle = ports.lifecycle
        self._lookup = NodeLookup(
            self._cluster, ports.instances, self._clock, settings.cluster_name
        )
        self._wake_ups = wake_ups
        self._labels = settings.capacity_labels

    def handle(self, notices: Sequence[Notice]) -> Sequence[Result]:
        """Mark the nodes of these notices; what becomes of each.

        Raises nothing: what fails has to be delivered again.
        """
        now = self._clock.now()
        work = self._gather([notice.heard_at(now) for notice in notices])
        while decisions := self._decide(work):
            if not self._acts:
                self._assume(work, decisions)
            elif self._may_write(work):
                self._apply(work, decisions)
        self._wake(work)
        return [work.results[position] for position in range(len(notices))]

    # gather

    def _gather(self, notices: list[Notice]) -> _Work:
        """Find the node of each notice, and settle those that have none."""
        work = _Work(notices)
        hooks = HookTimer(self._lifecycle)
        findings = self._lookup.find([notice.instance_id for notice in notices])
        # First the one whose mark makes the others of its node needless; last what AWS takes back.
        ranks = [(each.withdrawn, each.is_hint, each.deadline) for each in notices]
        for position in sorted(range(len(notices)), key=ranks.__getitem__):
            notice = notices[position]
            match findings[notice.instance_id]:
                case NodeFound(node=node) as found:
                    match notice if notice.hook is None else hooks.timed(notice, notice.hook):
                        case Notice() as timed:
                            work.notices[position] = timed
                            work.found[node.name] = found
                            work.queues[node.name].append(position)
                        case result:
                            self._settle(work, position, result)
                case Booting(message=message):
                    self._settle(work, position, self._booting(hooks, notice, message))
                case Done(decision=decision) if decision.reason == Reason.NODE_GONE:
                    gone = self._let_go_on(hooks, notice, Reason.NODE_GONE, decision.message)
                    self._settle(work, position, gone)
                case result:
                    self._settle(work, position, result)
        return work

    def _booting(self, hooks: HookTimer, notice: Notice, message: str) -> Result:
        """What becomes of a notice of an instance that has not joined the cluster yet.

        A termination that waits for a hook does not wait for its node for long.
        """
        if notice.hook is None:
            return self._wait(notice, Reason.NODE_BOOTING, message)
        until = notice.time + PATIENCE
        if self._clock.now() < until:
            return Again(Reason.NODE_BOOTING, message, POSTPONED_DELAY, until)
        return self._let_go_on(hooks, notice, Reason.NODE_BOOTING, message)

    def _let_go_on(self, hooks: HookTimer, notice: Notice, reason: Reason, message: str) -> Result:
        """What becomes of a notice of an instance that is no node any more, or never was one.

        If an Auto Scaling group waits with its termination, it has to be told: nobody else will.
        """
        if notice.hook is None or not self._acts:
            return acknowledged(notice.instance_id, reason, message)
        try:
            paused = is_paused(self._cluster)
        except ClusterError as error:
            return _failed(notice, "", error)
        if paused:
            return self._wait(notice, Reason.PAUSED, "Evenkeel is paused")
        return hooks.let_go_on(notice, notice.hook, message)

    # decide

    def _decide(self, work: _Work) -> dict[str, Decision]:
        """The next mark of every node that needs one; notices that need none are settled here."""
        now = self._clock.now()
        decisions = {}
        for name, queue in list(work.queues.items()):
            while queue:
                found, notice = work.found[name], work.notices[queue[0]]
                result = doubt(notice, found.instance, found.node, self._labels, now)
                if result is None:
                    decision = which_notice.decide(found.node, notice, now, found.instance_state)
                    if decision.write is not None:
                        decisions[name] = decision
                        break
                    if decision.reason == Reason.ALREADY_MARKED:
                        work.marked.add(queue[0])
                    result = Done(decision)
                self._settle(work, queue.popleft(), result)
            else:
                del work.queues[name]
        return decisions

    # apply

    def _assume(self, work: _Work, decisions: Mapping[str, Decision]) -> None:
        """Observe mode: the wake-up carries what would have been written."""
        now = self._clock.now()
        for name, decision in decisions.items():
            position = work.queues[name].popleft()
            if decision.verb is not Verb.LIFT:
                node = work.found[name].node
                present = work.carried.get(name) or mark.read(node)
                notice = work.notices[position]
                work.carried[name] = which_notice.merge(node, present, notice, now)
                work.marked.add(position)
            self._settle(work, position, Done(decision))

    def _may_write(self, work: _Work) -> bool:
        """Whether Evenkeel is not paused: asked again before each round of writes."""
        try:
            paused = is_paused(self._cluster)
        except ClusterError as error:
            for name in list(work.queues):
                self._fail(work, name, error)
            return False
        if paused:
            for position in chain.from_iterable(work.queues.values()):
                result = self._wait(work.notices[position], Reason.PAUSED, "Evenkeel is paused")
                self._settle(work, position, result)
            work.queues.clear()
        return not paused

    def _apply(self, work: _Work, decisions: Mapping[str, Decision]) -> None:
        """Write the marks, all at once, and read again the nodes that others wrote to."""
        writes = [decision.write for decision in decisions.values()]
        replies = self._cluster.perform([write for write in writes if write is not None])
        stale: dict[str, ClusterError] = {}
        for (name, decision), reply in zip(decisions.items(), replies, strict=True):
            error = error_in(reply)
            if error is None and isinstance(reply.result, Node):
                self._written(work, decision, reply.result)
            elif isinstance(error, ChangedError) and work.attempts[name] < ATTEMPTS:
                stale[name] = error
            else:
                self._fail(work, name, error)
        self._read_again(work, stale)

    def _written(self, work: _Work, decision: Decision, node: Node) -> None:
        before = work.found[node.name]
        position = work.queues[node.name].popleft()
        work.found[node.name] = NodeFound(node, before.instance)
        work.marked.add(position)
        if node.spec.unschedulable and not before.node.spec.unschedulable:
            self._recorder.counted(Metric.NODES_CORDONED)
        lifts = decision.verb is Verb.LIFT
        metric = Metric.NODES_LIFTED if lifts else Metric.NODES_MARKED
        self._settle(work, position, Done(decision, metric))

    def _read_again(self, work: _Work, errors: Mapping[str, ClusterError]) -> None:
        """If these nodes have changed meanwhile, decide again on what they are now.

        The mark of one that has not is refused: the same will be refused again.
        """
        replies = self._cluster.perform([Get(Node, name) for name in errors]) if errors else []
        for (name, error), reply in zip(errors.items(), replies, strict=True):
            work.attempts[name] += 1
            before = work.found[name]
            node = reply.result
            if not isinstance(node, Node):
                self._fail(work, name, reply.error)
            elif not node.may_be(work.notices[work.queues[name][0]].instance_id):
                self._fail(work, name, NotFoundError("the node is another instance's now"))
            elif node.revision == before.node.revision:
                self._fail(work, name, UndoneError(str(error)))
            else:
                work.found[name] = NodeFound(node, before.instance)

    def _fail(self, work: _Work, name: str, error: ClusterError | None) -> None:
        """Settle the notices of a node that could not be read or written."""
        for position in work.queues.pop(name):
            self._settle(work, position, _failed(work.notices[position], name, error))

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
            result = Again(Reason.NO_WAKE_UP, f"the wake-up could not be sent: {error}")
            for position in sorted(work.marked):
                self._settle(work, position, result)

    # what becomes of single notices

    def _settle(self, work: _Work, position: int, result: Result) -> None:
        """Keep, count and record what becomes of a notice."""
        notice = work.notices[position]
        work.results[position] = result
        if isinstance(result, Done):
            decision, metric = result.decision, result.metric
            if decision.verb is Verb.MARK:
                delay = (self._clock.now() - notice.time) / timedelta(milliseconds=1)
                self._recorder.counted(Metric.NOTICE_DELAY, delay)
        else:
            metric = Metric.NOTICES_RETRIED
            decision = Decision.about(
                instance_reference(notice.instance_id),
                Verb.RETRY,
                result.reason,
                f"{result.message}; again in {result.delay.total_seconds():g} s",
                until=result.until,
            )
        self._recorder.decided(decision)
        if metric is not None:
            self._recorder.counted(metric)

    def _wait(self, notice: Notice, reason: Reason, message: str) -> Result:
        """A notice that cannot be handled yet comes again, until its time has passed."""
        until = max(notice.deadline, notice.time + PATIENCE)
        if self._clock.now() < until:
            return Again(reason, message, POSTPONED_DELAY, until)
        late = f"{message}, and the notice's time has passed"
        return acknowledged(notice.instance_id, reason, late)


def _failed(notice: Notice, node_name: str, error: ClusterError | None) -> Result:
    """What becomes of a notice whose node could not be read or written.

    An API server that throttles says when to try again. Where a group waits, the notice comes
    again: next time its instance has no node.
    """
    if isinstance(error, NotFoundError):
        message = f"node {node_name} is gone"
        if notice.hook is not None:
            return Again(Reason.NODE_GONE, message)
        return acknowledged(notice.instance_id, Reason.NODE_GONE, message)
    if isinstance(error, ChangedError):
        message = f"node {node_name} changed {ATTEMPTS} times while it was being marked"
        return Again(Reason.NODE_KEEPS_CHANGING, message)
    if isinstance(error, UndoneError | ForbiddenError):
        message = f"the mark of node {node_name} is not taken: {error}"
        return Again(Reason.WRITE_REFUSED, message, REFUSED_DELAY, error=error)
    error = error or ClusterError("the answer holds no node")
    delay = NO_ANSWER_DELAY
    if isinstance(error, ThrottledError):
        delay = min(max(delay, timedelta(seconds=error.retry_after)), LONGEST_DELAY)
    message = f"the API server did not carry it out: {error}"
    return Again(Reason.NO_ANSWER_FROM_API_SERVER, message, delay, error=error)
