"""What drains are kept as."""

import statistics
from collections.abc import Mapping, Sequence

import msgspec

from bench.conditions import Conditions
from bench.drainers.figures import Outcome


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One drain. ``refusals``: so many evictions were answered 429, by a budget or by the gate.

    ``ran``: after how many seconds the drainer was through; None: not in the time that it was
    given.
    """

    outcome: Outcome
    refusals: int
    ran: float | None = None


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The same drain without the gate, and with it, which may be several runs.

    ``budgets``: every other workload has one.
    """

    conditions: Conditions
    title: str
    budgets: bool
    without: Run
    gated: Sequence[Run]


class Drains(msgspec.Struct, frozen=True, kw_only=True):
    """The last pair of each way to drain, by its name. ``longest``: seconds that one was given."""

    replicas: Mapping[str, int]
    start: str
    longest: float
    pairs: Mapping[str, Pair] = {}

    def below(self, *runs: Run) -> int:
        """How many workloads were below wanted in any of these runs."""
        return sum(lowest < self.replicas[name] for name, lowest in fewest(runs).items())

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted: behind the gate every drain ends, and no workload is below."""
        found = []
        for name, pair in self.pairs.items():
            if below := self.below(*pair.gated):
                found.append(f"{name}: {below} workloads below wanted behind the gate")
            if left := max(each.outcome.left for each in pair.gated):
                found.append(f"{name}: {left} pods stayed behind the gate")
        return found


def fewest(runs: Sequence[Run]) -> Mapping[str, int]:
    """The fewest Ready pods that each workload had in any of these runs, by its name."""
    return {
        name: min(each.outcome.lowest[name] for each in runs) for name in runs[0].outcome.lowest
    }


def middle(seconds: Sequence[float | None]) -> float | None:
    """The median of what several runs took; None if one of them never came to that."""
    known = [each for each in seconds if each is not None]
    return statistics.median(known) if len(known) == len(seconds) else None
