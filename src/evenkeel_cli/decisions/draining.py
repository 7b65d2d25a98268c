"""The mark of a node that is drained on purpose: set when a drain begins, lifted when it ends."""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.decisions.notice import mark
from evenkeel.decisions.notice.kinds import DRAIN
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

SHORTEST: Final = timedelta(minutes=1)
LONGEST: Final = timedelta(hours=12)
"""Bounds of the time that a drain may take."""


def begin(node: Node, until: datetime, now: datetime, drain_id: str) -> Decision:
    """Mark a node to be drained until then, and cordon it; or leave it, and why.

    ``drain_id`` tells one drain from another. A node with a drain's mark takes the new time. One
    with an interruption warning stays as it is: it is drained faster than on purpose. One with a
    scheduled change is drained for that, from now on.
    """
    present = mark.read(node)
    if present is not None and not present.is_hint:
        message = f"it is handed over already, for it dies at {in_words(present.deadline)}"
        return Decision.about(node, Verb.LEAVE, Reason.NODE_DOOMED, message)
    if present is None or (present.cordoned_at is None and present.ends_at is None):
        present = NodeNotice(kind=NoticeKind.DRAIN, event_id=drain_id, deadline=until, since=now)
    notice = msgspec.structs.replace(mark.drained_for(node, present, now), keep_cordon=True)
    if notice.ends_at is None:
        notice = msgspec.structs.replace(
            notice, kind=NoticeKind.DRAIN, event_id=drain_id, deadline=until
        )
    return Decision.about(
        node,
        Verb.MARK,
        DRAIN.reason,
        f"cordoned; its pods are handed over until {in_words(notice.deadline)}",
        until=notice.deadline,
        write=mark.set_mark(node, notice),
    )


def end(node: Node, drain_id: str) -> Decision | None:
    """Lift the mark of this drain and keep the cordon; None if the node carries another or none."""
    present = mark.read(node)
    if present is None or present.event_id != drain_id:
        return None
    message = "nothing is left to hand over; the cordon stays"
    return Decision.about(node, Verb.LIFT, Reason.DRAINED, message, write=mark.unmark(node))
