"""Events that a person hands in: read as the functions read them, and brought up to date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cli import words
from cli.event_files import Flaw, Place, Record
from evenkeel.decisions.notice.event import Harmless, Probe, Reading, Rules, Understood, Unknown
from evenkeel.decisions.notice.reading import read
from evenkeel.errors import MalformedNoticeError
from evenkeel.model.notice import Notice, NoticeKind

REPLAY_SOURCE: Final = "evenkeel.replay"
"""Read like aws.ec2: EventBridge lets nobody but AWS send that, so replays have another."""

FRESH: Final = timedelta(seconds=30)
"""An event no older than this is taken as it is; an older one is a sample."""

RULES: Final = Rules(replay_source=REPLAY_SOURCE)


@dataclass(frozen=True, slots=True)
class Arriving:
    """An event that makes sense, where it was read, and what it says."""

    place: Place
    event: dict[str, Any]
    reading: Reading

    @property
    def notice(self) -> Notice | None:
        """The notice, if it is one."""
        return self.reading.notice if isinstance(self.reading, Understood) else None

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


def understand(items: Sequence[Record | Flaw]) -> tuple[list[Arriving], list[Flaw]]:
    """Read records as the functions do; what makes no sense is a flaw.

    An action that EC2 has not had so far is one too: a function counts it as a termination,
    but in a file it is most likely a mistake.
    """
    good: list[Arriving] = []
    bad: list[Flaw] = []
    for item in items:
        if isinstance(item, Flaw):
            bad.append(item)
            continue
        try:
            reading = read(item.event, RULES)
        except MalformedNoticeError as error:
            bad.append(Flaw(f"{item.place}: {error.field}: {error.problem}"))
            continue
        if isinstance(reading, Understood) and reading.warning:
            bad.append(Flaw(f"{item.place}: detail.instance-action: {_unknown_action(item)}"))
        else:
            good.append(Arriving(item.place, item.event, reading))
    return good, bad


def _unknown_action(record: Record) -> str:
    action = record.event["detail"]["instance-action"]
    return f"should be terminate, stop or hibernate, but is {action!r}"


def describe(arriving: Arriving, node: str) -> str:
    """What an event says, in a few words: ``ip-10-0-0-1 is interrupted: terminate in 120 s``."""
    notice = arriving.notice
    if notice is None:
        return arriving.remark
    where = words.short_node(node) if node else notice.instance_id
    if notice.is_hint:
        return f"{where} is at risk (rebalance recommendation)"
    left = max(0, round((notice.deadline - notice.time).total_seconds()))
    when = f"in {left} s" if left else "now"
    if notice.kind is NoticeKind.STATE_CHANGE:
        return f"{where} is going: {arriving.event['detail']['state']} {when}"
    return f"{where} is interrupted: {notice.action} {when}"


def at_time(event: Mapping[str, Any], time: datetime) -> dict[str, Any]:
    """The same event, given at another time."""
    return {**event, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ")}


def for_instance(arriving: Arriving, instance_id: str, event_id: str) -> Arriving:
    """The same kind of event about another instance."""
    detail = {**arriving.event["detail"], "instance-id": instance_id}
    event = {**arriving.event, "id": event_id, "detail": detail}
    return Arriving(arriving.place, event, read(event, RULES))


def is_stale(arriving: Arriving, now: datetime) -> bool:
    """Whether an event is a sample, or of another day: not given just now."""
    return abs(now - arriving.given_at) > FRESH


def freshened(arriving: Arriving, now: datetime) -> Arriving:
    """The event as if it were given now, if it is stale."""
    if not is_stale(arriving, now):
        return arriving
    event = at_time(arriving.event, now)
    return Arriving(arriving.place, event, read(event, RULES))
