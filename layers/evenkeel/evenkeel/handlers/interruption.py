"""The function behind the notice queue: every message an EventBridge event about an instance.

An event that invokes the function itself, as a person's test does or a rule without a queue, is
handled like a message. What would bring a message again is raised then.

A message that is done, needless or of an unknown kind is acknowledged. One that has to come
again is made visible after a few seconds and reported as failed. So is one that makes no sense,
alone, until the queue has handed it out as often as it may; then it is a dead letter. A probe is
acknowledged, answered or not: the next one says more than an old one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain
from typing import Any, Final, NamedTuple

from evenkeel.decisions.notice.event import Harmless, Probe, Understood, Unknown
from evenkeel.decisions.notice.reading import read_json
from evenkeel.decisions.notice.result import Again, Result
from evenkeel.errors import (
    ClusterError,
    EvenkeelError,
    MalformedEventError,
    MalformedNoticeError,
    NotDoneError,
)
from evenkeel.flows.interruption.flow import InterruptionFlow
from evenkeel.flows.interruption.probe import Probed, probe
from evenkeel.flows.remedies import metric_of
from evenkeel.handlers import Handler
from evenkeel.handlers.records import Record, alone, failures, is_batch, postpone, read_batch
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.notice import Notice
from evenkeel.model.reasons import Reason
from evenkeel.ports import Cluster, Ports, Queue, Recorder
from evenkeel.settings import InterruptionSettings

MALFORMED_DELAY: Final = timedelta(seconds=2)
"""So that a malformed message's tries are over before its queue forgets it, after 300 s."""

CROWD: Final = 100
"""A message that names more instances comes after the others: EC2 is asked for 200 at a time, and
one message can name 6,000."""

type Arrived = Sequence[tuple[Record, Notice]]
"""Notices, each with its message."""


def build(settings: InterruptionSettings, ports: Ports, notices: Queue, wake_ups: Queue) -> Handler:
    """Build the handler. ``notices`` is the queue that its messages come from.

    The handler raises MalformedEventError for an event that is neither a batch of messages nor an
    event as they hold one, and NotDoneError for one without a queue that has to come again.
    """
    flow = InterruptionFlow(settings, ports, wake_ups)
    return _NoticeHandler(flow, settings, ports.cluster, notices, ports.recorder)


class _Left(NamedTuple):
    """A message that has to come again: after how long, and why."""

    record: Record
    delay: timedelta
    error: EvenkeelError


@dataclass(frozen=True, slots=True)
class _Batch:
    """What the records of one invocation say."""

    notices: list[tuple[Record, Notice]] = field(default_factory=list)
    probes: list[Probe] = field(default_factory=list)
    malformed: list[_Left] = field(default_factory=list)


@dataclass(eq=False)
class _NoticeHandler:
    """A handler; remembers which unknown kinds it has told about."""

    _flow: InterruptionFlow
    _settings: InterruptionSettings
    _cluster: Cluster
    _notices: Queue
    _recorder: Recorder
    _unknown_kinds: set[tuple[str, str]] = field(default_factory=set)

    def __call__(self, event: dict[str, Any], _context: object) -> dict[str, Any]:
        try:
            if not is_batch(event):
                return self._handle_alone(event)
            left = self._handle(read_batch(event))
            back = [(each.record, each.delay) for each in left]
            postpone(back, self._notices, self._recorder)
            return failures(record.message_id for record, _ in back)
        finally:
            self._recorder.flush()

    def _handle_alone(self, event: dict[str, Any]) -> dict[str, Any]:
        """Handle an event that no queue would bring again."""
        for left in self._handle([alone(event)]):
            raise left.error
        return {}

    def _handle(self, records: Sequence[Record]) -> Sequence[_Left]:
        """Do what messages say; answers those that have to come again."""
        batch = self._read(records)
        parts = _crowds_last(batch.notices)
        arrived = [*chain.from_iterable(parts)]
        results = [*chain.from_iterable(map(self._mark, parts))]
        again = [each for each in results if isinstance(each, Again)]
        errors = [each.error for each in again if each.error is not None]
        if batch.probes:
            errors += self._answer(batch.probes, errors)
        for metric in {metric_of(error) for error in errors}:
            self._recorder.counted(metric)
        return [*_again(arrived, results), *batch.malformed]

    def _mark(self, arrived: Arrived) -> Sequence[Result]:
        return self._flow.handle([notice for _, notice in arrived]) if arrived else ()

    def _read(self, records: Sequence[Record]) -> _Batch:
        """What the records say; what needs nothing else is acknowledged."""
        batch = _Batch()
        for record in records:
            try:
                reading = read_json(
                    record.body,
                    lifecycle_hook=self._settings.lifecycle_hook,
                    replay_source=self._settings.replay_source,
                )
            except MalformedNoticeError as error:
                self._recorder.counted(Metric.NOTICES_MALFORMED)
                message = Reference(kind="Message", name=record.message_id)
                self._recorder.decided(
                    Decision.about(
                        message, Verb.REJECT, Reason.MALFORMED_NOTICE, str(error), warning=True
                    )
                )
                why = f"this is neither a batch of an SQS event source nor an event: {error}"
                batch.malformed.append(_Left(record, MALFORMED_DELAY, MalformedEventError(why)))
                continue
            if isinstance(reading, Understood):
                if record.receives == 1:
                    self._recorder.counted(Metric.NOTICES_RECEIVED)
                if reading.warning:
                    first = reading.notice
                    self._recorder.noted(
                        reading.warning, event_id=first.event_id, instance_id=first.instance_id
                    )
                batch.notices.extend((record, notice) for notice in reading.notices)
            elif isinstance(reading, Probe):
                batch.probes.append(reading)
            else:
                self._acknowledge(reading)
        return batch

    def _answer(
        self, probes: Sequence[Probe], known: Sequence[ClusterError]
    ) -> Sequence[ClusterError]:
        """Answer probes by two questions, or by what their batch's notices have met already."""
        error, is_paused = Probed(known[0]) if known else probe(self._cluster)
        if is_paused:
            self._recorder.counted(Metric.PROBES_PAUSED, len(probes))
        if error is None:
            self._recorder.counted(Metric.PROBES_ANSWERED, len(probes))
            reason, message = Reason.PROBE_ANSWERED, "the API server answers"
        else:
            reason, message = Reason.PROBE_UNANSWERED, f"the API server does not answer: {error}"
        for each in probes:
            self._recorder.decided(
                Decision.about(
                    Reference(kind="Probe", name=each.event_id),
                    Verb.ACKNOWLEDGE,
                    reason,
                    message,
                    warning=error is not None,
                )
            )
        return [error] if error else []

    def _acknowledge(self, reading: Harmless | Unknown) -> None:
        if isinstance(reading, Harmless):
            reason, message = Reason.HARMLESS, f"{reading.detail_type}: {reading.message}"
        else:
            self._recorder.counted(Metric.NOTICES_UNKNOWN)
            kind = (reading.source, reading.detail_type)
            if kind in self._unknown_kinds:
                return
            self._unknown_kinds.add(kind)
            reason = Reason.UNKNOWN_KIND
            message = f"{reading.source} {reading.detail_type!r} is not known to Evenkeel"
        self._recorder.decided(
            Decision.about(
                Reference(kind="Notice", name=reading.event_id), Verb.ACKNOWLEDGE, reason, message
            )
        )


def _crowds_last(arrived: Arrived) -> tuple[Arrived, Arrived]:
    """The notices of messages that name few instances, and those of the others."""
    named = Counter(record.message_id for record, _ in arrived)
    few = [each for each in arrived if named[each[0].message_id] <= CROWD]
    return few, [each for each in arrived if named[each[0].message_id] > CROWD]


def _again(arrived: Arrived, results: Sequence[Result]) -> Sequence[_Left]:
    """The messages whose notices have to come again, each once.

    One does for all of its notices as soon as one of them may be tried.
    """
    found: dict[str, _Left] = {}
    for (record, _), result in zip(arrived, results, strict=True):
        if isinstance(result, Again):
            left = _Left(record, result.delay, NotDoneError(result.message))
            found[record.message_id] = min(left, found.get(record.message_id, left), key=_delay)
    return list(found.values())


def _delay(left: _Left) -> timedelta:
    return left.delay
