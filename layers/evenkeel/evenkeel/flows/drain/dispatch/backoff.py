"""Objects that refused a write, and from when on it may be tried again."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

FIRST_RETRY = timedelta(milliseconds=200)
LAST_RETRY = timedelta(seconds=2)
"""A refused write is tried again after the first, twice as long each time up to the last."""

AFTER_AN_ERROR = timedelta(seconds=5)
"""How long a write waits that the API server will hardly accept soon, such as a forbidden one."""

_ANY_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class _Rest:
    """Before ``until`` nothing is written, before ``held_until`` nothing but a forced eviction."""

    delay: timedelta = timedelta()
    until: datetime = _ANY_TIME
    held_until: datetime = _ANY_TIME


class Backoff:
    """The objects whose last write was refused, by uid."""

    def __init__(self) -> None:
        self._rests: dict[str, _Rest] = {}

    def may_write(self, uid: str, now: datetime, *, forced: bool) -> bool:
        """Whether the object does not rest. A budget's refusal does not hold a forced eviction."""
        rest = self._rests.get(uid)
        return rest is None or (now >= rest.until and (forced or now >= rest.held_until))

    def next_at(self, now: datetime) -> datetime | None:
        """When the next object has rested enough; None if none rests."""
        ends = (end for rest in self._rests.values() for end in (rest.until, rest.held_until))
        return min((end for end in ends if end > now), default=None)

    def has_retried(self, uid: str) -> bool:
        """Whether a write to the object was put off before, and none was accepted since."""
        return uid in self._rests and self._rests[uid].delay > timedelta()

    def rest(self, uid: str, until: datetime) -> None:
        """Let the object rest until then."""
        self._of(uid).until = until

    def retry(self, uid: str, now: datetime) -> None:
        """Let the object rest: twice as long as the last time."""
        self._of(uid).until = now + self._next_delay(uid)

    def hold(self, uid: str, now: datetime) -> None:
        """A budget refused: as ``retry``, but for a forced eviction."""
        self._of(uid).held_until = now + self._next_delay(uid)

    def forget(self, uid: str) -> None:
        """The object took a write."""
        self._rests.pop(uid, None)

    def _of(self, uid: str) -> _Rest:
        return self._rests.setdefault(uid, _Rest())

    def _next_delay(self, uid: str) -> timedelta:
        rest = self._of(uid)
        rest.delay = min(max(FIRST_RETRY, rest.delay * 2), LAST_RETRY)
        return rest.delay
