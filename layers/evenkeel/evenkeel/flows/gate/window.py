"""How many pods are released and wait for their replacements, in the whole cluster."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from evenkeel.decisions.drain.census import LONGEST_TO_MAKE
from evenkeel.flows.read_cache import ReadCache
from evenkeel.flows.reads import of_kind
from evenkeel.flows.selections import RELEASED_PODS
from evenkeel.model.pod import Pod
from evenkeel.model.request import List
from evenkeel.ports import Clock, Cluster

SHARE: Final = 10
"""One part in so many of the window, and one pod at least, each namespace has for itself.

Whoever may label pods can say that they were released just now, and fill the window.
"""

type Key = tuple[str, str]
"""A pod's namespace and name."""

_QUESTION: Final = List(RELEASED_PODS, fresh=False, metadata_only=True)


class Window:
    """Whether another pod may be released. Any thread may use it.

    A pod that was released a minute ago does not count any more: its replacement is made by then,
    or cannot be made. Nor does one that is told to go.
    """

    def __init__(self, cluster: Cluster, clock: Clock, size: int) -> None:
        """``size`` pods may wait for their replacements at a time."""
        self._cache = ReadCache(cluster, clock)
        self._clock = clock
        self._size = size
        self._asking = Lock()
        self._listed: Sequence[Pod] | None = None
        self._lock = Lock()
        self._released: dict[Key, datetime] = {}

    def has_room(self, namespace: str) -> bool:
        """Whether fewer pods wait than may, in the cluster or of its share in this namespace.

        Raises ClusterError. Releases of this process count from when they are sent, for the list is
        a second old, and older where the API server takes longer for it.
        """
        listed, now = self._list(), self._clock.now()
        waiting = {(each.namespace, each.name) for each in listed if _waits(each, now)}
        waiting |= self._released_within(OLDEST_LIST)
        here = sum(each == namespace for each, _ in waiting)
        return len(waiting) < self._size or here < max(1, self._size // SHARE)

    def may_exceed(self) -> bool:
        """Whether one may be released without room whose eviction has waited for that too long.

        A process releases a window's worth within a minute, whatever others say of their pods.
        """
        return len(self._released_within(LONGEST_TO_MAKE)) < self._size

    def took(self, namespace: str, name: str) -> None:
        """This pod is released."""
        with self._lock:
            self._released[namespace, name] = self._clock.now()

    def _released_within(self, last: timedelta) -> set[Key]:
        """The pods that this process released of late."""
        now = self._clock.now()
        with self._lock:
            self._released = {
                key: at for key, at in self._released.items() if now - at < LONGEST_TO_MAKE
            }
            return {key for key, at in self._released.items() if now - at < last}

    def _list(self) -> Sequence[Pod]:
        """The released pods. One thread asks, and the others take what was there before."""
        if self._asking.acquire(blocking=self._listed is None):
            try:
                (found,) = self._cache.ask(_QUESTION)
            finally:
                self._asking.release()
            self._listed = of_kind(Pod, found)
        return self._listed or ()


OLDEST_LIST: Final = timedelta(seconds=5)
"""How long a release of this process counts without being listed."""


def _waits(pod: Pod, now: datetime) -> bool:
    release = pod.believed_release(now)
    return not pod.leaving and release is not None and now - release.since < LONGEST_TO_MAKE
