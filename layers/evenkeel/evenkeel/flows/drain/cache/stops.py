"""How long pods were seen to take to stop, from when they were told to go."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from evenkeel.model.pod import Pod
from evenkeel.ports import Clock

KNOWN_FOR: Final = timedelta(hours=1)
"""So long after a controller's last pod was gone it counts how long they took."""


class _Stop(NamedTuple):
    longest: timedelta
    last: datetime


class Stops:
    """The longest that a pod of each controller took, by the controller's key."""

    def __init__(self, clock: Clock | None = None) -> None:
        """``clock`` None: nothing is seen."""
        self._clock = clock
        self._seen: dict[str, _Stop] = {}

    def of(self, key: str) -> timedelta | None:
        """The longest that one of a controller's pods took; None where none was seen to stop."""
        seen = self._seen.get(key)
        return None if seen is None else seen.longest

    def forget(self, now: datetime) -> None:
        """Forget the controllers of which no pod has stopped for an hour."""
        self._seen = {key: each for key, each in self._seen.items() if now < each.last + KNOWN_FOR}

    def ended(self, key: str, pod: Pod) -> bool:
        """A pod of a controller is gone, or finished; whether it took longer than all before."""
        told_at = pod.told_at
        if self._clock is None or told_at is None:
            return False
        now, before = self._clock.now(), self.of(key)
        took = max(now - told_at, timedelta())
        self._seen[key] = _Stop(max(took, before or took), now)
        return before is None or took > before
