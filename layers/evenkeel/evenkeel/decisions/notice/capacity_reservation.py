"""EC2 ends an on-demand instance because its reserved capacity does not last any longer.

An interruptible Capacity Reservation is reclaimed by its owner on two minutes' notice; a Capacity
Block comes to its end. The event names the instance and when it is terminated.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitor-interruptible-cr.html
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html
"""

from typing import Final

from evenkeel.decisions.notice.event import EC2, Event, Understood
from evenkeel.decisions.notice.kind import EventKind
from evenkeel.model.notice import Concern, Notice, NoticeKind
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

TIME: Final = "instance-termination-time"


def parse(event: Event) -> Understood:
    """A loss at the time that the event names. Raises MalformedNoticeError."""
    action, warning = event.detail.action()
    deadline = event.detail.time(TIME)
    instance_id = event.detail.instance_id("instance-id")
    loss = KIND.notice(event, NoticeKind.INTERRUPTION, instance_id, deadline, action=action)
    return Understood(notices=(loss,), warning=warning)


def announce(notice: Notice) -> str:
    """What the warning says."""
    return (
        f"the capacity of instance {notice.instance_id} is reclaimed"
        f" ({notice.action} at {in_words(notice.deadline)})"
    )


KIND: Final = EventKind(
    name="capacity-reservation",
    source=EC2,
    detail_type="EC2 Capacity Reservation Instance Interruption Warning",
    concerns=Concern.RESERVED,
    parse=parse,
    reason=Reason.CAPACITY_RECLAIMED,
    announce=announce,
    brief="loses its reserved capacity",
    times=(TIME,),
)
