"""Objects that cannot be read, and so are left out: counted, and told of once a minute."""

from collections.abc import Sequence
from datetime import timedelta
from threading import Lock
from typing import Final

from evenkeel.errors import UnreadableObjectError
from evenkeel.model.metrics import Metric
from evenkeel.ports import Clock, Journal

PAUSE: Final = timedelta(minutes=1)
"""Between two lines: an object that cannot be read may be read every second."""


class Omissions:
    """Reports objects that were left out. Several threads report at once."""

    def __init__(self, clock: Clock, journal: Journal) -> None:
        self._clock = clock
        self._journal = journal
        self._lock = Lock()
        self._silent_until = clock.now()

    def __call__(self, errors: Sequence[UnreadableObjectError]) -> None:
        """Report the objects of one answer; each error says which one, and why."""
        if not errors:
            return
        self._journal.counted(Metric.OBJECTS_LEFT_OUT, len(errors))
        now = self._clock.now()
        with self._lock:
            is_silent = now < self._silent_until
            if not is_silent:
                self._silent_until = now + PAUSE
        if not is_silent:
            others = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
            self._journal.noted(f"left out what Evenkeel cannot read: {errors[0]}{others}")
