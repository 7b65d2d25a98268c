"""Letting simulated time pass no faster than a person can follow."""

from datetime import timedelta

from evenkeel.ports import Clock


class Pace:
    """Holds steps of simulated time back, so that they take their share of real time."""

    def __init__(self, clock: Clock) -> None:
        """``clock`` is the real one."""
        self._clock = clock
        self._due = clock.now()

    def hold(self, simulated: timedelta, speed: float) -> bool:
        """Wait until ``simulated`` would have passed at ``speed`` times real time.

        Whether there was time left to wait: if not, painting would only cost more.
        """
        now = self._clock.now()
        self._due = max(self._due, now - timedelta(seconds=1)) + simulated / speed
        if self._due <= now:
            return False
        self._clock.sleep(self._due - now)
        return True
