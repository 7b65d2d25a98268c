"""Cutting a log into interruptions: by its quiet times, and by the deadlines of nodes."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from evenkeel.adapters.telemetry.decision_log import CountRecord, DecisionRecord, pod_count
from evenkeel.model.decision import Verb
from evenkeel.model.interruption import Interruption, Key, key_of
from evenkeel.model.pod_count import FOLLOWED_FOR

_ELSEWHERE: Final = frozenset(
    {
        *(Verb.PLACE, Verb.REJECT, Verb.ACKNOWLEDGE),
        *(Verb.FREE, Verb.LET_IN, Verb.HOLD_NODE, Verb.LET_GO),
    }
)
"""Verbs of decisions about new pods, seats and their nodes, and events that concern no node."""


class NoteRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the log that is no decision: mostly about what went wrong."""

    time: datetime
    message: str


type Record = DecisionRecord | CountRecord | NoteRecord


def last(records: Iterable[Record]) -> Sequence[Record]:
    """The records of the last interruption: of the last stretch in which a node was marked.

    Without a mark in any it is the last stretch.
    """
    shown = ordered(records)
    stretches = _stretches(shown)
    marked = (each for each in reversed(stretches) if any(map(is_mark, each)))
    found = next(marked, stretches[-1] if stretches else [])
    if not found:
        return []
    first, latest = found[0].time, found[-1].time
    return [record for record in shown if first <= record.time <= latest]


def ends(records: Iterable[Record]) -> Sequence[datetime]:
    """When interruptions end, each with its last record. The records are ordered."""
    return [stretch[-1].time for stretch in _stretches(records)]


def ordered(records: Iterable[Record]) -> Sequence[Record]:
    """By time, without what belongs to no interruption: what is decided about new pods."""
    return sorted(filter(_belongs, records), key=lambda record: record.time)


def deadline_of(record: Record) -> datetime | None:
    """The deadline that a mark gives its node; the note that EC2 lists it no more has none."""
    if isinstance(record, DecisionRecord) and record.verb == Verb.MARK:
        return record.until
    return None


def is_mark(record: Record) -> bool:
    """Whether a node got its time."""
    return deadline_of(record) is not None


def _belongs(record: Record) -> bool:
    return not isinstance(record, DecisionRecord) or record.verb not in _ELSEWHERE


def _stretches(records: Iterable[Record]) -> Sequence[Sequence[Record]]:
    """The interruptions: a new one begins when the one before is over.

    The count that follows a low one belongs to its interruption.
    """
    stretches = list[list[Record]]()
    going_on: Interruption | None = None
    low = dict[Key, datetime]()
    for record in records:
        if isinstance(record, NoteRecord):
            continue
        closes = isinstance(record, CountRecord) and _closes(record, low)
        if going_on is None or (record.time >= going_on.over_at and not closes):
            stretches.append([])
            going_on = Interruption(began_at=record.time, active_at=record.time)
        stretches[-1].append(record)
        deadline = deadline_of(record)
        going_on = going_on.goes_on(record.time, *filter(None, (deadline,)))
    return stretches


def _closes(record: CountRecord, low: dict[Key, datetime]) -> bool:
    """Whether a count ends a low one of not long ago. ``low`` are the times of those."""
    key = key_of(record.workload)
    if not pod_count(record).is_whole:
        low.setdefault(key, record.time)
        return False
    since = low.pop(key, None)
    return since is not None and record.time - since < FOLLOWED_FOR
