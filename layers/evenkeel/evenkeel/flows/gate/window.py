"""How many pods are released and wait for their replacements, in the whole cluster."""

from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from evenkeel.decisions.handover.census import LONGEST_TO_MAKE
from evenkeel.flows.remembered import REMEMBERED, Remembered
from evenkeel.flows.selections import RELEASED_PODS
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Listing
from evenkeel.ports import Clock, Cluster

_QUESTION: Final = List(RELEASED_PODS, fresh=False, metadata_only=True)


class Window:
    """Whether another pod may be released. Any thread may use it.

    A pod that was released a minute ago does not count any more: its replacement is made by then,
    or cannot be made.
    """

    def __init__(self, cluster: Cluster, clock: Clock, size: int) -> None:
        """``size`` pods may wait for their replacements at a time."""
        self._remembered = Remembered(cluster, clock)
        self._clock = clock
        self._size = size
        self._lock = Lock()
        self._released: list[datetime] = []

    def has_room(self) -> bool:
        """Whether fewer pods wait than may. Raises ClusterError.

        Releases of this process count from when they are sent, for the list is a second old.
        """
        now = self._clock.now()
        (found,) = self._remembered.ask(_QUESTION)
        items = found.items if isinstance(found, Listing) else ()
        waiting = sum(_waits(each, now) for each in items if isinstance(each, Pod))
        with self._lock:
            self._released = [at for at in self._released if now - at < REMEMBERED + SLACK]
            return waiting + len(self._released) < self._size

    def took(self) -> None:
        """A pod is released."""
        with self._lock:
            self._released.append(self._clock.now())


SLACK: Final = timedelta(milliseconds=500)
"""What an API server's cache may lag behind."""


def _waits(pod: Pod, now: datetime) -> bool:
    release = pod.believed_release(now)
    return release is not None and now - release.since < LONGEST_TO_MAKE
