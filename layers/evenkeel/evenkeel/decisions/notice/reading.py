"""From an event of EventBridge to what it means."""

from dataclasses import replace
from typing import Final

import msgspec

from evenkeel.decisions.notice import harmless, kinds, probe
from evenkeel.decisions.notice.event import EC2, Event, Reading, Rules, Unknown
from evenkeel.decisions.notice.fields import Fields
from evenkeel.errors import MalformedNoticeError, UnreadableError
from evenkeel.model.decoding import decoded

_ANYTHING: Final = msgspec.json.Decoder()


def read_json(text: str | bytes, rules: Rules) -> Reading:
    """Read an event from JSON. Raises MalformedNoticeError."""
    try:
        value = decoded(_ANYTHING, text)
    except UnreadableError as error:
        raise MalformedNoticeError("event", f"is no JSON: {error}") from error
    return read(value, rules)


def read(value: object, rules: Rules) -> Reading:
    """Read a decoded event. Raises MalformedNoticeError."""
    event = Event.read(Fields(value))
    if rules.replay_source and event.source == rules.replay_source:
        event = _as_given(event)
    kind = kinds.of_event(event.source, event.detail_type)
    if kind is not None:
        return kind.parse(event, rules)
    known = probe.find(event) or harmless.find(event)
    if known is not None:
        return known
    return Unknown(event_id=event.event_id, source=event.source, detail_type=event.detail_type)


def _as_given(event: Event) -> Event:
    """A replayed event as AWS gave it: PutEvents takes no source of AWS."""
    kind = kinds.of_detail_type(event.detail_type)
    return replace(event, source=EC2 if kind is None else kind.source)
