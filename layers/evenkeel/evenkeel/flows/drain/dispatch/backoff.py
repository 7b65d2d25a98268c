"""Objects that refused a write: when it may be tried again, and how often it was in vain."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from evenkeel.model.decision import Verb

FIRST_RETRY: Final = timedelta(milliseconds=200)
LAST_RETRY: Final = timedelta(seconds=18)
"""A refused write is tried again after the first, twice as long each time up to the last: nine
times in the first minute. With two releases and a last eviction before it is deleted, no pod is
written in vain more than twelve times in a minute."""

FORGOTTEN_AFTER: Final = timedelta(minutes=5)
"""So long after its last rest nothing is known of an object's refusals any more."""

_ANY_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class _Rest:
    """Nothing is written before ``until``; the last ``times`` refusals were of one ``kind``."""

    delay: timedelta = timedelta()
    until: datetime = _ANY_TIME
    kind: type[Exception] | None = None
    times: int = 0


class Backoff:
    """The objects whose last write was refused, by uid, for each kind of write apart.

    ``verb`` None stands for all that is sent at a pod's last moment. It outlives invocations.
    """

    def __init__(self) -> None:
        self._rests: dict[str, dict[Verb | None, _Rest]] = {}

    def may_write(self, uid: str, verb: Verb | None, now: datetime) -> bool:
        """Whether the object does not rest."""
        rest = self._rests[uid].get(verb) if uid in self._rests else None
        return rest is None or now >= rest.until

    def next_at(self, now: datetime) -> datetime | None:
        """When the next object has rested enough; None if none rests."""
        ends = (rest.until for rests in self._rests.values() for rest in rests.values())
        return min((end for end in ends if end > now), default=None)

    def refused(
        self, uid: str, verb: Verb | None, now: datetime, *, at_least: timedelta = FIRST_RETRY
    ) -> None:
        """The object refused a write: it rests, twice as long as the last time."""
        rest = self._of(uid, verb)
        rest.delay = min(max(at_least, rest.delay * 2), max(at_least, LAST_RETRY))
        rest.until = now + rest.delay

    def in_vain(self, uid: str, verb: Verb | None, kind: type[Exception]) -> int:
        """No other write came before the one that was refused; how often in a row it was so."""
        rest = self._of(uid, verb)
        rest.times = rest.times + 1 if rest.kind is kind else 1
        rest.kind = kind
        return rest.times

    def begin(self, now: datetime) -> None:
        """An invocation begins: what has rested for a while is as good as new."""
        self._rests = {
            uid: rests
            for uid, rests in self._rests.items()
            if any(now < rest.until + FORGOTTEN_AFTER for rest in rests.values())
        }

    def forget(self, uid: str, verb: Verb | None) -> None:
        """The object took such a write."""
        self._rests.get(uid, {}).pop(verb, None)

    def _of(self, uid: str, verb: Verb | None) -> _Rest:
        return self._rests.setdefault(uid, {}).setdefault(verb, _Rest())
