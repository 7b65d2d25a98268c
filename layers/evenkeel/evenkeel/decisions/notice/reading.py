"""From an event of EventBridge to what it means."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec

from evenkeel.decisions.notice import (
    harmless,
    interruption_warning,
    probe,
    rebalance_recommendation,
    state_change,
)
from evenkeel.decisions.notice.event import EC2, Event, Reading, Rules, Unknown
from evenkeel.decisions.notice.fields import Fields
from evenkeel.errors import MalformedNoticeError

type Parser = Callable[[Event, Rules], Reading]

PARSERS: Final[dict[tuple[str, str], Parser]] = {
    (interruption_warning.SOURCE, interruption_warning.DETAIL_TYPE): interruption_warning.parse,
    (
        rebalance_recommendation.SOURCE,
        rebalance_recommendation.DETAIL_TYPE,
    ): rebalance_recommendation.parse,
    (state_change.SOURCE, state_change.DETAIL_TYPE): state_change.parse,
}
"""The parser of each kind of event, by source and detail-type."""


def read_json(text: str | bytes, rules: Rules) -> Reading:
    """Read an event from JSON. Raises MalformedNoticeError."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MalformedNoticeError("event", f"is no JSON: {error}") from error
    return read(value, rules)


def read(value: object, rules: Rules) -> Reading:
    """Read a decoded event. Raises MalformedNoticeError."""
    event = Event.read(Fields(value))
    if rules.replay_source and event.source == rules.replay_source:
        event = replace(event, source=EC2)
    parser = PARSERS.get((event.source, event.detail_type))
    if parser is not None:
        return parser(event, rules)
    known = probe.find(event) or harmless.find(event)
    if known is not None:
        return known
    return Unknown(event_id=event.event_id, source=event.source, detail_type=event.detail_type)
