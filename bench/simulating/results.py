"""What many storms over a made-up cluster took."""

from collections.abc import Sequence

import msgspec

from bench.conditions import Conditions

MINUTES: float = 10.0
STORMS: int = 50
"""Wanted: so many storms in so many minutes."""


class Simulating(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the command: ``storms`` of one pool each, ``jobs`` at a time.

    ``seconds`` passed, ``cpu`` seconds were used by all its processes, of which ``inside`` were
    spent in the functions in one storm alone, over its ``pods`` on nodes with a notice. ``growth``
    is what `make bench-growth` spends inside the functions for a pod, in milliseconds.
    """

    conditions: Conditions
    nodes: int
    pods: int
    storms: int
    jobs: int
    seconds: float
    cpu: float
    inside: float
    struck: int
    growth: float

    @property
    def minutes(self) -> float:
        """What the wanted number of storms takes; reckoned, where fewer were measured."""
        return self.seconds / self.storms * STORMS / 60

    @property
    def is_reckoned(self) -> bool:
        """Whether fewer storms were measured than are wanted."""
        return self.storms < STORMS

    @property
    def per_pod(self) -> float:
        """Milliseconds of CPU inside the functions."""
        return 1000 * self.inside / self.struck

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        found = []
        if self.minutes > MINUTES:
            found.append(f"{STORMS} storms: {self.minutes:.1f} min, wanted at most {MINUTES:g}")
        if self.per_pod > self.growth:
            found.append(f"CPU per pod: {self.per_pod:.1f} ms, wanted at most {self.growth:.1f} ms")
        return found
