"""Whether a notice marks its node."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.notice import marks
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, Notice, NoticeKind
from evenkeel.model.times import in_words

CROSSING = timedelta(seconds=10)
"""So much later than one end of an instance EC2's events of the same end may be given."""

OUTLIVED_AFTER: Final = timedelta(seconds=60)
"""An instance that EC2 calls running this long after its deadline was not taken.

EC2 promises two minutes and is some seconds late now and then. The handover lifts a mark after
the same time, so a notice that comes again after that does not bring the mark back.
"""

_REASONS: Final = {
    NoticeKind.INTERRUPTION: "SpotInterruption",
    NoticeKind.REBALANCE: "RebalanceRecommendation",
    NoticeKind.STATE_CHANGE: "InstanceStateChange",
}


def mark(node: Node, notice: Notice, now: datetime, instance_state: str = "") -> Decision:
    """Mark the node of a notice, or leave it, and why.

    ``instance_state`` is EC2's word for the instance's state, empty if EC2 was not heard. The
    decision's write tests uid and resource version of the node as it was given here.
    """
    if notice.is_hint and notice.deadline <= now:
        return _leave(
            node, notice, "ExpiredRecommendation", f"it expired at {in_words(notice.deadline)}"
        )
    if has_outlived(notice, now, instance_state):
        return _leave(
            node, notice, "Outlived", f"EC2 says that instance {notice.instance_id} is running"
        )
    present = marks.read(node)
    wanted = merge(node, notice, now)
    write = marks.set_mark(node, wanted)
    if write is None:
        return _leave(
            node,
            notice,
            "AlreadyMarked",
            f"the node is marked for {wanted.kind} until {in_words(wanted.deadline)}",
        )
    return Decision(
        verb=Verb.MARK,
        subject=node.reference,
        node=node.name,
        reason=_REASONS[wanted.kind],
        message=_announcement(notice, present, wanted),
        until=wanted.deadline,
        warning=not wanted.is_hint,
        write=write,
    )


def has_outlived(notice: Notice, now: datetime, instance_state: str) -> bool:
    """Whether a notice came to nothing: its deadline is well past, and the instance runs."""
    return instance_state == "running" and now >= notice.deadline + OUTLIVED_AFTER


def merge(node: Node, notice: Notice, now: datetime) -> NodeNotice:
    """The notice that the node should carry: the given one, or the one that it has.

    A cordon counts as somebody else's if the node had it when Evenkeel first cordoned it;
    the note that a rebalance recommendation leaves behind is no cordon yet.
    """
    present = marks.read(node)
    if present is not None and not supersedes(notice, present, now):
        return present
    cordoned_before = node.spec.unschedulable
    cordoned_at = None if notice.is_hint else now
    if present is not None and present.cordoned_at is not None:
        cordoned_before, cordoned_at = present.cordoned_before, present.cordoned_at
    return NodeNotice(
        kind=notice.kind,
        event_id=notice.event_id,
        deadline=notice.deadline,
        since=notice.time,
        action=notice.action,
        cordoned_before=cordoned_before,
        cordoned_at=cordoned_at,
        excluded=present is not None and present.excluded,
        out_of_service=present is not None and present.out_of_service,
    )


def supersedes(notice: Notice, present: NodeNotice, now: datetime) -> bool:
    """Whether a notice says more than the one that the node carries.

    - A hint replaces only a hint that had expired when the new one was given.
    - A certain loss replaces every hint.
    - Of two certain losses the earlier counts, as long as its time is still to come when the
      other is given.
    - Once the time of the present one has come there is nothing to bring forward. But a
      warning that is given some seconds after the instance should be gone, and whose time is
      still to come, says that EC2 did not do what it had said before. A copy of an older one,
      or one that crossed it, says nothing of the kind.
    """
    if notice.is_hint:
        return present.is_hint and present.deadline <= notice.time
    if present.is_hint:
        return True
    if present.deadline <= now:
        return present.deadline + CROSSING <= notice.time and now < notice.deadline
    return present.since < notice.deadline < present.deadline


def _announcement(notice: Notice, present: NodeNotice | None, wanted: NodeNotice) -> str:
    if present is not None and wanted == present:
        return f"the node's mark for {wanted.kind} was incomplete"
    if notice.is_hint:
        text = (
            f"instance {notice.instance_id} is at an elevated risk of interruption;"
            f" noted until {in_words(notice.deadline)}"
        )
    elif notice.kind is NoticeKind.INTERRUPTION:
        text = (
            f"EC2 takes instance {notice.instance_id} back"
            f" ({notice.action} at {in_words(notice.deadline)}); cordoned"
        )
    else:
        text = f"instance {notice.instance_id} is going now ({notice.action}); cordoned"
    if present is not None:
        text += f"; this supersedes the {present.kind} notice {present.event_id}"
    return text


def _leave(node: Node, notice: Notice, reason: str, why: str) -> Decision:
    return Decision(
        verb=Verb.LEAVE,
        subject=node.reference,
        node=node.name,
        reason=reason,
        message=f"{notice.kind} notice {notice.event_id} changes nothing: {why}",
    )
