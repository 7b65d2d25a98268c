"""What drains are kept as."""

from collections.abc import Mapping, Sequence

import msgspec

from bench.drainers.figures import Outcome
from bench.machine import Machine


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One drain. ``refusals``: so many evictions were answered 429, by a budget or by the gate.

    ``ended``: whether the drainer was through within the time that it was given, and ``ran``: after
    how many seconds; None where it was not, or nobody looked.
    """

    outcome: Outcome
    refusals: int
    ended: bool
    ran: float | None = None


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The same drain without the gate and with it. ``budgets``: every other workload has one."""

    title: str
    budgets: bool
    without: Run
    gated: Run


class Drains(msgspec.Struct, frozen=True, kw_only=True):
    """The last pair of each way to drain, by its name. ``longest``: seconds that one was given."""

    machine: Machine
    replicas: Mapping[str, int]
    start: str
    longest: float
    pairs: Mapping[str, Pair] = {}

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted: behind the gate every drain ends, and no workload is below."""
        found = []
        for name, pair in self.pairs.items():
            lowest = pair.gated.outcome.lowest
            below = [each for each, wanted in self.replicas.items() if lowest[each] < wanted]
            if below:
                found.append(f"{name}: {len(below)} workloads below wanted behind the gate")
            if pair.gated.outcome.empty is None:
                found.append(f"{name}: {pair.gated.outcome.left} pods stayed behind the gate")
        return found
