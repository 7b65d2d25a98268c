"""A node that somebody drains on purpose: its mark comes from a command, and from no event."""

from typing import Final

from evenkeel.decisions.notice.kind import Wording
from evenkeel.model.notice import NoticeKind
from evenkeel.model.reasons import Reason

WORDING: Final = Wording(
    name=NoticeKind.DRAIN,
    reason=Reason.DRAIN_ASKED,
    announce=lambda _: "the node is being drained on purpose",
    brief="is being drained on purpose",
)
