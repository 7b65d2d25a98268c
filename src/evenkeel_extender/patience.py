"""The pods for which the scheduler is kept waiting: its own watches may be ahead of these."""

from datetime import timedelta
from typing import Final

from evenkeel.model.times import is_sound
from evenkeel.ports import Clock
from evenkeel_extender.messages import PendingMetadata

PATIENCE: Final = timedelta(seconds=0.5)
"""How long to wait until the watches have shown a pod and its controller."""

NEW: Final = timedelta(seconds=10)
"""Watches have shown a pod that is older than this, also if the clocks are apart."""

REST: Final = timedelta(minutes=1)
"""After a wait in vain, no other pod of the namespace is waited for so long."""


class Patience:
    """Which pods are waited for. Not safe for several threads: its owner locks.

    A scheduler asks about one pod after the other, so a pod whose controller does not exist keeps
    all others waiting. One namespace can cost them PATIENCE in each REST, and no more.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._backoff: dict[str, timedelta] = {}

    def is_left_for(self, pod: PendingMetadata) -> bool:
        """Whether a pod is waited for: it is new, and its namespace does not rest."""
        created = pod.creation_timestamp
        if created is None or not is_sound(created) or abs(self._clock.now() - created) > NEW:
            return False
        return self._backoff.get(pod.namespace, timedelta()) <= self._clock.boot()

    def was_in_vain(self, pod: PendingMetadata) -> None:
        """A pod was waited for, and not all of it was shown."""
        now = self._clock.boot()
        resting = {name: until for name, until in self._backoff.items() if until > now}
        self._backoff = {**resting, pod.namespace: now + REST}
