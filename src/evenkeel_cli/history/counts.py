"""The counts of one workload: how long each held, and on whose part the low ones are low.

A count is low from the moment at which pods went, or more were wanted, up to the count that is not.
What went in that moment says whose dip it is. Where nothing that is known went, others than
Evenkeel took the pods, or they failed.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

import msgspec

from evenkeel.adapters.telemetry.decision_log import CountRecord
from evenkeel.decisions.interruption.whose import APART


class Cause(StrEnum):
    """On whose part a workload has fewer pods than are wanted, or a pod had to go."""

    STORM = "the interruption"
    RESTORE = "restore's moves"
    ASKED = "evictions that others asked for"
    ROLLOUT = "a rollout"
    SCALED = "more replicas were asked for"
    OTHERS = "pods that others took, or that failed"
    BEFORE = "it was short before"


class Departure(NamedTuple):
    """A pod of the workload went then, on this part."""

    at: datetime
    cause: Cause


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many pods of a workload were available from then on, of how many wanted.

    ``available`` None: that is not known. ``until`` the next count, or None: after the last count
    of an interruption it is not known how long it held. ``cause`` of one that is low.
    """

    at: datetime
    available: int | None
    wanted: int
    until: datetime | None = None
    cause: Cause | None = None

    @property
    def is_low(self) -> bool:
        """Whether fewer pods were available than wanted."""
        return self.available is not None and self.available < self.wanted

    @property
    def is_zero(self) -> bool:
        """Whether pods were wanted and none was available."""
        return self.available == 0 < self.wanted

    @property
    def lasts(self) -> timedelta:
        """How long it held, as far as is known."""
        return self.until - self.at if self.until is not None else timedelta()


class Span(NamedTuple):
    """When the interruptions end that counts are of; ``until`` when the last count held, if known.

    A count holds until the next one of the same interruption.
    """

    ends: Sequence[datetime] = ()
    until: datetime | None = None


def of(
    records: Sequence[CountRecord], span: Span, departures: Iterable[Departure]
) -> Sequence[Count]:
    """The counts of one workload, in order."""
    departures = list(departures)
    following = [*(record.time for record in records[1:]), span.until]
    found = list[Count]()
    for record, then in zip(records, following, strict=False):
        last = found[-1] if found else None
        is_last = then is None or any(record.time <= end < then for end in span.ends)
        count = Count(
            at=record.time,
            available=record.available,
            wanted=record.wanted,
            until=None if is_last else then,
        )
        cause = _cause(last, count, departures) if count.is_low else None
        found.append(msgspec.structs.replace(count, cause=cause))
    return found


def _cause(last: Count | None, count: Count, departures: Iterable[Departure]) -> Cause:
    """Whose a low count is: whoever took pods since the last one, else who had made that low.

    The first count that there is may come after the pods went.
    """
    since = count.at if last is None else last.at
    took = {each.cause for each in departures if since - APART <= each.at <= count.at + APART}
    is_less = last is None or (last.available or count.wanted) > (count.available or 0)
    if last is not None and last.cause is Cause.STORM:
        return Cause.STORM
    if is_less and took:
        return min(took, key=list(Cause).index)
    if last is None:
        return Cause.BEFORE
    if last.available is None:
        return Cause.ROLLOUT
    if last.cause is not None:
        return last.cause
    return Cause.OTHERS if is_less else Cause.SCALED
