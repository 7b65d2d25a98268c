"""Whether a notice may concern the instance that it names: EC2 says what that is.

Whoever may put messages into the notice queue may name any instance, and a rule or a replay may be
wrong. So a notice is believed only of an instance of which it can be true.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.instance import Instance
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, Notice
from evenkeel.model.times import in_words

LAG: Final = timedelta(seconds=30)
"""So long DescribeInstances may still call an instance running whose state change was announced.

https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
"""


class Unproven(msgspec.Struct, frozen=True):
    """EC2 cannot tell yet: the notice has to come again, until ``until`` if there is one."""

    reason: str
    message: str
    until: datetime | None = None


class Refused(msgspec.Struct, frozen=True):
    """The notice is not true of this instance."""

    reason: str
    message: str


type Doubt = Unproven | Refused


def doubt(
    notice: Notice, instance: Instance | None, node: Node, labels: CapacityLabels, now: datetime
) -> Doubt | None:
    """Why a notice about this node's instance is not believed now; None: it is.

    ``instance`` is None where EC2 does not answer. ``labels`` tell which nodes are spot.
    """
    match notice.concerns:
        case Concern.SPOT:
            return _unless_spot(notice, instance, node, labels)
        case Concern.ENDING:
            return _unless_ending(notice, instance, now)


def _unless_spot(
    notice: Notice, instance: Instance | None, node: Node, labels: CapacityLabels
) -> Doubt | None:
    """EC2's word decides; without it a label of the node does, for two minutes are short."""
    if instance is None:
        if labels.call_spot(node):
            return None
        return _unanswered(f"no label of node {node.name} says that it is spot")
    if instance.is_spot:
        return None
    what = instance.lifecycle or "on-demand"
    message = f"EC2 says that instance {notice.instance_id} is {what}: it interrupts spot alone"
    return Refused("NotSpot", message)


def _unless_ending(notice: Notice, instance: Instance | None, now: datetime) -> Doubt | None:
    """EC2's word alone decides, for which there is time: the instance ends already, or never."""
    if instance is None:
        return _unanswered(f"it cannot confirm that instance {notice.instance_id} ends")
    if not instance.lives:
        return None
    until = notice.time + LAG
    message = f"EC2 says that instance {notice.instance_id} is {instance.state}"
    if now < until:
        return Unproven("InstanceRunning", message, until)
    return Refused("InstanceRunning", f"{message}, also after {in_words(until)}")


def _unanswered(message: str) -> Unproven:
    return Unproven("NoAnswerFromEc2", f"EC2 does not answer, and {message}")
