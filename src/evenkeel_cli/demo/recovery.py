"""After the storm: new spot nodes come, and restore moves pods until all are where they belong."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from evenkeel_cli.demo.ratios import Ratios
from evenkeel_cli.restoring.day import has_work, moves
from evenkeel_cli.simulation import ReportedSimulation
from evenkeel_cli.status.gather import Found, gather
from evenkeel_sandbox.built_in import fleet

STEP: Final = timedelta(seconds=5)
LOOK: Final = timedelta(minutes=1)
LONGEST: Final = timedelta(hours=3)


class Recovery:
    """Lets restore work from now on; ``new_nodes`` is how many came instead of lost ones.

    Restore's schedule begins here and not with the storm, so that the table of the storm tells
    of handovers alone.
    """

    def __init__(self, simulation: ReportedSimulation, first: Found) -> None:
        """Let the nodes come, as an autoscaler would; ``first`` is a look before the storm."""
        self._simulation = simulation
        self._first = first
        self._storm = gather(simulation.cluster, clock=simulation.clock)
        self._restored = self._storm
        self._known = len(simulation.journal.entries)
        self._began = simulation.clock.now()
        nodes = fleet.replacements(simulation.ec2.lost_nodes)
        self.new_nodes = len(nodes)
        simulation.join(nodes)
        simulation.application.begin_restore()

    def steps(self) -> Iterator[None]:
        """Let time pass, a step at a time, until restore has nothing left to do."""
        clock = self._simulation.clock
        while clock.now() - self._began < LONGEST:
            until = clock.now() + LOOK
            while clock.now() < until:
                self._simulation.advance(STEP)
                yield
            self._restored = gather(self._simulation.cluster, clock=clock)
            if not has_work(self._restored):
                return

    @property
    def moves(self) -> int:
        """How many pods restore set out to move up to now."""
        return moves(self._simulation.journal.entries[self._known :])

    @property
    def took(self) -> timedelta:
        """How much time passed up to now."""
        return self._simulation.clock.now() - self._began

    @property
    def ratios(self) -> Ratios:
        """Where the pods are, against where they were."""
        return Ratios(self._first, self._storm, self._restored)
