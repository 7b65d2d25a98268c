"""When forced evictions begin: the agenda of all workloads together, by how long answers take."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from itertools import takewhile

import msgspec

from evenkeel.decisions.drain import agenda
from evenkeel.decisions.drain.agenda import Forced, Slot, Usual
from evenkeel.flows.drain.cache.share import Share

COUNTED_FOR = timedelta(seconds=1)
"""How long slots stay as they are, although pods have gone or answers take longer by now."""

OF_LATE = timedelta(seconds=10)
"""So long it counts that a pod left before it had to go by force."""


class Answers:
    """How long recent answers of the API server took: to writes, and about the pause."""

    WINDOW = timedelta(seconds=30)
    NEARLY_ALL = 0.95
    STRETCH = timedelta(seconds=2)
    """How long as many answers have to come as count as a rate: what a pause held back does not."""

    def __init__(self) -> None:
        self._taken: deque[tuple[datetime, timedelta]] = deque()
        self._written: deque[datetime] = deque()

    def saw(self, took: timedelta, now: datetime, *, is_write: bool) -> None:
        """A request was answered, after so long."""
        self._taken.append((now, took))
        if is_write:
            self._written.append(now)

    def usual(self, now: datetime) -> Usual:
        """How long recent answers took, and how fast writes were; zero where there were none."""
        while self._taken and now - self._taken[0][0] > self.WINDOW:
            self._taken.popleft()
        while self._written and now - self._written[0] > self.WINDOW:
            self._written.popleft()
        ordered = sorted(took for _, took in self._taken) or [timedelta()]
        last = len(ordered) - 1
        return Usual(ordered[last // 2], ordered[int(self.NEARLY_ALL * last)], self.fastest)

    @property
    def fastest(self) -> float:
        """The most writes a second that were answered over a whole stretch."""
        most, first, times = 0, 0, list(self._written)
        for last, at in enumerate(times):
            while at - times[first] > self.STRETCH:
                first += 1
            most = max(most, last - first + 1)
        return most / self.STRETCH.total_seconds()


class ForcedEvictions:
    """The slots of all pods that are evicted by force, counted again every second at most.

    Until the watches have shown all replacements each pod goes by its own deadline alone: pods that
    have a replacement would be counted as having none, and let others begin too early.
    """

    def __init__(self, per_second: float, at_once: int, answers: Answers, share: Share) -> None:
        """``at_once`` evictions can be under way; ``answers``: how long requests took of late.

        ``per_second``: so many may be sent in a second by all reconcilers together.
        """
        self._share = share
        self._per_second = per_second
        self._at_once = at_once
        self._answers = answers
        self._forced: dict[str, dict[str, Forced]] = {}  # by controller, and the pod's uid
        self._slots: dict[str, Slot] = {}  # by the pod's uid, the earliest first
        self._preceded: dict[str, Slot] = {}  # those with a write before the eviction
        self._times: Sequence[datetime] = ()
        self._counted_at: datetime | None = None
        self._is_outdated = True
        self._left = deque[datetime]()
        self._is_settled = False
        self.counts = 0
        """How often slots were counted so far."""

    def __bool__(self) -> bool:
        """Whether pods die at their deadlines."""
        return bool(self._forced)

    def put(self, controller_key: str, forced: Sequence[Forced]) -> None:
        """These of a controller's pods are evicted by force, and no others."""
        before = self._forced.pop(controller_key, {})
        after = {each.pod.uid: each for each in forced}
        if after:
            self._forced[controller_key] = after
        for uid in before.keys() - after.keys():
            slot, counted_at = self._slots.pop(uid, None), self._counted_at
            if slot is not None and counted_at is not None and counted_at < slot.begin:
                self._left.append(counted_at)
        for uid in self._slots.keys() & after.keys():
            self._slots[uid] = msgspec.structs.replace(self._slots[uid], forced=after[uid])
        for uid in self._preceded.keys() & (before.keys() | after.keys()):
            slot = self._slots.get(uid)
            if slot is None or slot.forced.first is None:
                del self._preceded[uid]
            else:
                self._preceded[uid] = slot
        if not _times(after) <= _times(before):
            self._is_outdated = True

    def settle(self) -> None:
        """The watches have listed, or had a second for it: slots are counted for all together."""
        if not self._is_settled:
            self._is_settled = self._is_outdated = True

    def begins(self, uid: str) -> datetime | None:
        """When the eviction of a pod begins; None if it is not evicted by force."""
        slot = self._slots.get(uid)
        return None if slot is None else slot.begin

    def has_begun(self, uid: str, now: datetime) -> bool:
        """Whether it is time for a pod's forced eviction."""
        slot = self._slots.get(uid)
        return slot is not None and slot.begin <= now

    def due(self, now: datetime, by: datetime) -> Iterator[Slot]:
        """The slots of which a write has to be sent by then: evictions in order, then other writes.

        Those that were sent are among them until their controller is planned for again.
        """
        self._count(now)
        yield from takewhile(lambda slot: slot.begin <= by, self._slots.values())
        preceded = takewhile(lambda slot: slot.is_due(by), self._preceded.values())
        yield from (slot for slot in preceded if slot.begin > by)

    def next_at(self, now: datetime) -> datetime | None:
        """When something has to be sent next that is not due now."""
        self._count(now)
        later = bisect_right(self._times, now)
        return self._times[later] if later < len(self._times) else None

    def _leaving(self, now: datetime) -> float:
        """How many pods left in a second of late, before their slots had begun."""
        while self._left and now - self._left[0] > OF_LATE:
            self._left.popleft()
        return len(self._left) / OF_LATE.total_seconds()

    def _count(self, now: datetime) -> None:
        counted_at = self._counted_at
        is_recent = counted_at is not None and timedelta() <= now - counted_at < COUNTED_FOR
        if is_recent and not self._is_outdated:
            return
        self._counted_at, self._is_outdated = now, False
        self.counts += 1
        forced = [each for of_one in self._forced.values() for each in of_one.values()]
        if self._is_settled:
            usual = self._answers.usual(now)
            rate = agenda.rate(
                self._per_second * self._share.part, usual, self._at_once, len(forced)
            )
            there = agenda.part_there(forced, self._leaving(now), rate, now)
            slots = agenda.schedule(forced, rate, there)
        else:
            slots = agenda.alone(forced)
        self._slots = {slot.forced.pod.uid: slot for slot in slots}
        self._preceded = {u: slot for u, slot in self._slots.items() if slot.forced.first}
        self._times = sorted({at for slot in slots for at in (slot.first_at, slot.begin)})


def _times(forced: Mapping[str, Forced]) -> AbstractSet[tuple[str, datetime]]:
    """By when each pod has to go."""
    return {uid: each.evict_by for uid, each in forced.items()}.items()
