"""EC2 takes a spot instance back.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html
"""

from typing import Final

from evenkeel.decisions.notice.event import EC2, Event, Understood
from evenkeel.decisions.notice.kind import EventKind
from evenkeel.model.notice import LEAD, Concern, InstanceAction, Notice, NoticeKind
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words


def parse(event: Event) -> Understood:
    """A stop or termination two minutes after the event, a hibernation that begins with it.

    Raises MalformedNoticeError.
    """
    instance_id = event.detail.instance_id("instance-id")
    action, warning = event.detail.action()
    at = event.time if action is InstanceAction.HIBERNATE else event.time + LEAD
    loss = KIND.notice(event, NoticeKind.INTERRUPTION, instance_id, at, action=action)
    return Understood(notices=(loss,), warning=warning)


def announce(notice: Notice) -> str:
    """What the warning says."""
    return (
        f"EC2 takes instance {notice.instance_id} back"
        f" ({notice.action} at {in_words(notice.deadline)})"
    )


KIND: Final = EventKind(
    name=NoticeKind.INTERRUPTION,
    source=EC2,
    detail_type="EC2 Spot Instance Interruption Warning",
    concerns=Concern.SPOT,
    parse=parse,
    reason=Reason.SPOT_INTERRUPTION,
    announce=announce,
    brief="is interrupted",
)
