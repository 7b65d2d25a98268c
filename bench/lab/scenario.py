"""The storms that are measured, as values."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from evenkeel.settings.handover import PODS_EACH


@dataclass(frozen=True, slots=True)
class Scenario:
    """One storm.

    ``spot`` nodes with room for ``per_spot`` pods each, all noticed within ``spread`` seconds.
    ``large`` Deployments of ``size`` replicas and ``large`` of one. ``idle`` on-demand nodes with
    room for ``per_idle`` pods each, which is room for all; with ``late`` they appear only so many
    seconds after pods are Pending. Where the controllers are ``slow`` they have Kubernetes' default
    of 20 requests a second. ``headroom`` pause pods hold places on on-demand nodes that are there
    from the beginning; ``reserved``: places for the single replicas alone. ``processes``: so many
    share the workloads.
    """

    title: str
    spot: int = 100
    per_spot: int = 30
    idle: int = 60
    per_idle: int = 55
    large: int = 50
    size: int = 59
    spread: float = 0.0
    late: float = 0.0
    slow: bool = False
    headroom: int = 0
    reserved: bool = False
    processes: int = 1

    @property
    def pods(self) -> int:
        """How many pods there are."""
        return self.large * (self.size + 1)

    @property
    def pods_each(self) -> int:
        """Of more pods than this a storm is shared, so that ``processes`` share this one."""
        return PODS_EACH if self.processes == 1 else -(-self.pods // self.processes)

    @property
    def replicas(self) -> Mapping[str, int]:
        """How many replicas each workload has, by its name: a large and a single one in turn."""
        return {
            f"{kind}-{number:02d}": size
            for number in range(self.large)
            for kind, size in (("large", self.size), ("one", 1))
        }

    def of(self, nodes: int) -> "Scenario":
        """The same with so many spot nodes, an even number, and all else in proportion."""
        share = nodes / self.spot
        return replace(
            self,
            spot=nodes,
            idle=math.ceil(self.idle * share),
            large=round(self.large * share),
        )


A: Final = Scenario("idle capacity")
A50: Final = A.of(50)
B: Final = Scenario("nodes appear 60 s after pods are Pending", spread=180.0, late=60.0)
SCENARIOS: Final[Mapping[str, Scenario]] = {
    "A": A,
    "A-two": replace(A, title="shared by two processes", processes=2),
    "A50": A50,
    "A50-two": replace(A50, title="shared by two processes", processes=2),
    "B": B,
    "B-headroom": replace(B, title="the same with 50 pause pods", headroom=50),
    "B-reserved": replace(B, title="the same with 50 reserved places", headroom=50, reserved=True),
    "D": Scenario("controllers at their default rate", slow=True),
}
