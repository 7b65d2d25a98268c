"""What became of a storm with floors."""

from collections.abc import Sequence

import msgspec

from bench.floors.figures import Stand
from bench.machine import Machine
from bench.placement.results import Webhook
from bench.storm.figures import Outcome


class Floors(msgspec.Struct, frozen=True, kw_only=True):
    """One run: ``pods`` on ``spot`` nodes and on ``on_demand`` nodes, which the floors fill.

    ``overdue``: so many pods were still there when their node's deadline had come. ``cpu_seconds``
    and ``peak_mb`` are those of the process that marked nodes and handed pods over.
    """

    machine: Machine
    worker: str
    pods: int
    spot: int
    on_demand: int
    percent: int
    fill: float
    stands: Sequence[Stand]
    outcome: Outcome
    overdue: int
    cpu_seconds: float
    peak_mb: float
    webhook: Webhook

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        cordons = self.outcome.cordons
        figures = {
            "nodes not cordoned": self.spot - (cordons.count if cordons else 0),
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
