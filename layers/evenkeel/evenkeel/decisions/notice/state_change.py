"""An instance, spot or not, changes its state.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-lifecycle.html
"""

from typing import Final

from evenkeel.decisions.notice.event import EC2, Event, Harmless, Understood
from evenkeel.decisions.notice.kind import EventKind
from evenkeel.model.notice import Concern, InstanceAction, NoticeKind
from evenkeel.model.reasons import Reason

LOSING: Final = {
    "stopping": InstanceAction.STOP,
    "stopped": InstanceAction.STOP,
    "shutting-down": InstanceAction.TERMINATE,
    "terminated": InstanceAction.TERMINATE,
}
"""States in which a node is going or gone; a hibernation passes through stopping too."""

LIVING: Final = frozenset({"pending", "running"})


def parse(event: Event) -> Understood | Harmless:
    """A loss that happens now, or a start. Raises MalformedNoticeError."""
    instance_id = event.detail.instance_id("instance-id")
    state = event.detail.text("state").lower()
    if state in LIVING:
        return event.harmless(f"instance {instance_id} is {state}: no node is lost")
    if state not in LOSING:
        known = ", ".join([*sorted(LIVING), *LOSING])
        raise event.detail.malformed("state", f"should be one of {known}, but is {state!r}")
    action = LOSING[state]
    loss = KIND.notice(event, NoticeKind.STATE_CHANGE, instance_id, event.time, action=action)
    return Understood(notices=(loss,))


KIND: Final = EventKind(
    name=NoticeKind.STATE_CHANGE,
    source=EC2,
    detail_type="EC2 Instance State-change Notification",
    concerns=Concern.ENDING,
    parse=parse,
    reason=Reason.INSTANCE_STATE_CHANGE,
    announce=lambda notice: f"instance {notice.instance_id} is going now ({notice.action})",
    brief="is going",
)
