"""Whether it is an interruption that leaves a workload fewer pods than wanted."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.model.pod_count import PodCount

APART: Final = timedelta(seconds=2)
"""A count may be told so long after the pods of which it tells were told to go, or before that."""


def begins_dip(last: PodCount | None, count: PodCount, went_at: datetime | None) -> bool:
    """Whether a count that is low is low because pods went, the last of them at ``went_at``.

    ``last``: the count before it. Fewer are available than then, and some went since. Else it was
    short before, or others took pods, or more are wanted.
    """
    if went_at is None or count.available is None:
        return False
    since = count.at if last is None else last.at
    before = None if last is None else last.available
    is_less = (count.wanted if before is None else before) > count.available
    return is_less and went_at >= since - APART
