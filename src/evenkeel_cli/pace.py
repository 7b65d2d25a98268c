"""Letting simulated time pass no faster than a person can follow."""

from datetime import timedelta
from typing import Final

from evenkeel.ports import Clock

LAG: Final = timedelta(seconds=1)
"""What was missed before that is not caught up with."""

AT_LEAST_EVERY: Final = timedelta(milliseconds=250)
"""How often something is shown where there is no time to wait."""


class Pace:
    """Holds steps of simulated time back, so that they take their share of real time."""

    def __init__(self, clock: Clock) -> None:
        """``clock`` is the real one."""
        self._clock = clock
        self._due = clock.now()
        self._shown = clock.now()

    def hold(self, simulated: timedelta, speed: float) -> bool:
        """Wait until ``simulated`` would have passed at ``speed`` times real time.

        Whether to show something now. Where there was no time to wait, showing costs more of
        it, and is worth it only now and then.
        """
        now = self._clock.now()
        self._due = max(self._due, now - LAG) + simulated / speed
        if self._due > now:
            self._clock.sleep(self._due - now)
        elif now - self._shown < AT_LEAST_EVERY:
            return False
        self._shown = self._clock.now()
        return True
