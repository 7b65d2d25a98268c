"""The time for a process that goes on for long: who sets the machine's clock does not move it."""

from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from evenkeel.adapters.clock import SystemClock
from evenkeel.ports import Clock

STEP: Final = timedelta(seconds=1)
"""How far the machine's clock is from where it should be once it was set."""

FOLLOWED_AFTER: Final = timedelta(minutes=10)
"""So long after it was set it counts. A spot node's two minutes are over by then, and a clock that
was wrong when the process began is right in the end."""


class SteadyClock:
    """ports.Clock that begins with a machine's time, and goes on with the time since its start.

    Deadlines, waits and Leases of a storm that is under way stay where they are when the clock is
    set forth or back. Several threads may use it.
    """

    def __init__(self, machine: Clock | None = None) -> None:
        """By this machine's clock; without one by the clock of the machine that this runs on."""
        self._machine = machine or SystemClock()
        self._lock = Lock()
        self._started = self._machine.now() - self.boot()
        self._set_at: timedelta | None = None

    def sleep(self, duration: timedelta) -> None:
        """Block this thread; not at all for a duration of zero or less."""
        self._machine.sleep(duration)

    def boot(self) -> timedelta:
        """The time since the machine was started."""
        return self._machine.boot()

    def now(self) -> datetime:
        """The time, aware, in UTC."""
        with self._lock:
            machine, boot = self._machine.now(), self.boot()
            if abs(machine - boot - self._started) < STEP:
                self._set_at = None
            elif self._set_at is None:
                self._set_at = boot
            elif boot - self._set_at >= FOLLOWED_AFTER:
                self._started, self._set_at = machine - boot, None
            return self._started + boot
