"""What the webhook costs, and how it counts."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from bench.conditions import Conditions
from bench.storm.figures import Percentiles, percentiles

WANTED: Final = 0.015
"""Seconds that the webhook may add to the 99th percentile."""


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured. In each round all of it with the webhook and without, in turn."""

    rounds: int = 3
    seconds: int = 10
    burst: int = 500
    rate: float = 20.0


class Burst(msgspec.Struct, frozen=True, kw_only=True):
    """Pods of one workload, made as fast as the clients could.

    ``floor`` of them were wanted on on-demand nodes, ``told`` were told so by the webhook, and
    ``landed`` were bound there. ``unplaced`` passed as they were.
    """

    pods: int
    seconds: float
    latency: Percentiles
    floor: int
    told: int
    landed: int
    unplaced: int

    @property
    def is_exact(self) -> bool:
        """Whether the floor is on on-demand, and not a pod more."""
        return self.told == self.landed == self.floor and not self.unplaced


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """The same once without the webhook (``bare``) and once with it (``asked``).

    ``load`` is the machine's load average of the last minute when it ended.
    """

    bare: Percentiles
    asked: Percentiles
    bare_burst: Burst
    asked_burst: Burst
    load: float

    @property
    def added(self) -> tuple[float, float]:
        """Seconds that the webhook adds to the median, and to the 99th percentile."""
        return self.asked.median - self.bare.median, self.asked.p99 - self.bare.p99

    @property
    def ratio(self) -> float:
        """How much longer a burst takes with the webhook."""
        return self.asked_burst.seconds / self.bare_burst.seconds


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """The process, over all rounds: its memory is the most it ever had.

    ``reviews`` and ``mean``, the seconds of one, are the API server's own figures.
    """

    reviews: int
    mean: float
    cpu_seconds: float
    peak_mb: float


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    conditions: Conditions
    extent: Extent
    clients: int
    rounds: Sequence[Round]
    webhook: Webhook
    wanted: float = WANTED

    @property
    def middle(self) -> Round:
        """The round in the middle by what it added: what else the machine did is in the others."""
        ordered = sorted(self.rounds, key=lambda each: each.added[1])
        return ordered[(len(ordered) - 1) // 2]

    @property
    def ratio(self) -> float:
        """How much longer a burst takes with the webhook, in the median."""
        return statistics.median(each.ratio for each in self.rounds)

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        found = [
            f"of {burst.pods} pods {burst.told} were told to go to on-demand and {burst.landed}"
            f" landed there, {burst.unplaced} passed unplaced; wanted: {burst.floor}"
            for burst in (each.asked_burst for each in self.rounds)
            if not burst.is_exact
        ]
        added = self.middle.added[1]
        if added > self.wanted:
            found.append(
                f"it adds {added * 1000:.1f} ms to the 99th percentile, wanted at most"
                f" {self.wanted * 1000:.0f} ms"
            )
        return found


def spread(durations: Iterable[float]) -> Percentiles:
    """How durations are spread; there has to be one."""
    found = percentiles(durations)
    assert found is not None, "nothing was measured"
    return found
