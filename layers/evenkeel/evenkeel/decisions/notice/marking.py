"""Whether a notice marks its node.

A node's mark depends on which notices came, and neither on their order nor on how often each came:

- certain losses count before hints;
- of certain losses the one with the earliest deadline counts: until then pods have to be gone;
- the latest deadline of a warning is kept beside it: the instance may still be taken then, so the
  mark is lifted only after that, and no warning that it has seen can bring it back;
- of hints the one that expires last counts.

The smallest of any number of notices, and the latest of their deadlines, are what they are in any
order. So a notice that came before changes nothing.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.decisions.notice import marks
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, Notice, NoticeKind
from evenkeel.model.times import in_words

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
    wanted = merge(node, present, notice, now)
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


def merge(node: Node, present: NodeNotice | None, notice: Notice, now: datetime) -> NodeNotice:
    """What the node should carry once this notice came, too; ``present`` is what it carries.

    A cordon counts as somebody else's if the node had it when Evenkeel first cordoned it;
    the note that a rebalance recommendation leaves behind is no cordon yet.
    """
    wanted = NodeNotice(
        kind=notice.kind,
        event_id=notice.event_id,
        deadline=notice.deadline,
        since=notice.time,
        action=notice.action,
    )
    if present is not None:
        first = min(present, wanted, key=_rank)
        wanted = msgspec.structs.replace(
            present,
            kind=first.kind,
            event_id=first.event_id,
            deadline=first.deadline,
            since=first.since,
            action=first.action,
            last_deadline=_last_deadline(first, present, wanted),
        )
    if wanted.is_hint or wanted.cordoned_at is not None:
        return wanted
    return msgspec.structs.replace(wanted, cordoned_before=node.spec.unschedulable, cordoned_at=now)


def _rank(notice: NodeNotice) -> tuple[bool, float, datetime, str]:
    """Sorts notices: the first one counts. Of equal ones it is the one that was given first."""
    deadline = notice.deadline.timestamp()
    return (
        notice.is_hint,
        -deadline if notice.is_hint else deadline,
        notice.since,
        notice.event_id,
    )


def _last_deadline(first: NodeNotice, *notices: NodeNotice) -> datetime | None:
    """The latest deadline of a warning, if it is later than that of the first notice.

    A state change is left out: it is believed only of an instance that is ending, and the mark of
    such an instance is not lifted.
    """
    known = [
        notice.last_deadline or notice.deadline
        for notice in notices
        if notice.kind is NoticeKind.INTERRUPTION or notice.last_deadline is not None
    ]
    latest = max(known, default=first.deadline)
    return latest if latest > first.deadline else None


def _announcement(notice: Notice, present: NodeNotice | None, wanted: NodeNotice) -> str:
    if present is not None and wanted == present:
        return f"the node's mark for {wanted.kind} was incomplete"
    if wanted.event_id != notice.event_id:
        return (
            f"the node is marked for {wanted.kind} until {in_words(wanted.deadline)};"
            f" {notice.kind} notice {notice.event_id} names {in_words(notice.deadline)}"
        )
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
