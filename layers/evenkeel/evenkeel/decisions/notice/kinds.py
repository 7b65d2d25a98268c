"""All kinds of notices: one line for each module that states a kind of event, and the drain.

A node that somebody drains on purpose gets its mark from a command, and from no event.
"""

from collections.abc import Mapping
from typing import Final

from evenkeel.decisions.notice import (
    capacity_reservation,
    interruption_warning,
    lifecycle_action,
    rebalance_recommendation,
    scheduled_change,
    state_change,
)
from evenkeel.decisions.notice.kind import EventKind, Wording
from evenkeel.model.notice import NodeNotice, Notice, NoticeKind
from evenkeel.model.reasons import Reason

KINDS: Final[tuple[EventKind, ...]] = (
    interruption_warning.KIND,
    rebalance_recommendation.KIND,
    state_change.KIND,
    capacity_reservation.KIND,
    scheduled_change.KIND,
    lifecycle_action.KIND,
)

DRAIN: Final = Wording(
    name=NoticeKind.DRAIN,
    reason=Reason.DRAIN_ASKED,
    announce=lambda _: "the node is being drained on purpose",
    brief="is being drained on purpose",
)

_WORDINGS: Final[Mapping[str, Wording]] = {each.name: each for each in (*KINDS, DRAIN)}


def kind_of(detail_type: str, source: str = "") -> EventKind | None:
    """The kind of an event, None if no notices come of it; a replay's ``source`` says nothing."""
    for kind in KINDS:
        if kind.detail_type == detail_type and source in ("", kind.source):
            return kind
    return None


def wording_of(notice: Notice | NodeNotice) -> Wording:
    """The words for a notice; those of what it says where this version does not know its cause."""
    return _WORDINGS.get(notice.name) or _WORDINGS[notice.kind.value]
