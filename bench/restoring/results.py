"""What restore did, and what others saw of it."""

from collections.abc import Sequence

import msgspec

from bench.conditions import Conditions
from bench.floors.figures import Stand
from bench.placement.results import Webhook


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run: what it began, the seconds that it took, and those until all of it was through."""

    moves: int
    own: float
    through: float


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """Restore of a cluster with ``pods`` on on-demand nodes, ``surplus`` of them above the floors.

    ``moves`` were begun by ``runs``, in ``seconds`` from the first run's beginning until the last
    one's moves were through. ``restore_cpu`` are the CPU seconds of the runs, ``handover_cpu``
    those of the process that finished the moves, ``peak_mb`` its memory at most.
    """

    conditions: Conditions
    worker: str
    pods: int
    spot: int
    on_demand: int
    percent: int
    budget: int
    surplus: int
    runs: Sequence[Run]
    seconds: float
    stands: Sequence[Stand]
    restore_cpu: float
    handover_cpu: float
    peak_mb: float
    webhook: Webhook

    @property
    def moves(self) -> int:
        """How many moves were begun."""
        return sum(each.moves for each in self.runs)

    @property
    def lowest_share(self) -> float:
        """The lowest share of a workload's replicas that were Ready at any time."""
        return min(each.lowest / each.replicas for each in self.stands)

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        found = []
        for each in self.stands:
            name = f"of {each.workloads} {each.kind}"
            if each.below_wanted:
                found.append(f"{each.below_wanted} {name} had fewer Ready than wanted")
            if each.below_on_demand:
                found.append(f"{each.below_on_demand} {name} had fewer than their floor")
            if not each.is_exact:
                found.append(
                    f"{each.kind}: {each.on_demand} on on-demand, {each.ready} Ready; wanted:"
                    f" {each.floor} and {each.replicas}"
                )
        if self.moves != self.surplus:
            found.append(f"{self.moves} moves for {self.surplus} pods")
        return found
