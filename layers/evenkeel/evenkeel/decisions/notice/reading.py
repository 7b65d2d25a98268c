"""From a message to what it means.

It is an event of EventBridge, one that SNS passed on, or what EC2 Auto Scaling sends by itself
where a queue is a hook's notification target.

https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html
https://docs.aws.amazon.com/autoscaling/ec2/userguide/prepare-for-lifecycle-notifications.html
"""

from dataclasses import replace

from evenkeel.decisions.notice import harmless, kinds, lifecycle_action, probe
from evenkeel.decisions.notice.event import (
    EC2,
    Event,
    Reading,
    Understood,
    Unknown,
)
from evenkeel.decisions.notice.fields import Fields
from evenkeel.errors import MalformedNoticeError, UnreadableError
from evenkeel.model.decoding import decoded


def read_json(text: str | bytes, *, lifecycle_hook: str = "", replay_source: str = "") -> Reading:
    """Read a message as ``read`` does, without its envelope. Raises MalformedNoticeError."""
    try:
        value = decoded(object, text)
    except UnreadableError as error:
        raise MalformedNoticeError("event", f"is no JSON: {error}") from error
    return _read(_unwrapped(Fields(value)), lifecycle_hook, replay_source)


def read(value: object, *, lifecycle_hook: str = "", replay_source: str = "") -> Reading:
    """Read a decoded event of EventBridge. Raises MalformedNoticeError.

    ``lifecycle_hook`` is the name of the lifecycle hook that is heeded; empty: none is. Events of
    ``replay_source`` are read as if AWS had sent them; empty: there is no such source.
    """
    return _read(Event.read(Fields(value)), lifecycle_hook, replay_source)


def _read(event: Event, lifecycle_hook: str, replay_source: str) -> Reading:
    if replay_source and event.source == replay_source:
        event = _as_given(event)
    kind = kinds.of_event(event.source, event.detail_type)
    if kind is not None:
        return _heeded(kind.parse(event), event, lifecycle_hook)
    known = probe.find(event) or harmless.find(event)
    if known is not None:
        return known
    return Unknown(event_id=event.event_id, source=event.source, detail_type=event.detail_type)


def _unwrapped(fields: Fields) -> Event:
    """The event of a message. What Auto Scaling sends by itself is an event's detail alone."""
    if "TopicArn" in fields:
        fields = fields.document("Message")
    if "AutoScalingGroupName" not in fields:
        return Event.read(fields)
    kind = lifecycle_action.KIND
    said = fields.text("Event" if "Event" in fields else "LifecycleTransition")
    return Event(
        event_id=fields.text("RequestId"),
        source=kind.source,
        detail_type=kind.detail_type if said == lifecycle_action.TRANSITION else said,
        time=fields.time("Time"),
        detail=fields,
    )


def _heeded(reading: Reading, event: Event, lifecycle_hook: str) -> Reading:
    """The same reading; harmless if it waits for a lifecycle hook of somebody else's."""
    hook = reading.notice.hook if isinstance(reading, Understood) else None
    if hook is None or hook.name == lifecycle_hook:
        return reading
    return event.harmless(f"the lifecycle hook {hook.name} is not Evenkeel's")


def _as_given(event: Event) -> Event:
    """A replayed event as AWS gave it: PutEvents takes no source of AWS."""
    kind = kinds.of_detail_type(event.detail_type)
    return replace(event, source=EC2 if kind is None else kind.source)
