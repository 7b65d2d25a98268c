"""How many pods of each workload there were at its worst moment."""

import statistics
from collections.abc import Sequence

import msgspec

from bench.conditions import Conditions

WANTED = 0.8
"""The lowest share wanted, as a part of the share of all pods that could be replaced."""


class Evenness(msgspec.Struct, frozen=True, kw_only=True):
    """A storm in which the controller manager is slower than the notice.

    ``made`` of ``pods`` replacements were there when the last grace period began, and ``late`` old
    pods were not told to go by then. ``shares`` are the lowest ready shares of the large
    workloads, ``singles_at_zero`` so many of the single replicas were down. ``qps`` of the
    controllers, and ``requests_per_second`` that the API server takes.
    """

    conditions: Conditions
    nodes: int
    pods: int
    qps: float
    requests_per_second: float
    made: int
    late: int
    shares: Sequence[float]
    singles_at_zero: int

    @property
    def lowest(self) -> float:
        """The lowest share of all."""
        return min(self.shares)

    @property
    def median(self) -> float:
        """The share of the workload in the middle."""
        return statistics.median(self.shares)

    @property
    def wanted(self) -> float:
        """The lowest share that is wanted."""
        return WANTED * self.made / self.pods

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        found = []
        if self.lowest < self.wanted:
            found.append(f"lowest share {self.lowest:.2f}, wanted {self.wanted:.2f}")
        if self.late:
            found.append(f"{self.late} pods not told to go in time, wanted none")
        if self.singles_at_zero:
            found.append(f"{self.singles_at_zero} single replicas at zero, wanted none")
        return found
