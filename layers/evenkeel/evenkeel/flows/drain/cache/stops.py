"""How long pods were seen to take to stop, from when they were told to go."""

from datetime import timedelta

from evenkeel.model.pod import Pod
from evenkeel.ports import Clock


class Stops:
    """The longest that a pod of each controller took, by the controller's key."""

    def __init__(self, clock: Clock | None = None) -> None:
        """``clock`` None: nothing is seen."""
        self._clock = clock
        self._longest: dict[str, timedelta] = {}

    def of(self, key: str) -> timedelta | None:
        """The longest that one of a controller's pods took; None where none was seen to stop."""
        return self._longest.get(key)

    def ended(self, key: str, pod: Pod) -> bool:
        """A pod of a controller is gone, or finished; whether it took longer than all before."""
        told_at = pod.told_at
        if self._clock is None or told_at is None:
            return False
        took = max(self._clock.now() - told_at, timedelta())
        before = self._longest.get(key)
        if before is not None and took <= before:
            return False
        self._longest[key] = took
        return True
