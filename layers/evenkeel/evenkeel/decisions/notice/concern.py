"""Whether a notice may concern the instance that it names: EC2 says what that is.

All who may put messages into the notice queue may name any instance, and a rule or a replay may be
wrong. So a notice is believed only of an instance of which it can be true.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.instance import Instance
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, Notice
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

LAG: Final = timedelta(seconds=30)
"""So long DescribeInstances may still call an instance running whose state change was announced.

https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
"""


class Unproven(msgspec.Struct, frozen=True):
    """EC2 cannot tell yet: the notice has to come again, until ``until`` if there is one."""

    reason: Reason
    message: str
    until: datetime | None = None


class Refused(msgspec.Struct, frozen=True):
    """The notice is not true of this instance."""

    reason: Reason
    message: str


type Doubt = Unproven | Refused


def doubt(
    notice: Notice, instance: Instance | None, node: Node, labels: CapacityLabels, now: datetime
) -> Doubt | None:
    """Why a notice about this node's instance is not believed now; None: it is.

    ``instance`` is None where EC2 does not answer. ``labels`` tell which nodes are spot.
    """
    if instance is not None:
        return _RULES[notice.concerns](notice, instance, now)
    # A warning about spot leaves two minutes. Any other is true of too many to go by labels.
    if notice.concerns is Concern.SPOT and labels.call_spot(node):
        return None
    message = f"EC2 does not answer: nothing is known of instance {notice.instance_id}"
    return Unproven(Reason.NO_ANSWER_FROM_EC2, message)


def _unless_spot(notice: Notice, instance: Instance, _now: datetime) -> Doubt | None:
    if instance.is_spot:
        return None
    what = instance.lifecycle or "on-demand"
    message = f"EC2 says that instance {notice.instance_id} is {what}: it interrupts only spot"
    return Refused(Reason.NOT_SPOT, message)


def _unless_ending(notice: Notice, instance: Instance, now: datetime) -> Doubt | None:
    if not instance.lives:
        return None
    until = notice.time + LAG
    message = f"EC2 says that instance {notice.instance_id} is {instance.state}"
    if now < until:
        return Unproven(Reason.INSTANCE_RUNNING, message, until)
    return Refused(Reason.INSTANCE_RUNNING, f"{message}, also after {in_words(until)}")


def _unless_reserved(notice: Notice, instance: Instance, _now: datetime) -> Doubt | None:
    if instance.is_reserved:
        return None
    message = f"EC2 says that instance {notice.instance_id} runs in no reserved capacity"
    return Refused(Reason.NOT_RESERVED, message)


_RULES: Final = {
    Concern.SPOT: _unless_spot,
    Concern.ENDING: _unless_ending,
    Concern.RESERVED: _unless_reserved,
    Concern.ANY: lambda *_: None,
}
"""Why a notice is not believed of an instance, by what it may concern."""
