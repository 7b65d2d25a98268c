"""How long the extender's calls take, and how long a scheduler that asks it."""

import statistics
from collections.abc import Sequence
from typing import Final

import msgspec

from bench.conditions import Conditions
from bench.storm.figures import Percentiles

CALL: Final = 0.005
"""Seconds that the 99th percentile of the calls may take."""
RATIO: Final = 1.5
"""Times that a scheduler with the extender may take what one without takes."""


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured.

    Calls: in a cluster of so many ``nodes`` and ``standing`` pods, of which ``rate`` a second
    change meanwhile, for ``asked`` pods each, about each of ``offered`` nodes.
    Scheduling: ``pods`` of one Deployment on ``small`` nodes, ``pairs`` times.
    """

    nodes: int = 5_000
    standing: int = 50_000
    rate: int = 200
    asked: int = 300
    offered: Sequence[int] = (5_000, 500)
    pods: int = 300
    small: int = 100
    pairs: int = 3


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """Both calls about so many nodes: seconds from the first byte sent to the last one read."""

    offered: int
    filter: Percentiles
    prioritize: Percentiles


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds until all pods have a node, without the extender and with it.

    ``load`` is the machine's load average of the last minute when the second was done.
    """

    without: float
    extended: float
    load: float

    @property
    def ratio(self) -> float:
        """How many times as long it takes with the extender."""
        return self.extended / self.without


class Extending(msgspec.Struct, frozen=True, kw_only=True):
    """One run. ``on_demand``: how many pods of each pair were on on-demand with the extender."""

    conditions: Conditions
    extent: Extent
    calls: Sequence[Calls]
    peak_mb: float
    pairs: Sequence[Pair]
    floor: int
    on_demand: Sequence[int]

    @property
    def ratio(self) -> float:
        """The median of the pairs' ratios."""
        return statistics.median(pair.ratio for pair in self.pairs)

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        found = [
            f"p99 of {verb} for {each.offered} nodes is {seconds.p99 * 1000:.1f} ms,"
            f" wanted at most {CALL * 1000:.0f} ms"
            for each in self.calls
            for verb, seconds in (("filter", each.filter), ("prioritize", each.prioritize))
            if seconds.p99 > CALL
        ]
        if self.ratio > RATIO:
            found.append(f"{self.ratio:.2f} times as long, wanted at most {RATIO:g}")
        found += [
            f"{found} pods on on-demand, wanted {self.floor}"
            for found in self.on_demand
            if found != self.floor
        ]
        return found
