"""How many pods of a workload are available, of how many wanted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.model.meta import Reference
from evenkeel.model.names import is_subdomain
from evenkeel.model.notes import read_note
from evenkeel.model.times import is_sound

FOLLOWED_FOR: Final = timedelta(hours=1)
"""So long after a count that is low it is looked whether the workload is whole again."""

MOST_NOTED: Final = 100
"""So many low counts the Lease keeps: with the longest names they are 70 kB."""


class PodCount(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted at a time of a workload, released pods among the available ones.

    ``available`` None: from then on it is not counted, for it is in a rollout. ``wanted`` are the
    replicas that its owner asks for, and ``generation`` is the owner's: another one after a rollout
    or another number was asked for.
    """

    at: datetime
    workload: Reference
    available: int | None
    wanted: int
    generation: int = 0

    def says_as(self, other: "PodCount | None") -> bool:
        """Whether another one has the same numbers."""
        mine = self.available, self.wanted
        return other is not None and mine == (other.available, other.wanted)

    @property
    def is_whole(self) -> bool:
        """Whether as many are available as are wanted, as far as is known."""
        return self.available is not None and self.available >= self.wanted

    @property
    def is_low(self) -> bool:
        """Whether fewer are available than are wanted, as far as is known."""
        return self.available is not None and self.available < self.wanted

    def is_followed(self, now: datetime) -> bool:
        """Whether it is looked when the workload is whole again."""
        return not self.is_whole and now - self.at < FOLLOWED_FOR


def since(low: PodCount, count: PodCount, available: Sequence[datetime]) -> Iterator[PodCount]:
    """The counts from a low one up to one that was made much later, with that one the last.

    ``available`` tells when its pods became available, in order: each of them was one more. Where
    something else is wanted by now pods came and went for that, so in between there is no count.
    """
    is_as_before = (count.wanted, count.generation) == (low.wanted, low.generation)
    if not is_as_before:
        yield msgspec.structs.replace(low, available=None)
    elif low.available is not None and count.available is not None:
        each_second = {
            at.replace(microsecond=0): (max(low.at, at), number)
            for number, at in enumerate(available, 1)
            if low.available < number < count.available
        }
        for at, number in each_second.values():
            yield msgspec.structs.replace(count, at=at, available=number)
    at = count.at
    if is_as_before and available and (count.available or 0) > (low.available or 0):
        at = max(low.at, available[-1])
    yield msgspec.structs.replace(count, at=at)


def noted(counts: Iterable[PodCount]) -> str:
    """The last of these low counts as the Lease has them: JSON; empty for none."""
    latest = sorted(counts, key=lambda count: count.at, reverse=True)[:MOST_NOTED]
    return msgspec.json.encode(latest).decode() if latest else ""


def low_counts_in(note: str | None, now: datetime) -> Mapping[Reference, PodCount]:
    """Those that the Lease has, that are followed and that can be.

    Anybody with the right to write the Lease can have written them.
    """
    found = read_note(note, tuple[PodCount, ...]) or ()
    return {
        each.workload: each
        for each in found[:MOST_NOTED]
        if is_sound(each.at)
        and each.is_followed(now)
        and is_subdomain(each.workload.name)
        and is_subdomain(each.workload.namespace)
    }
