"""Heartbeats for terminations that wait for a lifecycle hook, and their end.

Auto Scaling is called beside the loop, as EC2 is asked: no forced eviction waits for it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from enum import Enum, auto
from functools import partial

from evenkeel.decisions.notice import mark
from evenkeel.errors import LifecycleError, NoLifecycleActionError
from evenkeel.flows.drain.sync.questions import Questions
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.hook import Termination
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.reasons import Reason
from evenkeel.model.times import earliest
from evenkeel.ports import LifecycleActions, Recorder

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


class Hooks:
    """Outlives invocations; what is forgotten is sent once more, which does no harm."""

    def __init__(self, actions: LifecycleActions | None, name: str, recorder: Recorder) -> None:
        """Only hooks of this ``name`` are cared for; none where ``actions`` is None."""
        self._actions = actions
        self._name = name
        self._recorder = recorder
        self._beaten: dict[Termination, datetime] = {}
        self._ended: dict[Termination, Answer] = {}
        self._rest_until: datetime | None = None

    def of(self, node: Node, notice: NodeNotice) -> Termination | None:
        """The termination of a node that waits for Evenkeel, if there is one."""
        hook = notice.hook
        if self._actions is None or hook is None or hook.is_over or hook.name != self._name:
            return None
        return Termination(hook, mark.instance_of(node, notice))

    def keep(
        self,
        waiting: Iterable[tuple[Node, NodeNotice, Termination]],
        empty: Collection[str],
        now: datetime,
        questions: Questions,
    ) -> tuple[Sequence[Decision], datetime | None]:
        """Send what is due; the notes for the marks, and when this changes with time alone.

        A termination goes on when its node is among the ``empty`` ones, or at its end.
        """
        found = list(waiting)
        known = {termination for *_, termination in found}
        self._beaten = {each: at for each, at in self._beaten.items() if each in known}
        self._ended = {each: answer for each, answer in self._ended.items() if each in known}
        steps = [self._end(n, t) for n, _, t in found if t in self._ended]
        calls = list[tuple[Termination, Call]]()
        dues = list[datetime | None]()
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
        if calls and self._rest_until is not None and now < self._rest_until:
            dues.append(self._rest_until)
        elif calls:
            questions.ask("hooks", partial(self._call, calls), partial(self._take, calls, now))
        return steps, earliest(*dues)

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
        group = termination.hook.group
        if self._ended[termination] is Answer.DONE:
            reason, message = Reason.LIFECYCLE_ACTION_COMPLETED, f"the group {group} may go on"
        else:
            reason = Reason.LIFECYCLE_ACTION_GONE
            message = f"the group {group} does not wait for {termination.hook.name} any more"
        return Decision.about(node, Verb.MARK, reason, message, write=mark.end_hook(node))
