"""For which pods the scheduler is kept waiting, because watches may be behind its own."""

from datetime import timedelta
from typing import Final

from evenkeel.model.scheduling import PendingMetadata
from evenkeel.model.times import is_sound
from evenkeel.ports import Clock

PATIENCE: Final = timedelta(seconds=0.5)
"""How long a pod and its controller have to be shown."""

NEW: Final = timedelta(seconds=10)
"""The age of a pod, clocks that are apart included, up to which watches may not have shown it."""

REST: Final = timedelta(minutes=1)
"""How long no pod of a namespace is waited for after one was in vain."""


class Patience:
    """What is left of it. Not safe for several threads: who owns it locks.

    A scheduler asks about one pod after the other. So all of them wait where a tenant's pod names a
    controller that is not there. His namespace can cost them PATIENCE in each REST, and no more.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._resting: dict[str, timedelta] = {}

    def is_left_for(self, pod: PendingMetadata) -> bool:
        """Whether a pod is waited for: it is new, and its namespace does not rest."""
        created = pod.creation_timestamp
        if created is None or not is_sound(created) or abs(self._clock.now() - created) > NEW:
            return False
        return self._resting.get(pod.namespace, timedelta()) <= self._clock.boot()

    def was_in_vain(self, pod: PendingMetadata) -> None:
        """A pod was waited for, and not all of it was shown."""
        now = self._clock.boot()
        resting = {name: until for name, until in self._resting.items() if until > now}
        self._resting = {**resting, pod.namespace: now + REST}
