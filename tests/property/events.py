"""EC2's events, and what EC2 then does."""

import json
from datetime import datetime, timedelta
from typing import Final

from evenkeel_sandbox.simulator.api.objects import stamp
from tests.property.manifests import instance_id
from tests.property.scenes import IMPOSTOR, STRANGER, News, NoticePlan

STRANGERS_ID: Final = "i-000000000000badba"
IMPOSTORS_ID: Final = "i-0000000000000beef"
WARNED: Final = (News.TERMINATE, News.STOP, News.HIBERNATE)
LAST_STATE: Final = {News.STOP: "stopped", News.HIBERNATE: "stopped"}

TAKING: Final = timedelta(seconds=3)
"""How long an instance lives on of which EC2 says that it goes now."""


def instance_of(notice: NoticePlan) -> str:
    """The id of the instance that a notice is about."""
    others = {STRANGER: STRANGERS_ID, IMPOSTOR: IMPOSTORS_ID}
    return others.get(notice.node) or instance_id(notice.node)


def event(number: int, notice: NoticePlan, began_at: datetime) -> str:
    """The event as EventBridge puts it into the queue. Its time is in whole seconds."""
    if notice.news in WARNED:
        detail_type = "EC2 Spot Instance Interruption Warning"
        detail = {"instance-action": notice.news.value}
    elif notice.news is News.REBALANCE:
        detail_type, detail = "EC2 Instance Rebalance Recommendation", {}
    else:
        detail_type = "EC2 Instance State-change Notification"
        detail = {"state": "shutting-down"}
    return json.dumps(
        {
            "version": "0",
            "id": f"event-{number}",
            "detail-type": detail_type,
            "source": "aws.ec2",
            "account": "123456789012",
            "time": stamp(began_at + timedelta(seconds=notice.said)),
            "region": "eu-central-1",
            "resources": [],
            "detail": {"instance-id": instance_of(notice), **detail},
        }
    )


def deadline(notice: NoticePlan, began_at: datetime) -> datetime | None:
    """When the node is lost, counted from the event's whole seconds; None for a hint."""
    if notice.deadline is None:
        return None
    said = (began_at + timedelta(seconds=notice.said)).replace(microsecond=0)
    return said + timedelta(seconds=notice.deadline - notice.said)


def taken_at(notice: NoticePlan, began_at: datetime) -> datetime | None:
    """When EC2 switches the machine off; None if it does not."""
    lost = deadline(notice, began_at)
    if lost is None or not notice.obeyed:
        return None
    if notice.news in (News.TERMINATE, News.STOP):
        return max(lost - timedelta(seconds=notice.early), began_at)
    return max(lost, began_at) + TAKING
