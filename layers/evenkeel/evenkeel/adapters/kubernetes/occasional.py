"""What happens again and again: counted each time, with a line in the log once a minute."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from evenkeel.errors import UnreadableObjectError
from evenkeel.model.metrics import Metric
from evenkeel.ports import Clock, Journal

PAUSE: Final = timedelta(minutes=1)
"""Between two lines about one subject: it may happen every second."""


class Occasional:
    """Counts a metric, and writes lines about it. Several threads report at once."""

    def __init__(self, clock: Clock, journal: Journal, metric: Metric) -> None:
        self._clock = clock
        self._journal = journal
        self._metric = metric
        self._lock = Lock()
        self._silent_until: dict[str, datetime] = {}

    def __call__(self, line: str, times: int = 1, subject: str = "") -> None:
        """It happened so many times. ``subject`` is one of a few; each has lines of its own."""
        self._journal.counted(self._metric, times)
        now = self._clock.now()
        with self._lock:
            until = self._silent_until.get(subject)
            is_silent = until is not None and now < until
            if not is_silent:
                self._silent_until[subject] = now + PAUSE
        if not is_silent:
            self._journal.noted(line)


class Omissions:
    """Reports objects that were left out. Several threads report at once."""

    def __init__(self, clock: Clock, journal: Journal) -> None:
        self._report = Occasional(clock, journal, Metric.OBJECTS_LEFT_OUT)

    def __call__(self, errors: Sequence[UnreadableObjectError]) -> None:
        """Report the objects of one answer; each error says which one, and why."""
        if errors:
            others = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
            line = f"left out what Evenkeel cannot read: {errors[0]}{others}"
            self._report(line, len(errors))
