"""The kinds of event of which notices come: one line each, for the module that states it."""

from typing import Final

from evenkeel.decisions.notice import (
    capacity_reservation,
    interruption_warning,
    lifecycle_action,
    rebalance_recommendation,
    scheduled_change,
    state_change,
)
from evenkeel.decisions.notice.kind import EventKind

KINDS: Final[tuple[EventKind, ...]] = (
    interruption_warning.KIND,
    rebalance_recommendation.KIND,
    state_change.KIND,
    capacity_reservation.KIND,
    scheduled_change.KIND,
    lifecycle_action.KIND,
)

_BY_EVENT: Final = {(kind.source, kind.detail_type): kind for kind in KINDS}
_BY_DETAIL_TYPE: Final = {kind.detail_type: kind for kind in KINDS}


def of_event(source: str, detail_type: str) -> EventKind | None:
    """The kind of an event, None if notices come of none of this source and detail-type."""
    return _BY_EVENT.get((source, detail_type))


def of_detail_type(detail_type: str) -> EventKind | None:
    """The kind of a replayed event, whose source says nothing."""
    return _BY_DETAIL_TYPE.get(detail_type)
