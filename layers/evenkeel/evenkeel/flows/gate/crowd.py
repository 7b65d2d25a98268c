"""Evictions that a process cannot decide about yet, because too many are asked for at once.

The API server gives a webhook three seconds, and then lets the eviction pass. A hundred reviews at
once take longer than that, each of them; so all but a few wait, and are told to come back.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import BoundedSemaphore, Lock
from typing import Final

from evenkeel.ports import Clock

AT_ONCE: Final = 16
"""So many evictions are decided about at the same time in a process."""

LONGEST_WAIT: Final = timedelta(seconds=0.5)
"""How long a review waits for its place before its eviction is told to come back."""

PER_SECOND: Final = 50
"""So many evictions a second are to come back in all: a process decides about no more."""

SHORTEST, LONGEST = timedelta(seconds=1), timedelta(seconds=30)
"""Bounds of how long an eviction is told to stay away."""

FORGOTTEN: Final = timedelta(minutes=1)
"""An eviction that was told to come back and has not by then does not count any more."""

EVERY: Final = timedelta(seconds=1)
"""How often those are looked for."""


class Crowd:
    """The evictions under way in a process, and those that were told to come back.

    Any thread may use it.
    """

    def __init__(self, clock: Clock) -> None:
        """Nobody is there yet."""
        self._clock = clock
        self._places = BoundedSemaphore(AT_ONCE)
        self._lock = Lock()
        self._told: dict[tuple[str, str], datetime] = {}
        self._swept_at = clock.now()

    @contextmanager
    def place(self) -> Iterator[bool]:
        """Whether one more eviction can be decided about, until the end of the with statement."""
        has_place = self._places.acquire(timeout=LONGEST_WAIT.total_seconds())
        try:
            yield has_place
        finally:
            if has_place:
                self._places.release()

    def comes_back_in(self, namespace: str, name: str) -> timedelta:
        """When the eviction of this pod may be asked for again: the later the more of them wait."""
        now = self._clock.now()
        with self._lock:
            self._told[namespace, name] = now
            if now - self._swept_at >= EVERY:
                self._swept_at = now
                self._told = {key: at for key, at in self._told.items() if now - at < FORGOTTEN}
            waiting = len(self._told)
        return min(max(timedelta(seconds=waiting // PER_SECOND), SHORTEST), LONGEST)
