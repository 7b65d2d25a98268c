"""Evictions that a process does not decide about now: too many are asked for, or nothing is read.

The API server lets an eviction pass to which no answer comes in time. So every one is answered in
time: what cannot be decided by then is told to come back, for as long as others are decided about,
which makes the crowd smaller, and for its patience when none is. One whose pod cannot be read has
its patience for itself: that others are decided about brings it no turn.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Condition
from typing import Final

import msgspec

from evenkeel.ports import Clock

AT_ONCE: Final = 32
"""So many evictions are decided about at the same time in a process, and as many wait for a place.

Others are refused at once.
"""

LONGEST_WAIT: Final = timedelta(seconds=1)
"""How long one waits for its place before it is refused, too."""

SHORTEST, LONGEST = timedelta(seconds=1), timedelta(minutes=2)
"""Bounds of how long an eviction is told to stay away."""

FORGOTTEN: Final = LONGEST + timedelta(minutes=1)
"""An eviction that was refused and not asked for again by then has ended."""

EVERY: Final = timedelta(seconds=1)
"""How often those are looked for."""

UNMEASURED: Final = timedelta(seconds=0.02)
"""How long a process takes for a decision, before one was seen."""

WEIGHT: Final = 32
"""One part in so many of that is the last decision's, the rest those before it."""

SHARE: Final = 2
"""One in so many decisions is about an eviction that was told when to come back.

The others are about pods that are released, and evictions that are asked for the first time.
"""

type Key = tuple[str, str]
"""The pod's namespace and name."""


class _Waiting(msgspec.Struct):
    """An eviction that is not decided about: since when, and when it was asked for last.

    ``in_turn``: it was looked at, and others are released before it. ``unread_since``: when it
    was first that what it depends on could not be read.
    """

    since: datetime
    last: datetime
    in_turn: bool = False
    unread_since: datetime | None = None


class Refusal(msgspec.Struct, frozen=True):
    """For how long an eviction has used up its patience; when to ask for it again."""

    waited: timedelta
    retry_after: timedelta


class Crowd:
    """The evictions that a process decides about, and those that it refused meanwhile.

    Those come back one after the other, as fast as decisions are seen to be made. Any thread may
    use it.
    """

    def __init__(self, clock: Clock) -> None:
        """Nobody is there yet."""
        self._clock = clock
        self._changed = Condition()
        self._free = AT_ONCE
        self._queued = 0
        self._each_takes = UNMEASURED
        self._waiting: dict[Key, _Waiting] = {}
        self._first: dict[Key, datetime] = {}
        self._last_turn = self._swept_at = self._decided_at = clock.now()

    @contextmanager
    def place(self, key: Key) -> Iterator[bool]:
        """Whether this eviction can be decided about, until the end of the with statement.

        One that goes first waits for that however many others do: its pod takes a part of the
        window.
        """
        with self._changed:
            may_wait = self._queued < AT_ONCE or key in self._first
            self._queued += 1
            patience = LONGEST_WAIT.total_seconds() if may_wait else 0.0
            has_place = self._changed.wait_for(lambda: self._free > 0, patience)
            self._queued -= 1
            self._free -= has_place
        began = self._clock.now()
        try:
            yield has_place
        finally:
            if has_place:
                self._leave(self._clock.now() - began)

    def _leave(self, lasted: timedelta) -> None:
        with self._changed:
            takes = lasted / (AT_ONCE - self._free)
            self._each_takes += (takes - self._each_takes) / WEIGHT
            self._free += 1
            self._changed.notify()

    def is_in_turn(self, key: Key) -> bool:
        """Whether all that this eviction waits for is its turn, as far as is known here."""
        with self._changed:
            waiting = self._waiting.get(key)
            return waiting is not None and waiting.in_turn

    def refuse(self, key: Key, *, unread: bool = False) -> Refusal:
        """Note that this eviction is not decided about now, or cannot be for want of an answer."""
        now = self._clock.now()
        with self._changed:
            self._sweep(now)
            waiting = self._noted(key, now)
            goes_first = key in self._first
            began = max(waiting.since, self._decided_at)
            if unread:
                began = waiting.unread_since = waiting.unread_since or now
        return Refusal(now - began, SHORTEST if goes_first else self.turn_in())

    def decided(self, key: Key, *, in_turn: bool = False, goes_first: bool = False) -> None:
        """An eviction was decided about.

        ``in_turn``: others are released before it. ``goes_first``: it waits for nothing but its
        replacement.
        """
        now = self._clock.now()
        with self._changed:
            self._decided_at = now
            if in_turn:
                waiting = self._noted(key, now)
                waiting.in_turn, waiting.unread_since = True, None
            else:
                self._waiting.pop(key, None)
            if goes_first:
                self._first[key] = now
            else:
                self._first.pop(key, None)

    def _noted(self, key: Key, now: datetime) -> _Waiting:
        waiting = self._waiting.setdefault(key, _Waiting(now, now))
        waiting.last = now
        return waiting

    def turn_in(self) -> timedelta:
        """When the next eviction that has to wait is to come back, after all before it.

        Where they are too many, those that come now are dealt out over the second half again.
        """
        now = self._clock.now()
        with self._changed:
            self._last_turn = max(self._last_turn, now) + SHARE * self._each_takes
            if self._last_turn > now + LONGEST:
                self._last_turn = now + LONGEST / 2
            return max(self._last_turn - now, SHORTEST)

    def _sweep(self, now: datetime) -> None:
        if now - self._swept_at < EVERY:
            return
        self._swept_at = now
        self._waiting = {
            key: each for key, each in self._waiting.items() if now - each.last < FORGOTTEN
        }
        self._first = {key: at for key, at in self._first.items() if now - at < FORGOTTEN}
