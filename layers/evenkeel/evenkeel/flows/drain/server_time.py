"""The API server's time: the same for all reconcilers, whatever their machines' clocks say."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.ports import Clock

WHOLE: Final = timedelta(seconds=1)
"""The header Date has whole seconds: the answer was given up to so much later."""


class ServerTime:
    """What an answer's Date tells of the API server's time, at any time after it.

    Not known is how long the answer was under way: the time lies between ``earliest`` and
    ``latest``. Between answers it passes as the machine's time since its start does, so that a wall
    clock that is set changes nothing. Until an answer has told the time it is the wall clock's.
    """

    def __init__(self, clock: Clock) -> None:
        """``clock`` is the machine's."""
        self._clock = clock
        self._date: datetime | None = None
        self._sent = self._received = timedelta()

    def heard(self, sent: timedelta, date: datetime | None) -> None:
        """Take the Date of an answer that came now. ``sent``: the machine's time at its request."""
        if date is not None:
            self._date, self._sent, self._received = date, sent, self._clock.boot()

    @property
    def earliest(self) -> datetime:
        """What time it is there at least: the answer was given the moment it came."""
        if self._date is None:
            return self._clock.now()
        return self._date + (self._clock.boot() - self._received)

    @property
    def latest(self) -> datetime:
        """What time it is there at most: the answer was given the moment it was asked for."""
        if self._date is None:
            return self._clock.now()
        return self._date + WHOLE + (self._clock.boot() - self._sent)

    @property
    def ahead(self) -> timedelta:
        """How far the wall clock here is ahead of the API server's at least, negative if behind."""
        now = self._clock.now()
        return max(timedelta(), now - self.latest) + min(timedelta(), now - self.earliest)
