"""A spot instance is at an elevated risk of interruption; it may well live on.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html
"""

from datetime import timedelta
from typing import Final

from evenkeel.decisions.notice.event import EC2, Event, Understood
from evenkeel.decisions.notice.kind import EventKind
from evenkeel.model.notice import Concern, NoticeKind
from evenkeel.model.reasons import Reason

EXPIRY: Final = timedelta(minutes=15)
"""How long a recommendation counts. EC2 takes none back, and a node that lives on is used again."""


def parse(event: Event) -> Understood:
    """A hint that expires. Raises MalformedNoticeError."""
    instance_id = event.detail.instance_id("instance-id")
    hint = KIND.notice(event, NoticeKind.REBALANCE, instance_id, event.time + EXPIRY)
    return Understood(notices=(hint,))


KIND: Final = EventKind(
    name=NoticeKind.REBALANCE,
    source=EC2,
    detail_type="EC2 Instance Rebalance Recommendation",
    concerns=Concern.SPOT,
    parse=parse,
    reason=Reason.REBALANCE_RECOMMENDATION,
    announce=lambda notice: f"instance {notice.instance_id} is at an elevated risk of interruption",
    brief="is at risk (rebalance recommendation)",
)
