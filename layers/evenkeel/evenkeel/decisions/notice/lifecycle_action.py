"""An Auto Scaling group is about to terminate an instance, and waits for a lifecycle hook.

The event does not say for how long: the hook does. Of all hooks one is heeded, by its name (see
``reading``), because others are somebody else's to complete, as those of managed node groups are.

https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-event-reference.html
"""

import re
from datetime import timedelta
from typing import Final

from evenkeel.decisions.notice.event import Event, Understood
from evenkeel.decisions.notice.kind import EventKind
from evenkeel.model.hook import Hook
from evenkeel.model.notice import Concern, Notice, NoticeKind
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

TOKEN: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
TRANSITION: Final = "autoscaling:EC2_INSTANCE_TERMINATING"

LONGEST_WAIT: Final = timedelta(hours=1)
"""A termination waits no longer, where its hook's own limit is not shorter. A pod that still runs
then has had the longest grace period that is in use, and the instance costs money."""


def parse(event: Event) -> Understood:
    """A loss by the longest time that any hook is waited for. Raises MalformedNoticeError."""
    detail = event.detail
    hook = Hook(
        group=detail.text("AutoScalingGroupName"),
        name=detail.text("LifecycleHookName"),
        token=detail.text("LifecycleActionToken"),
    )
    if not TOKEN.fullmatch(hook.token):
        problem = f"should be a UUID, but is {hook.token!r}"
        raise detail.malformed("LifecycleActionToken", problem)
    transition = detail.text("LifecycleTransition")
    if transition != TRANSITION:
        problem = f"should be {TRANSITION}, but is {transition!r}"
        raise detail.malformed("LifecycleTransition", problem)
    instance_id, end = detail.instance_id("EC2InstanceId"), event.time + LONGEST_WAIT
    loss = KIND.notice(event, NoticeKind.INTERRUPTION, instance_id, end, hook=hook)
    return Understood(notices=(loss,))


def announce(notice: Notice) -> str:
    """What the event says."""
    group = "" if notice.hook is None else f" {notice.hook.group}"
    return (
        f"the Auto Scaling group{group} terminates instance {notice.instance_id}"
        f" by {in_words(notice.deadline)}"
    )


KIND: Final = EventKind(
    name="lifecycle-action",
    source="aws.autoscaling",
    detail_type="EC2 Instance-terminate Lifecycle Action",
    concerns=Concern.ANY,
    parse=parse,
    reason=Reason.LIFECYCLE_ACTION,
    announce=announce,
    brief="is ended by its Auto Scaling group",
)
