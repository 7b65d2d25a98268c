"""Events that a person hands in: read as the functions read them, and told in a few words."""

import json
from collections.abc import Iterator, Sequence

from evenkeel.decisions.notice import kinds
from evenkeel.decisions.notice.event import Understood
from evenkeel.errors import MalformedNoticeError
from evenkeel.model.notice import NoticeKind
from evenkeel.model.times import in_words
from evenkeel_cli import words
from evenkeel_cli.event_files import Flaw, Record
from evenkeel_sandbox.events import Arriving, read_event


def understand(items: Sequence[Record | Flaw]) -> tuple[list[Arriving], list[Flaw]]:
    """Read records as the functions do; what makes no sense is a flaw.

    An action that EC2 has not had so far is one too: a function counts it as a termination,
    but in a file it is most likely a mistake. A record may also be a batch of messages, as Lambda
    hands them to a function: each message is an event.
    """
    good: list[Arriving] = []
    bad: list[Flaw] = []
    for item in (each for given in items for each in _unpacked(given)):
        if isinstance(item, Flaw):
            bad.append(item)
            continue
        try:
            reading = read_event(item.event)
        except MalformedNoticeError as error:
            bad.append(item.flaw(error.field, error.problem))
            continue
        if isinstance(reading, Understood) and reading.warning:
            bad.append(item.flaw("detail.instance-action", _unknown_action(item)))
        else:
            good.append(Arriving(item.place, item.event, reading))
    return good, bad


def _unpacked(item: Record | Flaw) -> Iterator[Record | Flaw]:
    """The events in a batch of messages; else what was given."""
    batch = item.event.get("Records") if isinstance(item, Record) and _is_object(item) else None
    if not isinstance(item, Record) or not isinstance(batch, list):
        yield item
        return
    for number, message in enumerate(batch):
        path = f"Records[{number}].body"
        try:
            yield Record(item.place, json.loads(message["body"]), path)
        except (KeyError, TypeError, ValueError, RecursionError):
            yield Flaw(f"{item.place}: {path}: should be an event of EventBridge, as JSON")
    if not batch:
        yield Flaw(f"{item.place}: Records: holds no message")


def _is_object(record: Record) -> bool:
    return isinstance(record.event, dict)


def _unknown_action(record: Record) -> str:
    action = record.event["detail"]["instance-action"]
    return f"should be terminate, stop or hibernate, but is {action!r}"


def describe(arriving: Arriving, node: str) -> str:
    """What an event says, in a few words: ``ip-10-0-0-1 is interrupted: terminate in 120 s``."""
    notice = arriving.notice
    if notice is None:
        return arriving.remark
    where = words.short_node(node) if node else notice.instance_id
    brief = kinds.wording_of(notice).brief
    if len(arriving.notices) > 1:
        where += f" and {len(arriving.notices) - 1} more"
    if notice.withdrawn:
        return f"{where} {brief} no more"
    if notice.is_hint:
        return f"{where} {brief}" + (f" at {in_words(notice.ends_at)}" if notice.ends_at else "")
    left = max(0, round((notice.deadline - notice.time).total_seconds()))
    when = f"in {left} s" if left else "now"
    if notice.kind is NoticeKind.STATE_CHANGE:
        return f"{where} {brief}: {arriving.event['detail']['state']} {when}"
    return f"{where} {brief}: {notice.action} {when}"
