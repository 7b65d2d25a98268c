"""What became of storms with floors."""

from collections.abc import Sequence

import msgspec

from bench.conditions import Conditions
from bench.floors.figures import Stand
from bench.placement.results import Webhook
from bench.storm.figures import Outcome


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One storm.

    ``overdue``: so many pods were still there when their node's deadline had come. ``cpu_seconds``
    and ``peak_mb`` are those of the process that marked nodes and handed pods over.
    """

    conditions: Conditions
    fill: float
    stands: Sequence[Stand]
    outcome: Outcome
    overdue: int
    cpu_seconds: float
    peak_mb: float
    webhook: Webhook

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted of the pods and their floors."""
        figures = {
            "pods not told to go": self.outcome.left,
            "pods still there at their node's deadline": self.overdue,
        }
        found = [f"{count} {name}" for name, count in figures.items() if count]
        for each in self.stands:
            if each.at_first != (each.floor, each.floor):
                found.append(
                    f"{each.kind}: {each.at_first} on on-demand at first, wanted {each.floor}"
                )
            if each.below_floor:
                found.append(
                    f"{each.below_floor} of {each.workloads} {each.kind} below their floor"
                )
            if each.below_on_demand:
                found.append(
                    f"{each.below_on_demand} of {each.workloads} {each.kind} had fewer than their"
                    " floor Ready on on-demand nodes"
                )
        return found


class Floors(msgspec.Struct, frozen=True, kw_only=True):
    """``pods`` on ``spot`` nodes and on ``on_demand`` nodes, which the floors fill."""

    worker: str
    pods: int
    spot: int
    on_demand: int
    percent: int
    runs: Sequence[Run]

    @property
    def worst(self) -> Run:
        """The run with the fewest Ready pods."""
        return min(self.runs, key=lambda run: sum(each.lowest for each in run.stands))

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted, in any run."""
        found = []
        for run in self.runs:
            cordons = run.outcome.cordons
            if missing := self.spot - (cordons.count if cordons else 0):
                found.append(f"{missing} nodes not cordoned")
            found += run.missed
        return found
