"""How long evictions take, and how they count."""

from collections.abc import Sequence
from typing import Final

import msgspec

from bench.conditions import Conditions
from bench.placement.results import Webhook
from bench.storm.figures import Percentiles

WANTED: Final = 0.050
"""Seconds that the 99th percentile of the answers may take."""


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured: evictions at a rate, for so many seconds.

    ``singles`` Deployments of one replica and ``large`` of ``size``; a pod is Ready ``start``
    seconds after it got its node.
    """

    rounds: int = 3
    seconds: int = 20
    start: int = 10
    rate: float = 50.0
    singles: int = 100
    large: int = 20
    size: int = 10

    @property
    def pods(self) -> int:
        """How many pods can be evicted in a round."""
        return self.singles + self.large * self.size


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """How long evictions took, by what was answered; None where nothing was.

    ``load`` is the machine's load average of the last minute when the last was answered.
    """

    all: Percentiles
    passed: Percentiles | None
    deferred: Percentiles | None
    load: float


class Gating(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    conditions: Conditions
    extent: Extent
    clients: int
    rounds: Sequence[Answers]
    webhook: Webhook
    wanted: float = WANTED

    @property
    def middle(self) -> Answers:
        """The round in the middle by its 99th percentile."""
        ordered = sorted(self.rounds, key=lambda each: each.all.p99)
        return ordered[(len(ordered) - 1) // 2]

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        p99 = self.middle.all.p99
        if p99 <= self.wanted:
            return ()
        return [f"p99 of {p99 * 1000:.1f} ms, wanted at most {self.wanted * 1000:.0f} ms"]
