"""The real clock: the one place that asks the machine for the time."""

import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """ports.Clock by the machine's own time."""

    def now(self) -> datetime:
        """The time, aware, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the Clock

    def sleep(self, duration: timedelta) -> None:
        """Block this thread; not at all for a duration of zero or less."""
        time.sleep(max(0.0, duration.total_seconds()))  # noqa: TID251 - this is the Clock

    def boot(self) -> timedelta:
        """The time since the machine was started, its sleep included where the system can tell."""
        clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
        return timedelta(seconds=time.clock_gettime(clock))
