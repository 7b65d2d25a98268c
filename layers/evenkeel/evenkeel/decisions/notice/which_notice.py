"""Whether a notice marks its node.

Which of two notices counts follows from the two, and not from which came first:

- of two notices of the same event the one that was given last counts: AWS has changed it;
- a certain loss counts before a hint, and a hint that becomes certain before one that expires. Of
  two that become certain the one that does so first counts, of two that expire the last;
- a certain loss whose time was past when another warning was given came to nothing: EC2 does not
  warn of an instance that is gone. The other one counts, and no copy of the first brings it back;
- a drain on purpose counts before a recommendation, whenever they end;
- of other certain losses the one with the earlier deadline counts: by then the pods have to be
  gone. The later deadline of a warning is kept beside it. The instance may still be taken then, so
  the mark is lifted only after that, and no copy of the warning brings it back.

So a notice that came before changes nothing. A notice that AWS takes back lifts the mark that it
made, and no other.
"""

from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from evenkeel.decisions.notice import kinds, mark
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.hook import Hook
from evenkeel.model.node import Node
from evenkeel.model.notice import Announcement, NodeNotice, Notice, NoticeKind
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

CROSSING: Final = timedelta(seconds=10)
"""So much later than one end of an instance EC2's events of the same end may be given."""

OUTLIVED_AFTER: Final = timedelta(seconds=60)
"""An instance that EC2 calls running this long after its deadline was not taken.

EC2 announces two minutes and is some seconds late now and then. The handover lifts a mark after
the same time, so a notice that comes again after that does not bring the mark back.
"""


def decide(node: Node, notice: Notice, now: datetime, instance_state: str = "") -> Decision:
    """Mark the node of a notice, or leave it, and why.

    ``instance_state`` is EC2's word for the instance's state, empty if EC2 was not heard. The
    decision's write tests uid and resource version of the node as it was given here.
    """
    if notice.withdrawn:
        return _withdraw(node, notice)
    if notice.is_hint and notice.deadline <= now:
        return _leave(
            node,
            notice,
            Reason.EXPIRED_RECOMMENDATION,
            f"it expired at {in_words(notice.deadline)}",
        )
    if instance_state == "running" and is_past(notice, now):
        return _leave(
            node, notice, Reason.OUTLIVED, f"EC2 says that instance {notice.instance_id} is running"
        )
    present = mark.read(node)
    wanted = merge(node, present, notice, now)
    write = mark.set_mark(node, wanted)
    if write is None:
        return _leave(
            node,
            notice,
            Reason.ALREADY_MARKED,
            f"the node is marked for {wanted.name} until {in_words(wanted.deadline)}",
        )
    return Decision.about(
        node,
        Verb.MARK,
        kinds.wording_of(wanted).reason,
        _announcement(notice, present, wanted),
        until=wanted.deadline,
        warning=not wanted.is_hint,
        write=write,
    )


def is_past(notice: Announcement, now: datetime) -> bool:
    """Whether an instance that is there by now was not taken, or is another one."""
    return now >= notice.lasts_until + OUTLIVED_AFTER


def merge(node: Node, present: NodeNotice | None, notice: Notice, now: datetime) -> NodeNotice:
    """What the node should carry once this notice came, too; ``present`` is what it carries.

    The note that a hint leaves behind drains nothing yet.
    """
    given = NodeNotice(since=notice.time, **notice.announced)
    wanted = given if present is None else _joined(present, given)
    if not node.spec.provider_id:
        wanted = msgspec.structs.replace(wanted, instance_id=notice.instance_id)
    return wanted if wanted.is_hint else mark.drained_for(node, wanted, now)


def _joined(present: NodeNotice, given: NodeNotice) -> NodeNotice:
    """What two notices say together; what was done to the node stays noted."""
    hook = _hook(present, given)
    if (present.name, present.event_id) == (given.name, given.event_id):
        return _counts(max(present, given, key=_age), present, hook=hook)
    first = min(present, given, key=_rank)
    if present.is_hint or given.is_hint:
        return _counts(first, present, hook=hook)
    is_warning = given.kind.is_warning
    if _came_to_nothing(given, present) or (first is present and not is_warning):
        return present
    if is_warning and _came_to_nothing(present, given):
        return _counts(given, present, cordoned_at=None)
    since = max(present.since, given.since)
    last_deadline = _last_deadline(first, present, given)
    return _counts(first, present, hook=hook, since=since, last_deadline=last_deadline)


def _counts(first: NodeNotice, present: NodeNotice, **joined: Any) -> NodeNotice:
    """The mark once ``first`` counts; ``joined`` is what comes of both notices."""
    said = {**first.announced, "since": first.since}
    return msgspec.structs.replace(present, **(said | joined))


def _hook(present: NodeNotice, given: NodeNotice) -> Hook | None:
    """What the group waits for, whichever notice counts: somebody has to let it go on.

    The same one may be over by now. Another one is of another termination, if that one is.
    """
    if present.hook is None or given.hook is None:
        return present.hook or given.hook
    is_another = given.hook.token != present.hook.token
    return given.hook if is_another and present.hook.is_over else present.hook


def _came_to_nothing(notice: NodeNotice, later: NodeNotice) -> bool:
    """Whether the time of a notice was well past when the later one was given."""
    return notice.lasts_until + CROSSING <= later.since


def _rank(notice: NodeNotice) -> tuple[bool, bool, bool, float, str]:
    """Sorts notices: the first one counts. Nothing in it changes when a notice joins the mark."""
    deadline = notice.deadline.timestamp()
    is_drain = notice.kind is NoticeKind.DRAIN
    expires = notice.is_hint and notice.ends_at is None
    return (
        notice.is_hint,
        expires,
        not is_drain,
        -deadline if expires else deadline,
        notice.event_id,
    )


def _age(notice: NodeNotice) -> tuple[datetime, bool, float]:
    """Sorts notices of one event: the last one counts. What has become certain stays certain."""
    return notice.since, not notice.is_hint, -(notice.ends_at or notice.deadline).timestamp()


def _last_deadline(first: NodeNotice, *notices: NodeNotice) -> datetime | None:
    """The latest deadline of a warning, if it is later than that of the first notice.

    A state change is left out: it is believed only of an instance that is ending, and the mark of
    such an instance is not lifted.
    """
    known = [
        notice.lasts_until
        for notice in notices
        if notice.kind.is_warning or notice.last_deadline is not None
    ]
    latest = max(known, default=first.deadline)
    return latest if latest > first.deadline else None


def _announcement(notice: Notice, present: NodeNotice | None, wanted: NodeNotice) -> str:
    if present is not None and wanted == present:
        return f"the node's mark for {wanted.name} was incomplete"
    if wanted.event_id != notice.event_id:
        return (
            f"the node is marked for {wanted.name} until {in_words(wanted.deadline)};"
            f" {notice.name} notice {notice.event_id} names {in_words(notice.deadline)}"
        )
    done = f"noted until {in_words(notice.deadline)}" if notice.is_hint else "cordoned"
    text = f"{kinds.wording_of(notice).announce(notice)}; {done}"
    if present is not None:
        text += f"; this supersedes the {present.name} notice {present.event_id}"
    return text


def _withdraw(node: Node, notice: Notice) -> Decision:
    present = mark.read(node)
    if present is None or (present.name, present.event_id) != (notice.name, notice.event_id):
        return _leave(node, notice, Reason.WITHDRAWN, "AWS takes back what no mark says")
    message = f"AWS takes {notice.name} notice {notice.event_id} back"
    return Decision.about(node, Verb.LIFT, Reason.WITHDRAWN, message, write=mark.unmark(node))


def _leave(node: Node, notice: Notice, reason: Reason, why: str) -> Decision:
    message = f"{notice.name} notice {notice.event_id} changes nothing: {why}"
    return Decision.about(node, Verb.LEAVE, reason, message)
