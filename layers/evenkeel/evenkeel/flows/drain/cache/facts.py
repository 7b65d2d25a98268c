"""Facts: what is read because no watch shows it, how old each is, and whose plans need it.

A fact is the answer to a request, and the request is its name.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from evenkeel.flows.drain.queue import Queue
from evenkeel.model.request import Read

SOON_AGAIN_AFTER: Final = timedelta(seconds=10)
"""How old may get what is known of pods that no watch selects, such as bare ones: a pod that has
ended would be evicted at its last moment, and its logs would be lost. And how often a node is asked
for that the API server does not show."""

LOOK_AFTER = timedelta(seconds=1)
"""How often to look for facts that are too old."""

type Needs = Mapping[Read, timedelta | None]
"""The facts that a plan depends on, and how old each may get; None: it is read once."""


class Facts:
    """The facts that plans need, by the keys of the workloads that the plans are for.

    When a fact is read for the first time all those plans are wrong. What is read again is read
    again together: at fixed times, each as far from the next as a fact of that age may get old.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._needs: dict[str, Needs] = {}
        self._needed_by: defaultdict[Read, dict[str, timedelta | None]] = defaultdict(dict)
        self._asked_at: dict[Read, datetime] = {}
        self._missing: dict[Read, None] = {}
        self._began: datetime | None = None
        self._look_at: datetime | None = None

    @property
    def are_missing(self) -> bool:
        """Whether a plan needs what was never read."""
        return bool(self._missing)

    def has_all(self, facts: Iterable[Read]) -> bool:
        """Whether all of these were read."""
        return all(each in self._asked_at for each in facts)

    def set(self, key: str, facts: Needs) -> None:
        """All that the plan of a workload depends on from now on."""
        before = self._needs.get(key, {})
        if facts == before:
            return
        self._needs[key] = facts
        for fact in before.keys() - facts.keys():
            self.drop(key, fact)
        for fact, age in facts.items():
            self.add(key, fact, age)

    def add(self, key: str, fact: Read, age: timedelta | None) -> None:
        """Beside all else a plan depends on this from now on; ``age``: see ``Needs``."""
        self._needed_by[fact][key] = age
        if fact not in self._asked_at:
            self._missing[fact] = None

    def drop(self, key: str, fact: Read) -> None:
        """A plan depends on this no longer."""
        needed_by = self._needed_by[fact]
        needed_by.pop(key, None)
        if not needed_by:
            del self._needed_by[fact]
            self._missing.pop(fact, None)

    def loaded(self, fact: Read, asked_at: datetime) -> None:
        """A fact is known as of the time at which it was asked for."""
        if fact not in self._asked_at:
            self._queue.add(self._needed_by.get(fact, ()), urgent=True)
        self._asked_at[fact] = asked_at
        self._began = self._began or asked_at
        self._missing.pop(fact, None)

    def invalidate(self, fact: Read) -> None:
        """A fact has changed in a way that has to be read."""
        if self._asked_at.pop(fact, None) is not None and fact in self._needed_by:
            self._missing[fact] = None

    def due(self, now: datetime) -> Iterator[Read]:
        """What has to be read: what was never read, and every second what is too old."""
        yield from self._missing
        if self._look_at is not None and now < self._look_at:
            return
        self._began = self._began or now
        self._look_at = _last(LOOK_AFTER, self._began, now) + LOOK_AFTER
        for fact, needed in self._needed_by.items():
            ages = [age for age in needed.values() if age is not None]
            asked_at = self._asked_at.get(fact)
            if ages and asked_at is not None and asked_at < _last(min(ages), self._began, now):
                yield fact


def _last(every: timedelta, began: datetime, now: datetime) -> datetime:
    """The last of the times at which such facts are read again."""
    return began + every * ((now - began) // every)
