"""Spot weather: how many nodes EC2 gave in some pools, day after day, as somebody probed it."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, Self

import msgspec

from evenkeel_sandbox.storms.trace import TraceError

DAY: Final = timedelta(days=1)


class _Metadata(msgspec.Struct):
    gap_seconds: float


class _File(msgspec.Struct):
    """What https://github.com/skypilot-org/spot-traces has of a pool."""

    metadata: _Metadata
    data: list[int]


class Change(NamedTuple):
    """From then on the pool of this number has so large a share of what can be asked of it."""

    after: timedelta
    pool: int
    share: float


class PoolTrace(NamedTuple):
    """The shares of the wanted nodes that one pool had, sample after sample, a ``gap`` apart."""

    gap: timedelta
    shares: tuple[float, ...]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a JSON file of spot-traces. Raises TraceError."""
        try:
            found = msgspec.json.decode(path.read_bytes(), type=_File)
        except (OSError, msgspec.MsgspecError) as error:
            raise TraceError(f"{path}: cannot be read ({error})") from None
        most = max(found.data, default=0)
        if found.metadata.gap_seconds <= 0 or most <= 0 or min(found.data) < 0:
            raise TraceError(f"{path}: has no samples in which a node could be had")
        gap = timedelta(seconds=found.metadata.gap_seconds)
        return cls(gap, tuple(each / most for each in found.data))

    @property
    def lasts(self) -> timedelta:
        """How long it was probed."""
        return self.gap * len(self.shares)

    def between(self, begin: timedelta, end: timedelta) -> Sequence[float]:
        """The samples of a time. After the last one the first follows again."""
        numbers = range(-(-begin // self.gap), -(-end // self.gap))
        return [self.shares[each % len(self.shares)] for each in numbers]


class Weather(NamedTuple):
    """The weather of some pools, a day of it for each seed, and after the last the first again.

    The notices of one fall come at random times within ``spread``, or sooner where the next sample
    was taken sooner.
    """

    pools: tuple[PoolTrace, ...]
    spread: timedelta

    @property
    def lasts(self) -> timedelta:
        """How long the pool was probed that was probed longest."""
        return max(each.lasts for each in self.pools)

    @property
    def days(self) -> int:
        """How many days there are, of which the last may not be whole."""
        return -(-self.lasts // DAY)

    def length(self, seed: int) -> timedelta:
        """How long a day is."""
        return min(DAY, self.lasts - seed % self.days * DAY)

    def within(self, pool: int) -> timedelta:
        """The time in which the notices of one fall come."""
        return min(self.spread, self.pools[pool].gap)

    def first(self, seed: int) -> Sequence[float]:
        """The share of each pool when a day begins."""
        return [samples[0] for _, samples in self._of_day(seed)]

    def changes(self, seed: int) -> Sequence[Change]:
        """What changes after that, in its order."""
        return sorted(
            Change(number * pool.gap, place, after)
            for place, (pool, samples) in enumerate(self._of_day(seed))
            for number, (before, after) in enumerate(pairwise(samples), start=1)
            if after != before
        )

    def _of_day(self, seed: int) -> Iterator[tuple[PoolTrace, Sequence[float]]]:
        begin = seed % self.days * DAY
        for pool in self.pools:
            yield pool, pool.between(begin, begin + DAY)
