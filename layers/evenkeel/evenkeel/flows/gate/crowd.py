"""Evictions that a process puts off: which is decided about next, and when the others come back.

The API server lets an eviction pass to which no answer comes in time. So every one is answered in
time: what cannot be decided by then is told to come back. Those of a namespace stand in a line, the
one that was asked for first before the others, and all lines move at the same pace. So an eviction
waits for older ones of its namespace, and for nobody else. Dry runs, and evictions that come back
before their time, are decided about where nobody else waits.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

import msgspec

from evenkeel.flows.gate.eviction import Eviction
from evenkeel.flows.gate.places import Places, may_take
from evenkeel.ports import Clock

SHORTEST, LONGEST = timedelta(seconds=1), timedelta(minutes=2)
"""Bounds of how long an eviction is told to stay away."""

FORGOTTEN: Final = timedelta(minutes=10)
"""An eviction that was not asked for again so long after its time has ended.

Some evictors come back every few minutes only.
"""

EVERY: Final = timedelta(seconds=1)
"""How often those are looked for."""

SHARE: Final = 2
"""One in so many decisions is about an eviction that was told when to come back.

The others are about pods that are released, and evictions that are asked for the first time.
"""

MOST: Final = 2**14
"""So many evictions are remembered. Of others it is only known that they are asked for now."""


class _Waiting(msgspec.Struct):
    """An eviction that was put off: since when, and until when it was told to stay away.

    ``in_turn``: it was looked at, and others are released before it. ``pending``: it was looked at,
    and waits for nobody else. ``unread_since``: when it was first that what it depends on could not
    be read.
    """

    since: datetime
    until: datetime
    in_turn: bool = False
    pending: bool = False
    unread_since: datetime | None = None

    def comes_early(self, now: datetime) -> bool:
        """Whether it was told to stay away for longer, if the clock was not set back."""
        return now < self.until <= now + LONGEST


class _Line(msgspec.Struct):
    """The evictions of a namespace that were put off; until when the last of them stays away."""

    until: datetime
    waiting: dict[str, _Waiting] = {}


class Crowd:
    """The evictions that a process decides about, and those that it put off.

    A dry run leaves nothing behind. Any thread may use it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._places = Places(clock)
        self._lines: dict[str, _Line] = {}
        self._number = 0
        self._swept_at = clock.now()

    def __len__(self) -> int:
        """How many evictions are remembered."""
        return self._number

    @contextmanager
    def place(self, eviction: Eviction) -> Iterator[bool]:
        """Whether this eviction can be decided about, until the end of the with statement."""
        now = self._clock.now()
        with self._lock:
            found = self._found(eviction) or _Waiting(now, now)
            since, comes_last = found.since, eviction.dry_run or found.comes_early(now)
        with self._places.place(eviction.namespace, since, comes_last=comes_last) as has_place:
            yield has_place

    def waited(self, eviction: Eviction) -> timedelta:
        """How long ago it was asked for first, as far as is known here."""
        with self._lock:
            found = self._found(eviction)
            return timedelta() if found is None else self._clock.now() - found.since

    def is_in_turn(self, eviction: Eviction) -> bool:
        """Whether others are released before its pod, as far as is known here."""
        with self._lock:
            found = self._found(eviction)
            return found is not None and found.in_turn

    def put_off(self, eviction: Eviction) -> timedelta:
        """It is not decided about now; in how long it is to be asked for again."""
        with self._noted(eviction) as (line, waiting, now):
            return self._come_back(line, waiting, now)

    def unread(self, eviction: Eviction) -> timedelta:
        """What it depends on cannot be read; for how long that has been so."""
        with self._noted(eviction) as (_, waiting, now):
            waiting.unread_since = waiting.unread_since or now
            return now - waiting.unread_since

    def deferred(self, eviction: Eviction, told: timedelta, *, in_turn: bool) -> timedelta:
        """It was decided about, and waits; in how long it is to be asked for again.

        ``in_turn``: others are released before it. Then it comes back after those before it in its
        line, and no earlier than ``told``.
        """
        with self._noted(eviction) as (line, waiting, now):
            waiting.in_turn, waiting.pending, waiting.unread_since = in_turn, not in_turn, None
            if in_turn:
                return self._come_back(line, waiting, now, told)
            waiting.until = now + told
            return told

    def passed(self, eviction: Eviction) -> None:
        """It has passed."""
        with self._lock:
            line = self._lines.get(eviction.namespace)
            if line is None or eviction.dry_run or eviction.name not in line.waiting:
                return
            del line.waiting[eviction.name]
            self._number -= 1
            if not line.waiting:
                del self._lines[eviction.namespace]

    def _found(self, eviction: Eviction) -> _Waiting | None:
        line = self._lines.get(eviction.namespace)
        return None if line is None else line.waiting.get(eviction.name)

    @contextmanager
    def _noted(self, eviction: Eviction) -> Iterator[tuple[_Line, _Waiting, datetime]]:
        """The eviction and its line, to be changed now; of dry runs, and of too many, copies."""
        with self._lock:
            now = self._clock.now()
            self._sweep(now)
            line = self._lines.get(eviction.namespace) or _Line(now)
            waiting = line.waiting.get(eviction.name) or _Waiting(now, now)
            if eviction.dry_run:
                line, waiting = _Line(line.until), copy(waiting)
            elif eviction.name not in line.waiting and self._remembers_more(line):
                self._lines[eviction.namespace] = line
                line.waiting[eviction.name] = waiting
                self._number += 1
            yield line, waiting, now

    def _remembers_more(self, line: _Line) -> bool:
        return may_take(len(line.waiting), MOST - self._number)

    def _come_back(
        self, line: _Line, waiting: _Waiting, now: datetime, at_least: timedelta = SHORTEST
    ) -> timedelta:
        """When to ask again, in whole seconds: one that comes before its time keeps that.

        Where they are too many, those that come now are dealt out over the second half again.
        """
        if waiting.comes_early(now):
            return _whole(waiting.until - now)
        told = at_least
        if not waiting.pending:
            line.until = max(line.until, now) + SHARE * self._places.turns_apart()
            if line.until > now + LONGEST:
                line.until = now + LONGEST / 2
            told = _whole(max(line.until - now, at_least))
        waiting.until = now + told
        return told

    def _sweep(self, now: datetime) -> None:
        if now - self._swept_at < EVERY:
            return
        self._swept_at = now
        for line in self._lines.values():
            line.waiting = {
                name: each for name, each in line.waiting.items() if now < each.until + FORGOTTEN
            }
        self._lines = {name: line for name, line in self._lines.items() if line.waiting}
        self._number = sum(len(line.waiting) for line in self._lines.values())


def _whole(duration: timedelta) -> timedelta:
    return timedelta(seconds=math.ceil(duration.total_seconds()))
