"""AWS Health announces that EC2 will stop, retire or reboot instances, often weeks ahead.

One event may name several instances, as ids or as ARNs. It is sent again when it changes, with the
same ARN: with another start, or closed. It often does not say until when the change lasts.

https://docs.aws.amazon.com/health/latest/ug/aws-health-events-eventbridge-schema.html
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instances-status-check_sched.html
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from evenkeel.decisions.notice.event import INSTANCE_ID, Event, Harmless, Understood
from evenkeel.decisions.notice.kind import EventKind
from evenkeel.model.notice import Concern, InstanceAction, Notice, NoticeKind
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

CERTAIN: Final = timedelta(minutes=15)
"""So long before its start the change counts as certain; until then it is a hint."""

ENDS_INSTANCES: Final = re.compile(
    r"AWS_EC2_\w*(RETIREMENT|REBOOT|STOP|TERMINATION|MAINTENANCE)\w*"
)
"""Codes of changes during which instances do not run, or cannot be reached.

Others concern instances, too: a planned lifecycle event says that something of them is deprecated.
"""

TERMINATES: Final = re.compile(r"AWS_EC2_(INSTANCE_RETIREMENT|\w*TERMINATION)\w*")
"""Codes of changes after which an instance does not come back."""

OVER: Final = "closed"
RESOLVED: Final = "RESOLVED"


def parse(event: Event) -> Understood | Harmless:
    """A hint for each instance, that ends at the change's start. Raises MalformedNoticeError.

    What is closed, or resolved for an instance, takes the notice back.
    """
    detail = event.detail
    code = detail.text("eventTypeCode")
    if detail.text("service") != "EC2" or detail.text("eventTypeCategory") != "scheduledChange":
        return event.harmless(f"{code} is no scheduled change of EC2's")
    if not ENDS_INSTANCES.fullmatch(code):
        return event.harmless(f"{code} ends no instance")
    start = detail.http_time("startTime")
    end = detail.http_time("endTime") if "endTime" in detail else start
    is_closed = detail.text_or("statusCode", "") == OVER
    action = InstanceAction.TERMINATE if TERMINATES.fullmatch(code) else InstanceAction.STOP
    notices = tuple(
        KIND.notice(
            event,
            NoticeKind.REBALANCE,
            instance_id,
            start - CERTAIN,
            event_id=detail.text("eventArn"),
            ends_at=start,
            last_deadline=end if end > start else None,
            action=action,
            withdrawn=is_closed or is_resolved,
        )
        for instance_id, is_resolved in dict(_instances(event)).items()
    )
    return (
        Understood(notices=notices)
        if notices
        else event.harmless(f"{code} names no instance{_others(event)}")
    )


def _instances(event: Event) -> Iterator[tuple[str, bool]]:
    """The ids of the instances among what is affected, and whether that is settled."""
    for entity in event.detail.objects("affectedEntities"):
        instance_id = entity.text("entityValue").rpartition(":instance/")[2]
        if INSTANCE_ID.fullmatch(instance_id):
            yield instance_id, entity.text_or("status", "") == RESOLVED


def _others(event: Event) -> str:
    """What it names instead, such as a Dedicated Host: which instances run there is not asked."""
    named = [entity.text("entityValue") for entity in event.detail.objects("affectedEntities")]
    return f", but {named[0]}" if named else ""


def announce(notice: Notice) -> str:
    """What the event says."""
    start = in_words(notice.ends_at or notice.deadline)
    return (
        f"EC2 changes instance {notice.instance_id} on schedule ({notice.action} at {start},"
        f" {notice.event_id})"
    )


KIND: Final = EventKind(
    name="scheduled-change",
    source="aws.health",
    detail_type="AWS Health Event",
    concerns=Concern.ANY,
    parse=parse,
    reason=Reason.SCHEDULED_CHANGE,
    announce=announce,
    brief="has a scheduled change",
    times=("startTime", "endTime"),
)
