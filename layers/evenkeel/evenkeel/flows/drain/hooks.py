"""Heartbeats for terminations that wait for a lifecycle hook, and their end.

A termination is known from its node's mark. As the mark goes with the node, the reconciler's Lease
keeps it as well: where the node is gone, nobody else tells the group that it may go on.

Auto Scaling is called beside the loop, as EC2 is asked: no forced eviction waits for it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto
from functools import partial

from evenkeel.decisions.notice import mark
from evenkeel.decisions.notice.result import instance_reference
from evenkeel.errors import LifecycleError, NoLifecycleActionError, NotFoundError
from evenkeel.flows.drain.sync.questions import Questions
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.hook import Termination, noted, waiting_in
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Get
from evenkeel.model.times import earliest
from evenkeel.ports import Cluster, LifecycleActions, Recorder, Reply

TRY_AGAIN_AFTER = timedelta(seconds=5)
"""How long to rest after Auto Scaling did not answer."""


class Call(Enum):
    """The two calls to Auto Scaling about a termination."""

    HEARTBEAT = auto()
    COMPLETE = auto()


class Answer(Enum):
    """Auto Scaling's answer to a call."""

    DONE = auto()
    GONE = auto()


type Calls = Sequence[tuple[Termination, Call]]
type Answers = Mapping[Termination, Answer]


@dataclass(eq=False)
class Hooks:
    """Outlives invocations; what is forgotten is sent once more, which does no harm.

    Only hooks of this name are cared for; none where there are no actions. Two invocations may
    share what waits, by instance id: so it is replaced and never changed.
    """

    _actions: LifecycleActions | None
    _name: str
    _recorder: Recorder
    _cluster: Cluster
    _waiting: Mapping[str, Termination] = field(default_factory=dict)
    _gone: Sequence[Termination] = ()
    _look_again_at: datetime | None = None
    _beaten: dict[Termination, datetime] = field(default_factory=dict)
    _ended: dict[Termination, Answer] = field(default_factory=dict)
    _rest_until: datetime | None = None

    @property
    def note(self) -> str:
        """The terminations that wait, or may, for the Lease."""
        return noted(self._waiting.values())

    def read(self, note: str | None) -> None:
        """Take what the Lease has, which is what the last holder knew.

        What others' hooks wait for is dropped. Where no hook is cared for it is left as it is.
        """
        found = waiting_in(note)
        ours = {key: each for key, each in found.items() if each.hook.name == self._name}
        self._waiting = found if self._actions is None else ours

    @property
    def are_waited_for(self) -> bool:
        """Whether there is something to do though no node may be marked."""
        return self._actions is not None and bool(self._waiting)

    def of(self, node: Node, notice: NodeNotice) -> Termination | None:
        """The termination of a node that waits for Evenkeel, if there is one."""
        hook = notice.hook
        if self._actions is None or hook is None or hook.is_over or hook.name != self._name:
            return None
        return Termination(hook, mark.instance_of(node, notice), node.name)

    def keep(
        self,
        waiting: Iterable[tuple[Node, NodeNotice, Termination]],
        empty: Collection[str],
        now: datetime,
        questions: Questions,
    ) -> tuple[Sequence[Decision], datetime | None]:
        """Send what is due; the notes for the marks, and when this changes with time alone.

        A termination goes on when its node is among the ``empty`` ones or gone, or at its end.
        """
        if self._actions is None:
            return (), None
        found = list(waiting)
        steps = [self._end(node, each) for node, _, each in found if each in self._ended]
        steps += map(self._end_of_gone, (each for each in self._gone if each in self._ended))
        lost = self._follow({each.instance_id: each for *_, each in found})
        look_again_at = self._look_for(lost, now, questions)
        calls, dues = self._due(found, empty, now)
        dues.append(look_again_at)
        if calls and self._rest_until is not None and now < self._rest_until:
            dues.append(self._rest_until)
        elif calls:
            questions.ask("hooks", partial(self._call, calls), partial(self._take, calls, now))
        return steps, earliest(*dues)

    def _follow(self, here: Mapping[str, Termination]) -> Sequence[Termination]:
        """The terminations ``here``, by instance, are on marks now; those that no mark shows.

        They are waited for until they have ended, or their nodes are known to be gone.
        """
        lost = {
            key: each
            for key, each in self._waiting.items()
            if key not in here and each not in self._ended
        }
        self._waiting = {**lost, **here}
        known = set(self._waiting.values())
        self._gone = [each for each in self._gone if each in lost.values()]
        self._beaten = {each: at for each, at in self._beaten.items() if each in known}
        self._ended = {each: answer for each, answer in self._ended.items() if each in known}
        return [each for each in lost.values() if each not in self._gone]

    def _due(
        self,
        found: Iterable[tuple[Node, NodeNotice, Termination]],
        empty: Collection[str],
        now: datetime,
    ) -> tuple[list[tuple[Termination, Call]], list[datetime | None]]:
        """The calls that are due, and when others will be."""
        calls, dues = list[tuple[Termination, Call]](), list[datetime | None]()
        for node, notice, termination in found:
            if termination in self._ended:
                continue
            if node.name in empty or now >= notice.deadline:
                calls.append((termination, Call.COMPLETE))
                continue
            beaten = self._beaten.get(termination)
            due = now if beaten is None else beaten + termination.hook.beat_every
            if due <= now:
                calls.append((termination, Call.HEARTBEAT))
            dues += [due if due > now else None, notice.deadline]
        calls += [(each, Call.COMPLETE) for each in self._gone]
        return calls, dues

    def _look_for(
        self, lost: Sequence[Termination], now: datetime, questions: Questions
    ) -> datetime | None:
        """Ask for the nodes of terminations that no mark shows, but not all the time.

        When they are asked for again; None: there are none.
        """
        if not lost:
            return None
        if self._look_again_at is None or now >= self._look_again_at:
            self._look_again_at = now + TRY_AGAIN_AFTER
            read = partial(self._cluster.perform, [Get(Node, each.node) for each in lost])
            questions.ask("nodes of hooks", read, partial(self._see, lost))
        return self._look_again_at

    def _see(
        self, lost: Sequence[Termination], answer: Future[Sequence[Reply]], _: datetime
    ) -> None:
        """Tell terminations whose nodes are gone from those that are waited for no more.

        The mark of a node that is there was lifted, or says that the hook is over.
        """
        for each, reply in zip(lost, answer.result(), strict=True):
            node = reply.result
            if isinstance(node, Node) and node.may_be(each.instance_id):
                self._waiting = {k: t for k, t in self._waiting.items() if t != each}
            elif isinstance(node, Node) or isinstance(reply.error, NotFoundError):
                self._gone = [*self._gone, each]

    def _take(
        self,
        calls: Calls,
        asked_at: datetime,
        answer: Future[tuple[Answers, LifecycleError | None]],
        now: datetime,
    ) -> None:
        answers, error = answer.result()
        for termination, call in calls:
            said = answers.get(termination)
            if said is Answer.GONE or (said is Answer.DONE and call is Call.COMPLETE):
                self._ended[termination] = said
            elif said is Answer.DONE:
                self._beaten[termination] = asked_at
        self._rest_until = None
        if error is not None:
            self._rest_until = now + TRY_AGAIN_AFTER
            self._recorder.counted(Metric.LIFECYCLE_CALLS_FAILED)
            self._recorder.noted(f"EC2 Auto Scaling was not told: {error}")

    def _call(self, calls: Calls) -> tuple[Answers, LifecycleError | None]:
        """Make these calls, up to the first that is not answered: the others would not be."""
        answers: dict[Termination, Answer] = {}
        for termination, call in calls:
            try:
                self._make(termination, call)
            except NoLifecycleActionError:
                answers[termination] = Answer.GONE
            except LifecycleError as error:
                return answers, error
            else:
                answers[termination] = Answer.DONE
        return answers, None

    def _make(self, termination: Termination, call: Call) -> None:
        if self._actions is None:
            return
        if call is Call.COMPLETE:
            self._actions.complete(termination)
        else:
            self._actions.record_heartbeat(termination)

    def _end(self, node: Node, termination: Termination) -> Decision:
        """The note on the node that Auto Scaling needs no further call."""
        said = self._said(termination)
        return Decision.about(node, Verb.MARK, *said, write=mark.end_hook(node))

    def _end_of_gone(self, termination: Termination) -> Decision:
        reason, message = self._said(termination)
        instance = instance_reference(termination.instance_id)
        message = f"node {termination.node} is gone: {message}"
        return Decision.about(instance, Verb.COMPLETE, reason, message)

    def _said(self, termination: Termination) -> tuple[Reason, str]:
        group = termination.hook.group
        if self._ended[termination] is Answer.DONE:
            return Reason.LIFECYCLE_ACTION_COMPLETED, f"the group {group} may go on"
        message = f"the group {group} does not wait for {termination.hook.name} any more"
        return Reason.LIFECYCLE_ACTION_GONE, message
