"""What became of each node, by the records about it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.model.reasons import Reason
from evenkeel_cli.history.cutting import is_mark

SHORT: Final = timedelta(seconds=60)
"""A notice that comes later than this before its deadline leaves little time."""


class NodeAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about one node, and when it was to end.

    ``kind`` is the reason of its mark, for instance SpotInterruption, and empty if the mark is not
    in the log; ``noticed_at`` is when it was marked first, and ``off_at`` when its instance was
    seen to be off. ``pods`` are how many pods of it were decided about, ``late`` how many of these
    were late.
    """

    name: str
    kind: str = ""
    noticed_at: datetime | None = None
    deadline: datetime | None = None
    off_at: datetime | None = None
    steps: Sequence[DecisionRecord] = ()
    pods: int = 0
    late: int = 0

    @property
    def leaves_time(self) -> bool | None:
        """Whether its notice came in time for a handover; None if no notice is known."""
        if self.noticed_at is None or self.deadline is None:
            return None
        return self.deadline - self.noticed_at >= SHORT

    @property
    def over_at(self) -> datetime | None:
        """When it ended: when that was seen, else at its deadline."""
        return self.off_at or self.deadline


def of(name: str, story: Sequence[DecisionRecord]) -> NodeAccount:
    """The account of one, but for its pods."""
    marks = [each for each in story if is_mark(each)]
    return NodeAccount(
        name=name,
        kind=marks[-1].reason if marks else "",
        noticed_at=marks[0].time if marks else None,
        deadline=marks[-1].until if marks else None,
        off_at=next((each.time for each in story if each.reason == Reason.INSTANCE_OFF), None),
        steps=story,
    )
