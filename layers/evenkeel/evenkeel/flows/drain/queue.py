"""Which workloads wait to be planned for, as the work queue of a Kubernetes controller has it.

What learns of a change adds the workloads whose plans depend on it. Of the namespaces that have
some, the one that was planned for the shortest time goes next. So however much happens in one, the
plans of another do not wait for all of it.
"""

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from evenkeel.model.times import earliest
from evenkeel.ports import Clock

SHARE: Final = 8
"""To plan for changes takes at most an eighth of the time.

In calm weather a change is planned for at once. In a storm the changes of some tenths of a second
are planned for together: there are several for each pod, and each concerns all pods of its
ReplicaSet.
"""

SLICE: Final = timedelta(milliseconds=100)
"""So long is planned at a time: forced evictions that are due meanwhile are sent in between.

A plan that takes longer is not charged to the share: else one would keep all others waiting.
"""

NODES: Final = "/"
"""The key of all marked nodes together. No workload has it: its uid is never empty."""

AT_ONCE: Final = datetime.min.replace(tzinfo=UTC)


def namespace_in(key: str) -> str:
    """The namespace of the workload that a key is of."""
    return key.partition("/")[0]


class Queue:
    """The workloads, by the keys of their controllers, each once however often it is added.

    A workload that is added as ``urgent`` has a *wrong* plan: before it is made anew nothing is
    done by it but what its pods' deadlines demand. A plan that has merely *changed* waits until
    planning has not taken more than its share. Each may have a time at which its plan changes
    though nothing happens. ``NODES`` is always urgent, because to plan for nodes takes little.
    """

    def __init__(self) -> None:
        self._changed: dict[str, None] = {}
        self._wrong: dict[str, None] = {}
        self._times: dict[str, datetime] = {}
        self._heap: list[tuple[datetime, str]] = []  # also of times that were replaced
        self._opens_at = AT_ONCE
        self._planned_for = defaultdict[str, timedelta](timedelta)  # by namespace
        self._least = timedelta()

    def __bool__(self) -> bool:
        """Whether a workload waits."""
        return bool(self._changed or self._wrong)

    def add(self, keys: Iterable[str], *, urgent: bool = False) -> None:
        """Something changed about these. ``urgent``: their plans are wrong by now.

        In the order of the keys, so that equal knowledge gives equal decisions.
        """
        for key in sorted(keys):
            if urgent:
                self._changed.pop(key, None)
                self._wrong[key] = None
            elif key not in self._wrong:
                self._changed[key] = None

    def again(self, key: str, at: datetime | None) -> None:
        """Plan for a workload at this time though nothing happens. It replaces the time before."""
        if at is None:
            self._times.pop(key, None)
        elif self._times.get(key) != at:
            self._times[key] = at
            heapq.heappush(self._heap, (at, key))

    def has_changed(self, key: str) -> bool:
        """Whether something changed about a workload since it was planned for."""
        return key in self._changed or key in self._wrong

    def is_wrong(self, key: str) -> bool:
        """Whether nothing may be done by a workload's plan before it is made anew."""
        return key in self._wrong

    def take(self, clock: Clock) -> Iterator[str]:
        """The keys to plan for now: those of wrong plans, and within the share the others.

        The time between two keys counts as planning. After a slice of it the rest waits, but for
        one key of a second namespace if only one was reached. The nodes come last in each round.
        """
        began = now = clock.now()
        self._fall_due(now)
        lines = self._lines(is_open=now >= self._opens_at)
        reached, on_changes = set[str](), timedelta()
        while lines:
            namespace = min(lines, key=self._planned_for.__getitem__)
            if now - began > SLICE and (namespace in reached or len(reached) > 1):
                break
            key = lines[namespace].popleft()
            if not lines[namespace]:
                del lines[namespace]
            is_change = key in self._changed
            self._done(key)
            yield key
            before, now = now, clock.now()
            took = max(timedelta(), now - before)
            on_changes += took if is_change else timedelta()
            reached.add(namespace)
            self._least = self._planned_for[namespace]
            self._planned_for[namespace] += took
        if on_changes:
            self._opens_at = now + (SHARE - 1) * min(on_changes, SLICE)
        if NODES in self._wrong:
            self._done(NODES)
            yield NODES

    def _fall_due(self, now: datetime) -> None:
        """Plans that change by time alone have changed now; those of nodes are always urgent."""
        while (at := self.due_at) is not None and at <= now:
            key = heapq.heappop(self._heap)[1]
            del self._times[key]
            self.add([key], urgent=key == NODES)

    def _lines(self, *, is_open: bool) -> dict[str, deque[str]]:
        """The keys that may be planned for, wrong plans first, by namespace.

        A namespace for which nothing was planned for a while has no time to its credit: it counts
        as the one that was planned for last.
        """
        lines = defaultdict[str, deque[str]](deque)
        for key in (*self._wrong, *(self._changed if is_open else ())):
            if key != NODES:
                lines[namespace_in(key)].append(key)
        for namespace in lines:
            self._planned_for[namespace] = max(self._least, self._planned_for[namespace])
        return lines

    @property
    def due_at(self) -> datetime | None:
        """When a plan changes by time alone, at the earliest."""
        while self._heap and self._times.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def next_at(self, now: datetime) -> datetime | None:
        """When ``take`` has something to give; None if nothing waits."""
        if self._wrong:
            return now
        return earliest(self.due_at, self._opens_at if self._changed else None)

    def _done(self, key: str) -> None:
        self._wrong.pop(key, None)
        self._changed.pop(key, None)
