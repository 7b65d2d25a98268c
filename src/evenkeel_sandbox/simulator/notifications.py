"""Who takes what is told of interruptions: a bus, or a URL, that may refuse."""

from datetime import datetime, timedelta

from evenkeel.errors import NotificationError
from evenkeel.model.notification import Notification
from evenkeel_sandbox.simulator.clock import SimulatedClock


class SimulatedNotifications:
    """Implements the port Notifications. ``sent`` are those that were taken, ``tried`` when."""

    def __init__(self, clock: SimulatedClock) -> None:
        """All are taken."""
        self._clock = clock
        self._outage: NotificationError | None = None
        self._wait = timedelta()
        self.tried: list[datetime] = []
        self.sent: list[Notification] = []

    def fail(self, error: NotificationError | None, after: timedelta = timedelta()) -> None:
        """Refuse all with this error, until called with None; answer after so long."""
        self._outage = error
        self._wait = after

    def send(self, notification: Notification) -> None:
        """Take one. Raises NotificationError."""
        self.tried.append(self._clock.now())
        if self._wait:
            self._clock.sleep(self._wait)
        if self._outage is not None:
            raise self._outage
        self.sent.append(notification)
