"""How restore's plan grows with the cluster."""

from collections.abc import Sequence
from typing import Final

import msgspec

from bench.conditions import Conditions

SECONDS: Final = 30.0
MEGABYTES: Final = 512.0
GROWTH: Final = 1.3
"""What a pod may take more of CPU in the whole cluster than in a tenth of it."""


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """One plan. ``read`` and ``plan`` are seconds, without the ``served`` of the played server.

    ``cpu`` are the seconds of CPU of both: what else the machine does is in the others.
    ``megabytes`` of JSON were read. ``before_mb`` is the process before that, ``peak_mb`` it at
    its largest.
    """

    nodes: int
    pods: int
    workloads: int
    megabytes: float
    read: float
    plan: float
    cpu: float
    served: float
    steps: int
    left: int
    before_mb: float
    peak_mb: float

    @property
    def seconds(self) -> float:
        """Of reading and planning."""
        return self.read + self.plan


class PlanGrowth(msgspec.Struct, frozen=True, kw_only=True):
    """A tenth of a cluster, and all of it."""

    conditions: Conditions
    tenth: Planned
    whole: Planned

    @property
    def per_pod(self) -> float:
        """How much more CPU a pod takes in the whole than in the tenth."""
        whole, tenth = self.whole, self.tenth
        return (whole.cpu / whole.pods) / (tenth.cpu / tenth.pods)

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        wanted = (
            ("seconds", self.whole.seconds, SECONDS),
            ("MB", self.whole.peak_mb, MEGABYTES),
            ("x the CPU per pod of a tenth", self.per_pod, GROWTH),
        )
        return [
            f"{value:.2f} {what}, wanted at most {bound:g}"
            for what, value, bound in wanted
            if value > bound
        ]
