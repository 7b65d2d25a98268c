"""A spot instance is at an elevated risk of interruption; it may well live on.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html
"""

from typing import Final

from evenkeel.decisions.notice.event import EC2, Event, Rules, Understood
from evenkeel.model.notice import Concern, Notice, NoticeKind

SOURCE: Final = EC2
DETAIL_TYPE: Final = "EC2 Instance Rebalance Recommendation"
CONCERNS: Final = Concern.SPOT


def parse(event: Event, rules: Rules) -> Understood:
    """A hint that expires. Raises MalformedNoticeError."""
    return Understood(
        notice=Notice(
            kind=NoticeKind.REBALANCE,
            concerns=CONCERNS,
            event_id=event.event_id,
            instance_id=event.detail.instance_id("instance-id"),
            time=event.time,
            deadline=event.time + rules.rebalance_expiry,
        )
    )
