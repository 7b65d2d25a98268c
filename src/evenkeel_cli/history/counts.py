"""The counts of one workload: how long each held, and on whose part the low ones are low.

A count is low from the moment at which pods went, or more were wanted, up to the count that is not.
What went in that moment says whose dip it is. Where nothing that is known went, others than
Evenkeel took the pods, or they failed. Which dip is the interruption's its account says.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import zip_longest
from typing import NamedTuple

from msgspec.structs import asdict, replace

from evenkeel.decisions.interruption.account import APART, Level, is_less, is_taken
from evenkeel.model.interruption import Dip
from evenkeel.model.pod_count import PodCount


class Cause(StrEnum):
    """On whose part a workload has fewer pods than are wanted, or a pod had to go."""

    STORM = "the interruption"
    RESTORE = "restore's moves"
    ASKED = "evictions that others asked for"
    ROLLOUT = "a rollout"
    SCALED = "more replicas were asked for"
    OTHERS = "pods that others took, or that failed"
    BEFORE = "it was short before"


class Count(PodCount, frozen=True, kw_only=True):
    """How many pods of a workload were available from then on, of how many wanted.

    ``until`` the next count, or None: after the last count of an interruption it is not known how
    long it held. ``is_open``: it is not known what came after it. ``cause`` of one that is low.
    """

    until: datetime | None = None
    is_open: bool = False
    cause: Cause | None = None

    @property
    def is_others(self) -> bool:
        """Whether it is low, and the interruption has no part in that."""
        return self.cause not in {None, Cause.STORM}

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
    counts: Sequence[PodCount], span: Span, departures: Mapping[Cause, Sequence[datetime]]
) -> tuple[Sequence[Count], Dip | None]:
    """The counts of one workload, in order, and how low the interruption brought it.

    ``departures``: when pods of it went, on which part. The first count may come after that.
    """
    level = Level()
    found = list[Count]()
    for count, following in zip_longest(counts, counts[1:]):
        then = span.until if following is None else following.at
        went = {
            cause: max((each for each in times if each <= count.at + APART), default=None)
            for cause, times in departures.items()
        }
        level = replace(level, went_at=went.get(Cause.STORM)).add(count)
        is_last = then is None or any(count.at <= end < then for end in span.ends)
        cause = Cause.STORM if level.is_low else None
        if count.is_low and not level.is_low:
            cause = _on_others_part(found[-1] if found else None, count, went)
        until = None if is_last else then
        is_open = until is None or (following is not None and following.available is None)
        found.append(Count(**asdict(count), until=until, is_open=is_open, cause=cause))
    return found, level.dip


def _on_others_part(
    last: Count | None, count: PodCount, went: Mapping[Cause, datetime | None]
) -> Cause:
    """On whose part a count is low: pods went since the last count, or that was low already."""
    took = (cause for cause in Cause if is_taken(last, count, went.get(cause)))
    if (cause := next(took, None)) is not None:
        return cause
    if last is None:
        return Cause.BEFORE
    if last.available is None:
        return Cause.ROLLOUT
    if last.cause is not None:
        return last.cause
    return Cause.OTHERS if is_less(last, count) else Cause.SCALED
