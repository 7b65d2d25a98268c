"""Events that are handed in: what they say, brought up to date, or made up after another one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any, Final

from evenkeel.decisions.notice import kinds
from evenkeel.decisions.notice.event import Harmless, Probe, Reading, Understood, Unknown
from evenkeel.decisions.notice.reading import read
from evenkeel.model.notice import Notice

REPLAY_SOURCE: Final = "evenkeel.replay"
"""Read like a source of AWS: EventBridge lets nobody but AWS use one, so replays have another."""

ISO: Final = "%Y-%m-%dT%H:%M:%SZ"

FRESH: Final = timedelta(seconds=30)
"""An event no older than this is taken as it is; an older one is a sample."""

HOOK: Final = "evenkeel"
"""The lifecycle hook that is heeded."""


def read_event(event: object) -> Reading:
    """Read an event, of a replay too. Raises MalformedNoticeError."""
    return read(event, lifecycle_hook=HOOK, replay_source=REPLAY_SOURCE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands: its file, its number from 1, and the line on which it begins."""

    file: str
    record: int
    line: int

    def __str__(self) -> str:
        """``events/all.json, record 3 (line 41)``."""
        return f"{self.file}, record {self.record} (line {self.line})"

    @property
    def short(self) -> str:
        """``events/all.json:41``, as compilers write it."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Arriving:
    """An event that makes sense, where it was read, and what it says."""

    place: Place
    event: dict[str, Any]
    reading: Reading

    @property
    def notice(self) -> Notice | None:
        """The notice, if it is one; of several the first."""
        return next(iter(self.notices), None)

    @property
    def notices(self) -> Sequence[Notice]:
        """The notices, one for each instance that it names; none if it is no notice."""
        return self.reading.notices if isinstance(self.reading, Understood) else ()

    @property
    def given_at(self) -> datetime:
        """When AWS gave it."""
        return datetime.fromisoformat(self.event["time"]).astimezone(UTC)

    @property
    def remark(self) -> str:
        """Why it is no notice; empty if it is one."""
        match self.reading:
            case Harmless(message=message):
                return f"{message}; acknowledged"
            case Probe():
                return "a probe asks whether it gets to the API server; acknowledged"
            case Unknown(source=source, detail_type=kind):
                return f"{source} {kind!r} is not known to Evenkeel; acknowledged"
        return ""


def at_time(event: Mapping[str, Any], time: datetime) -> dict[str, Any]:
    """The same event, given at another time, with the times that it names as far from it.

    For an event that makes sense: its times can be read.
    """
    moved = {**event, "time": time.strftime(ISO)}
    kind = kinds.kind_of(event["detail-type"])
    named = [] if kind is None else [name for name in kind.times if name in event["detail"]]
    if named:
        later = time - datetime.fromisoformat(event["time"])
        detail = {name: _later(event["detail"][name], later) for name in named}
        moved["detail"] = {**event["detail"], **detail}
    return moved


def _later(text: str, later: timedelta) -> str:
    """The same time later, written in the same way: as ISO 8601 has it, or as mail."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return format_datetime((parsedate_to_datetime(text) + later).astimezone(UTC), usegmt=True)
    return (time + later).astimezone(UTC).strftime(ISO)


def for_instance(arriving: Arriving, instance_id: str, event_id: str) -> Arriving:
    """The same kind of event about another instance."""
    detail = {**arriving.event["detail"], "instance-id": instance_id}
    event = {**arriving.event, "id": event_id, "detail": detail}
    return Arriving(arriving.place, event, read_event(event))


def is_stale(arriving: Arriving, now: datetime) -> bool:
    """Whether an event is a sample, or of another day: not given just now."""
    return abs(now - arriving.given_at) > FRESH


def freshened(arriving: Arriving, now: datetime) -> Arriving:
    """The event as if it were given now, if it is stale."""
    if not is_stale(arriving, now):
        return arriving
    event = at_time(arriving.event, now)
    return Arriving(arriving.place, event, read_event(event))
