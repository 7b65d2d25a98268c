"""How many pods are released and wait for their replacements, in the whole cluster."""

from collections import Counter
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from evenkeel.decisions.handover.census import LONGEST_TO_MAKE
from evenkeel.flows.remembered import REMEMBERED, Remembered
from evenkeel.flows.selections import RELEASED_PODS
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Listing
from evenkeel.ports import Clock, Cluster

SHARE: Final = 10
"""One part in so many of the window, and one pod at least, each namespace has for itself.

Whoever may label pods can say that they were released just now, and fill the window.
"""

_QUESTION: Final = List(RELEASED_PODS, fresh=False, metadata_only=True)


class Window:
    """Whether another pod may be released. Any thread may use it.

    A pod that was released a minute ago does not count any more: its replacement is made by then,
    or cannot be made. Nor does one that is told to go.
    """

    def __init__(self, cluster: Cluster, clock: Clock, size: int) -> None:
        """``size`` pods may wait for their replacements at a time."""
        self._remembered = Remembered(cluster, clock)
        self._clock = clock
        self._size = size
        self._lock = Lock()
        self._released: list[tuple[datetime, str]] = []

    def has_room(self, namespace: str) -> bool:
        """Whether fewer pods wait than may, in the cluster or of its share in this namespace.

        Raises ClusterError. Releases of this process count from when they are sent, for the list is
        a second old.
        """
        now = self._clock.now()
        (found,) = self._remembered.ask(_QUESTION)
        items = found.items if isinstance(found, Listing) else ()
        waiting = Counter(
            each.namespace for each in items if isinstance(each, Pod) and _waits(each, now)
        )
        with self._lock:
            self._released = [each for each in self._released if now - each[0] < REMEMBERED + SLACK]
            waiting.update(name for _, name in self._released)
        return waiting.total() < self._size or waiting[namespace] < max(1, self._size // SHARE)

    def took(self, namespace: str) -> None:
        """A pod of this namespace is released."""
        with self._lock:
            self._released.append((self._clock.now(), namespace))


SLACK: Final = timedelta(milliseconds=500)
"""What an API server's cache may lag behind."""


def _waits(pod: Pod, now: datetime) -> bool:
    release = pod.believed_release(now)
    return not pod.leaving and release is not None and now - release.since < LONGEST_TO_MAKE
