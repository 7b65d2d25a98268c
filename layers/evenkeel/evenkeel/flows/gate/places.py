"""The places in which a process decides about evictions, many at the same time.

The namespaces share them, however many evictions each asks for. In a namespace the eviction that
was asked for first is decided about first.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event, Lock
from typing import Final

from evenkeel.ports import Clock

AT_ONCE: Final = 32
"""So many evictions are decided about at the same time in a process, and as many wait for a place.

Others are refused at once.
"""

LONGEST_WAIT: Final = timedelta(seconds=1)
"""How long one waits for its place before it is refused, too."""

MOST_OF_FREE: Final = 7
"""What a namespace has is less than so many times what is free, or it takes no more.

One alone so takes seven parts of eight, and two take seven of fifteen each: something is left for
the next namespace, however long those decisions take that are under way.
"""

UNMEASURED: Final = timedelta(seconds=0.02)
"""How long a process takes for a decision, before one was seen."""

WEIGHT: Final = 32
"""One part in so many of that is the last decision's, the rest those before it."""


def may_take(has: int, free: int) -> bool:
    """Whether a namespace that has so many of something may take one of those that are free."""
    return has < MOST_OF_FREE * free


@dataclass(eq=False, slots=True)
class _Asking:
    """A request for a place; ``answered`` is set when it has one, or has to go without."""

    namespace: str
    since: datetime
    comes_last: bool
    answered: Event
    has_place: bool = False


class Places:
    """The places in which evictions are decided about. Any thread may use it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._waiting: list[_Asking] = []
        self._deciding: list[_Asking] = []
        self._each_takes = UNMEASURED

    @contextmanager
    def place(self, namespace: str, since: datetime, *, comes_last: bool = False) -> Iterator[bool]:
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
            yield asking.has_place
        finally:
            if asking.has_place:
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
        """Give places to those that wait: to the namespace that has fewest, to its oldest."""
        while self._waiting:
            has = Counter(each.namespace for each in self._deciding)
            free = AT_ONCE - len(self._deciding)
            may = [each for each in self._waiting if may_take(has[each.namespace], free)]
            if not may:
                return
            found = min(may, key=lambda each: (each.comes_last, has[each.namespace], each.since))
            self._waiting.remove(found)
            self._deciding.append(found)
            found.has_place = True
            found.answered.set()

    def _refuse_one(self) -> None:
        """Send one of too many away: of the namespace of which most wait, its youngest."""
        wait = Counter(each.namespace for each in self._waiting)
        found = max(
            self._waiting, key=lambda each: (each.comes_last, wait[each.namespace], each.since)
        )
        self._waiting.remove(found)
        found.answered.set()
