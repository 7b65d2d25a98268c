"""From a message to what it means.

It is an event of EventBridge, one that SNS passed on, or what EC2 Auto Scaling sends by itself
where a queue is a hook's notification target. It may also be a probe: the stack's own question, put
on the event bus, whether an event still gets to the API server. That comes in by the same rule and
queue as the notices. Its source is the stack's own, so that no other stack's rule lets it through.

https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html
https://docs.aws.amazon.com/autoscaling/ec2/userguide/prepare-for-lifecycle-notifications.html
"""

from dataclasses import replace
from typing import Final

from evenkeel.decisions.notice import kinds, lifecycle_action
from evenkeel.decisions.notice.event import EC2, Event, Fields, Probe, Reading, Understood, Unknown
from evenkeel.errors import MalformedNoticeError, UnreadableError
from evenkeel.model.decoding import decoded

PROBE_SOURCE: Final = "evenkeel.probe/"
"""How the source of a probe begins; the stack's name follows."""

PROBE_TYPE: Final = "Evenkeel Probe"

SCHEDULED: Final = "Scheduled Event"
"""What EventBridge Scheduler and rules with a schedule send, to the functions that they call."""

HARMLESS: Final = {
    (EC2, "EC2 Spot Instance Request Fulfillment"): "an instance was started",
    (EC2, "Capacity Block Expiration Warning"): "EC2 warns of each of its instances",
    (EC2, "Capacity Block Reservation Expiration Warning"): "EC2 warns of each of its instances",
    ("aws.autoscaling", "EC2 Instance Launch Successful"): "an instance was started",
    ("aws.autoscaling", "EC2 Instance Launch Unsuccessful"): "no instance was started",
    ("aws.autoscaling", "EC2 Instance-launch Lifecycle Action"): "an instance is starting",
    ("aws.autoscaling", "autoscaling:EC2_INSTANCE_LAUNCHING"): "an instance is starting",
    ("aws.autoscaling", "autoscaling:TEST_NOTIFICATION"): "a group tries its notification target",
    ("aws.autoscaling", "EC2 Instance Terminate Successful"): (
        "EC2's own state change tells of the same instance, and sooner"
    ),
    ("aws.autoscaling", "EC2 Instance Terminate Unsuccessful"): "the instance lives on",
}
"""Kinds of event that a broad rule lets through and that take no node away, and why not.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-fleet-event-types.html
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html
https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-event-reference.html
"""


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
    ``replay_source`` are read as if AWS had sent them, for PutEvents takes no source of AWS; empty:
    there is no such source.
    """
    return _read(_event(Fields(value)), lifecycle_hook, replay_source)


def _read(event: Event, lifecycle_hook: str, replay_source: str) -> Reading:
    if replay_source and event.source == replay_source:
        kind = kinds.kind_of(event.detail_type)
        event = replace(event, source=EC2 if kind is None else kind.source)
    kind = kinds.kind_of(event.detail_type, event.source)
    if kind is not None:
        reading = kind.parse(event)
        hook = reading.notice.hook if isinstance(reading, Understood) else None
        if hook is None or hook.name == lifecycle_hook:
            return reading
        return event.harmless(f"the lifecycle hook {hook.name} is not Evenkeel's")
    if event.detail_type == PROBE_TYPE and event.source.startswith(PROBE_SOURCE):
        return Probe(event_id=event.event_id)
    why_harmless = HARMLESS.get((event.source, event.detail_type))
    if why_harmless is not None:
        return event.harmless(why_harmless)
    return Unknown(event_id=event.event_id, source=event.source, detail_type=event.detail_type)


def _unwrapped(fields: Fields) -> Event:
    """The event of a message. What Auto Scaling sends by itself is an event's detail alone."""
    if "TopicArn" in fields:
        fields = fields.document("Message")
    if "AutoScalingGroupName" not in fields:
        return _event(fields)
    kind = lifecycle_action.KIND
    said = fields.text("Event" if "Event" in fields else "LifecycleTransition")
    return Event(
        event_id=fields.text("RequestId"),
        source=kind.source,
        detail_type=kind.detail_type if said == lifecycle_action.TRANSITION else said,
        time=fields.time("Time"),
        detail=fields,
    )


def _event(fields: Fields) -> Event:
    """The event with EventBridge's envelope. A schedule's is none for who reads notices."""
    if fields.text_or("detail-type", "") == SCHEDULED:
        problem = "names no instance: it is for the functions handover and restore"
        raise fields.malformed("detail-type", f"is {SCHEDULED!r}, which {problem}")
    return Event.read(fields)
