"""How long the evictions take that have to come before a pod's last moment."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from evenkeel.decisions.drain.deadlines import queue_margin
from evenkeel.flows.handover.view import View
from evenkeel.model.pod import Pod

EVICTIONS_PER_SECOND = 75.0
"""What an API server on two CPUs took beside everything else in a storm: 60 to 100."""

COUNTED_FOR = timedelta(seconds=1)
"""How long a count of all pods is good."""


class Margin(NamedTuple):
    """How long it takes to evict the pods with one deadline, or an earlier one.

    ``everybody``, and those alone that have no replacement: they wait for one longest, and so
    go last.
    """

    everybody: timedelta
    unreplaced: timedelta


NO_TIME = Margin(timedelta(), timedelta())


class Margins:
    """The margins of all deadlines, counted anew every second."""

    def __init__(self, view: View) -> None:
        """The view is the invocation's."""
        self._view = view
        self._leaving: dict[str, frozenset[str]] = {}
        self._margins: dict[datetime, Margin] = {}
        self._counted_at: datetime | None = None

    def see_leaving(self, controller_key: str, uids: frozenset[str]) -> None:
        """These of a controller's pods have their replacement."""
        self._leaving[controller_key] = uids

    def of(self, pods: Sequence[Pod], now: datetime) -> Margin:
        """What the evictions of all pods with these pods' deadline, or an earlier one, need."""
        if self._counted_at is None or now - self._counted_at >= COUNTED_FOR:
            self._counted_at = now
            self._margins = self._count()
        deadlines = (
            notice.deadline
            for pod in pods
            if (notice := self._view.dooms.get(pod.spec.node_name)) is not None
        )
        return max((self._margins.get(at, NO_TIME) for at in deadlines), default=NO_TIME)

    def _count(self) -> dict[datetime, Margin]:
        everybody, unreplaced = Counter[datetime](), Counter[datetime]()
        leaving = frozenset[str]().union(*self._leaving.values())
        for pod in self._view.pods.active:
            notice = self._view.dooms.get(pod.spec.node_name)
            if notice is not None and not notice.is_hint:
                everybody[notice.deadline] += 1
                unreplaced[notice.deadline] += pod.uid not in leaving
        margins, total, left = {}, 0, 0
        for deadline in sorted(everybody):
            total += everybody[deadline]
            left += unreplaced[deadline]
            margins[deadline] = Margin(
                queue_margin(total, EVICTIONS_PER_SECOND), queue_margin(left, EVICTIONS_PER_SECOND)
            )
        return margins
