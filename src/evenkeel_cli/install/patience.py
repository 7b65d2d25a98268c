"""How long a command waits for what AWS and the cluster do by themselves."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.ports import Clock
from evenkeel_cli.duration import short
from evenkeel_cli.errors import UnmetError

LONGEST: Final = timedelta(hours=12)
USUAL: Final = timedelta(hours=1)
"""An update of the stack takes minutes. A person looks at it by then."""


class TimeIsUpError(UnmetError):
    """What is waited for has not come to its end. It goes on without the command."""


class ImpatientClock:
    """Implements the port Clock: another clock, by which nothing is waited for past an end.

    ``sleep`` raises TimeIsUpError where it would return after ``patience``, counted from the start.
    """

    def __init__(self, clock: Clock, patience: timedelta) -> None:
        """Begin to count."""
        self._clock = clock
        self._patience = patience
        self._end = clock.boot() + patience

    def now(self) -> datetime:
        """The time."""
        return self._clock.now()

    def boot(self) -> timedelta:
        """How long ago the machine was started."""
        return self._clock.boot()

    def sleep(self, duration: timedelta) -> None:
        """Return when this much time has passed. Raises TimeIsUpError."""
        if self._clock.boot() + duration > self._end:
            raise TimeIsUpError(
                f"not done after {short(self._patience)}: AWS and the cluster are still at work,"
                " and the same command goes on from there"
            )
        self._clock.sleep(duration)
