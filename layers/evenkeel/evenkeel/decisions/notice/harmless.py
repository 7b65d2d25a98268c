"""Kinds of event that a broad rule lets through and that take no node away.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-fleet-event-types.html
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html
https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-event-reference.html
"""

from typing import Final

from evenkeel.decisions.notice.event import EC2, Event, Harmless

REASONS: Final = {
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


def find(event: Event) -> Harmless | None:
    """Why the event is harmless, or None if it is not known to be."""
    message = REASONS.get((event.source, event.detail_type))
    return None if message is None else event.harmless(message)
