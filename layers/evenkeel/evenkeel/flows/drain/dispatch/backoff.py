"""Objects that refused a write: when it may be tried again, and how often it was in vain."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

FIRST_RETRY: Final = timedelta(milliseconds=200)
LAST_RETRY: Final = timedelta(seconds=10)
"""A refused write is tried again after the first, twice as long each time up to the last: no object
is written in vain more than twelve times in a minute, whatever answers."""

_ANY_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class _Rest:
    """Nothing is written before ``until``; the last ``times`` refusals were of one ``kind``."""

    delay: timedelta = timedelta()
    until: datetime = _ANY_TIME
    kind: type[Exception] | None = None
    times: int = 0


class Backoff:
    """The objects whose last write was refused, by uid.

    Forced evictions, and what takes their place, rest after their own refusals alone.
    """

    def __init__(self) -> None:
        self._rests: dict[tuple[str, bool], _Rest] = {}

    def may_write(self, uid: str, now: datetime, *, forced: bool) -> bool:
        """Whether the object does not rest."""
        rest = self._rests.get((uid, forced))
        return rest is None or now >= rest.until

    def next_at(self, now: datetime) -> datetime | None:
        """When the next object has rested enough; None if none rests."""
        return min((rest.until for rest in self._rests.values() if rest.until > now), default=None)

    def refused(
        self, uid: str, now: datetime, *, forced: bool, at_least: timedelta = FIRST_RETRY
    ) -> None:
        """The object refused a write: it rests, twice as long as the last time."""
        rest = self._rests.setdefault((uid, forced), _Rest())
        rest.delay = min(max(at_least, rest.delay * 2), max(at_least, LAST_RETRY))
        rest.until = now + rest.delay

    def in_vain(self, uid: str, kind: type[Exception], *, forced: bool) -> int:
        """No other write came before the one that was refused; how often in a row it was so."""
        rest = self._rests.setdefault((uid, forced), _Rest())
        rest.times = rest.times + 1 if rest.kind is kind else 1
        rest.kind = kind
        return rest.times

    def forget(self, uid: str) -> None:
        """The object took a write."""
        for forced in (False, True):
            self._rests.pop((uid, forced), None)
