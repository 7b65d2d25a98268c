"""Whether a notice may concern the instance that it names: EC2 says what that is.

All who may put messages into the notice queue may name any instance, and a rule or a replay may be
wrong. So a notice is believed only of an instance of which it can be true.
"""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.notice.result import Again, Done, Result
from evenkeel.decisions.notice.which_notice import is_past
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.instance import Instance
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, Notice
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

LAG: Final = timedelta(seconds=30)
"""So long DescribeInstances may still say what was true before the event.

https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
"""


def doubt(
    notice: Notice, instance: Instance | None, node: Node, labels: CapacityLabels, now: datetime
) -> Result | None:
    """What becomes of a notice that is not believed of this node's instance now; None: it is.

    It comes again while EC2 cannot tell yet. What is not true of the instance is refused, with a
    warning on the node. ``instance`` is None where EC2 does not answer. ``labels`` tell which nodes
    are spot.

    A node's label stands in for EC2 only while the notice's time lasts. An old one may come out of
    the dead letters, and the instance that lived on is not to be drained for it.
    """
    if instance is not None and (instance.is_listed or notice.concerns is Concern.ANY):
        return _contradicted(notice, instance, node, now)
    # A warning about spot leaves two minutes. Any other is true of too many to go by labels.
    by_label = notice.concerns is Concern.SPOT and labels.call_spot(node)
    if by_label and not is_past(notice, now):
        return None
    if instance is not None:
        message = f"EC2 does not list instance {notice.instance_id}"
        return _until_certain(notice, node, Reason.INSTANCE_UNLISTED, message, now)
    message = f"EC2 does not answer: nothing is known of instance {notice.instance_id}"
    return Again(Reason.NO_ANSWER_FROM_EC2, message)


def _contradicted(notice: Notice, instance: Instance, node: Node, now: datetime) -> Result | None:
    """What becomes of a notice of which EC2's word for the instance says that it is not true."""
    says = f"EC2 says that instance {notice.instance_id}"
    match notice.concerns:
        case Concern.SPOT if not instance.is_spot:
            what = instance.lifecycle or "on-demand"
            message = f"{says} is {what}: it interrupts only spot"
            return _refused(notice, node, Reason.NOT_SPOT, message)
        case Concern.ENDING if instance.lives:
            message = f"{says} is {instance.state}"
            return _until_certain(notice, node, Reason.INSTANCE_RUNNING, message, now)
        case Concern.RESERVED if not instance.is_reserved:
            message = f"{says} runs in no reserved capacity"
            return _refused(notice, node, Reason.NOT_RESERVED, message)
    return None


def _until_certain(
    notice: Notice, node: Node, reason: Reason, message: str, now: datetime
) -> Again | Done:
    """It comes again until EC2's answers cannot be old any more, and is refused then."""
    until = notice.time + LAG
    if now < until:
        return Again(reason, message, until=until)
    return _refused(notice, node, reason, f"{message}, also after {in_words(until)}")


def _refused(notice: Notice, node: Node, reason: Reason, message: str) -> Done:
    text = f"{notice.name} notice {notice.event_id} is not believed: {message}"
    decision = Decision.about(node, Verb.ACKNOWLEDGE, reason, text, warning=True)
    return Done(decision, Metric.NOTICES_REFUSED)
