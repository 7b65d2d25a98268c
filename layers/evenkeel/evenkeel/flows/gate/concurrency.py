"""Evictions that are asked for at once: which are decided about, and when the others come back.

The API server lets an eviction pass to which no answer comes in time. So every one is answered in
time: what cannot be decided by then is told to come back. The namespaces share the slots in which
a process decides. The evictions of a namespace stand in a line, the one that was asked for first
before the others, and all lines move at the same pace. So an eviction waits for older ones of its
namespace, and for nobody else. Dry runs, and evictions that come back before their time, are
decided about where nobody else waits.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event, Lock
from typing import Final

import msgspec

from evenkeel.decisions.gate.eviction import Eviction
from evenkeel.ports import Clock

AT_ONCE: Final = 32
"""So many evictions are decided about at the same time in a process, and as many wait for a slot.

Others are refused at once.
"""

LONGEST_WAIT: Final = timedelta(seconds=1)
"""How long one waits for its slot before it is refused, too."""

MOST_OF_FREE: Final = 7
"""What a namespace has is less than so many times what is free, or it takes no more.

One alone so takes seven parts of eight, and two take seven of fifteen each: something is left for
the next namespace, however long those decisions take that are under way.
"""

UNMEASURED: Final = timedelta(seconds=0.02)
"""How long a process takes for a decision, before one was seen."""

WEIGHT: Final = 32
"""One part in so many of that is the last decision's, the rest those before it."""

SHORTEST, LONGEST = timedelta(seconds=1), timedelta(minutes=2)
"""Bounds of how long an eviction is told to stay away."""

SHARE: Final = 2
"""One in so many decisions is about an eviction that was told when to come back.

The others are about pods that are released, and evictions that are asked for the first time.
"""

FORGOTTEN: Final = timedelta(minutes=10)
"""An eviction that was not asked for again so long after its time has ended.

Some evictors come back every few minutes only.
"""

EVERY: Final = timedelta(seconds=1)
"""How often those are looked for."""

MOST: Final = 2**14
"""So many evictions are remembered. Of others it is only known that they are asked for now."""


def may_take(has: int, free: int) -> bool:
    """Whether a namespace that has so many of something may take one of those that are free."""
    return has < MOST_OF_FREE * free


@dataclass(eq=False, slots=True)
class _Asking:
    """A request for a slot; ``answered`` is set when it has one, or has to go without."""

    namespace: str
    since: datetime
    comes_last: bool
    answered: Event
    has_slot: bool = False


class Slots:
    """The slots in which evictions are decided about. Any thread may use it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._waiting: list[_Asking] = []
        self._deciding: list[_Asking] = []
        self._each_takes = UNMEASURED

    @contextmanager
    def slot(self, namespace: str, since: datetime, *, comes_last: bool = False) -> Iterator[bool]:
        """Whether an eviction can be decided about, until the end of the with statement.

        ``since``: when it was asked for first. ``comes_last``: it waits for all that do not.
        """
        asking = _Asking(namespace, since, comes_last, Event())
        with self._lock:
            self._waiting.append(asking)
            self._admit()
            if len(self._waiting) > AT_ONCE:
                self._refuse_one()
        asking.answered.wait(LONGEST_WAIT.total_seconds())
        with self._lock:
            if asking in self._waiting:
                self._waiting.remove(asking)
        began = self._clock.now()
        try:
            yield asking.has_slot
        finally:
            if asking.has_slot:
                self._leave(asking, self._clock.now() - began)

    def turns_apart(self) -> timedelta:
        """How long from one decision about a namespace's evictions to the next, as of late."""
        with self._lock:
            every = (*self._deciding, *self._waiting)
            namespaces = {each.namespace for each in every if not each.comes_last}
            return self._each_takes * max(1, len(namespaces))

    def _leave(self, asking: _Asking, lasted: timedelta) -> None:
        with self._lock:
            self._each_takes += (lasted / len(self._deciding) - self._each_takes) / WEIGHT
            self._deciding.remove(asking)
            self._admit()

    def _admit(self) -> None:
        """Give slots to those that wait: to the namespace that has fewest, to its oldest."""
        while self._waiting:
            has = Counter(each.namespace for each in self._deciding)
            free = AT_ONCE - len(self._deciding)
            may = [each for each in self._waiting if may_take(has[each.namespace], free)]
            if not may:
                return
            found = min(may, key=lambda each: (each.comes_last, has[each.namespace], each.since))
            self._waiting.remove(found)
            self._deciding.append(found)
            found.has_slot = True
            found.answered.set()

    def _refuse_one(self) -> None:
        """Send one of too many away: of the namespace of which most wait, its youngest."""
        wait = Counter(each.namespace for each in self._waiting)
        found = max(
            self._waiting, key=lambda each: (each.comes_last, wait[each.namespace], each.since)
        )
        self._waiting.remove(found)
        found.answered.set()


class _Waiting(msgspec.Struct):
    """An eviction that was put off: since when, and until when it was told to stay away.

    ``in_turn``: whether others are released before it; None: it was not looked at yet.
    ``unread_since``: when it was first that what it depends on could not be read. ``refused``: how
    the last release of its pod was refused.
    """

    since: datetime
    until: datetime
    in_turn: bool | None = None
    unread_since: datetime | None = None
    refused: Hashable = None

    def comes_early(self, now: datetime) -> bool:
        """Whether it was told to stay away for longer, if the clock was not set back."""
        return now < self.until <= now + LONGEST


class Concurrency:
    """The evictions that a process decides about, and those that it put off.

    A dry run leaves nothing behind. Any thread may use it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._slots = Slots(clock)
        self._waiting: dict[tuple[str, str], _Waiting] = {}
        self._numbers: Counter[str] = Counter()  # of evictions that wait, by namespace
        self._ends: dict[str, datetime] = {}  # until when the last in a namespace's line stays away
        self._swept_at = clock.now()

    def __len__(self) -> int:
        """How many evictions are remembered."""
        return len(self._waiting)

    @contextmanager
    def slot(self, eviction: Eviction) -> Iterator[bool]:
        """Whether this eviction can be decided about, until the end of the with statement."""
        now = self._clock.now()
        with self._lock:
            found = self._found(eviction, now)
            since, comes_last = found.since, eviction.dry_run or found.comes_early(now)
        with self._slots.slot(eviction.namespace, since, comes_last=comes_last) as has_slot:
            yield has_slot

    def waited(self, eviction: Eviction) -> timedelta:
        """How long ago it was asked for first, as far as is known here."""
        now = self._clock.now()
        with self._lock:
            return now - self._found(eviction, now).since

    def is_in_turn(self, eviction: Eviction) -> bool:
        """Whether others are released before its pod, as far as is known here."""
        with self._lock:
            return bool(self._found(eviction, self._clock.now()).in_turn)

    def defer(
        self, eviction: Eviction, at_least: timedelta = SHORTEST, *, in_turn: bool | None = None
    ) -> timedelta:
        """It waits; in how long it is to be asked for again.

        ``in_turn``: whether others are released before it; None: it was not decided about now. One
        for which no others are comes back after ``at_least``. The rest stand in the line of their
        namespace: they come back one after the other, after ``at_least`` at the earliest, in whole
        seconds. One that comes before its time keeps that.
        """
        with self._noted(eviction) as (waiting, now):
            if in_turn is not None:
                waiting.in_turn, waiting.unread_since = in_turn, None
            if in_turn is not False and waiting.comes_early(now):
                return _whole(waiting.until - now)
            told = at_least
            if waiting.in_turn is not False:
                told = _whole(max(at_least, self._end_of_line(eviction, now) - now))
            waiting.until = now + told
            return told

    def unread(self, eviction: Eviction) -> timedelta:
        """What it depends on cannot be read; for how long that has been so."""
        with self._noted(eviction) as (waiting, now):
            waiting.unread_since = waiting.unread_since or now
            return now - waiting.unread_since

    def is_refused_again(self, eviction: Eviction, how: Hashable) -> bool:
        """The release of its pod was refused; whether it was so the last time, too."""
        with self._noted(eviction) as (waiting, _):
            last, waiting.refused = waiting.refused, how
            return last == how

    def passed(self, eviction: Eviction) -> None:
        """It has passed."""
        namespace = eviction.namespace
        with self._lock:
            if eviction.dry_run or self._waiting.pop(eviction.key, None) is None:
                return
            self._numbers[namespace] -= 1
            if not self._numbers[namespace]:
                self._ends.pop(namespace, None)

    def _found(self, eviction: Eviction, now: datetime) -> _Waiting:
        """What is remembered of an eviction, or one that is asked for the first time now."""
        return self._waiting.get(eviction.key) or _Waiting(now, now)

    @contextmanager
    def _noted(self, eviction: Eviction) -> Iterator[tuple[_Waiting, datetime]]:
        """The eviction, to be changed now; of dry runs, and of too many, what is not kept."""
        with self._lock:
            now = self._clock.now()
            self._sweep(now)
            waiting, has = self._found(eviction, now), self._numbers[eviction.namespace]
            if eviction.dry_run:
                waiting = copy(waiting)
            elif eviction.key not in self._waiting and may_take(has, MOST - len(self)):
                self._waiting[eviction.key] = waiting
                self._numbers[eviction.namespace] = has + 1
            yield waiting, now

    def _end_of_line(self, eviction: Eviction, now: datetime) -> datetime:
        """Until when the next in its namespace's line stays away, which now is its last.

        Where a line gets too long, those that come now are dealt out over its second half again.
        """
        namespace = eviction.namespace
        end = max(self._ends.get(namespace, now), now) + SHARE * self._slots.turns_apart()
        if end > now + LONGEST:
            end = now + LONGEST / 2
        if self._numbers[namespace] and not eviction.dry_run:
            self._ends[namespace] = end
        return end

    def _sweep(self, now: datetime) -> None:
        if now - self._swept_at < EVERY:
            return
        self._swept_at = now
        self._waiting = {
            key: each for key, each in self._waiting.items() if now < each.until + FORGOTTEN
        }
        self._numbers = Counter(namespace for namespace, _ in self._waiting)
        self._ends = {where: end for where, end in self._ends.items() if self._numbers[where]}


def _whole(duration: timedelta) -> timedelta:
    return timedelta(seconds=math.ceil(duration.total_seconds()))
