"""A simulation of which a command reports."""

from collections.abc import Container

from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.pod import Pod
from evenkeel.model.request import Selection
from evenkeel.ports import Recorder
from evenkeel_cli import ways
from evenkeel_cli.journal import Journal
from evenkeel_cli.moves import fates
from evenkeel_cli.report import Report
from evenkeel_sandbox.simulation import Simulation
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster


class ReportedSimulation(Simulation):
    """A simulation with a journal of the decisions, that knows what could be handed over."""

    def __init__(
        self,
        clock: SimulatedClock,
        cluster: SimulatedCluster,
        *recorders: Recorder,
        labels: CapacityLabels = WELL_KNOWN,
        spot: Container[str] = (),
        reserved: Container[str] = (),
    ) -> None:
        """As Simulation; ``movable`` is asked for before anything happens."""
        self.journal = Journal(clock)
        self.movable = ways.movable(ways.situations(cluster, [Selection(Pod)]))
        super().__init__(
            clock,
            cluster,
            self.journal,
            *recorders,
            labels=labels,
            spot=spot,
            reserved=reserved,
        )

    def report(self) -> Report:
        """What was seen up to now."""
        return Report(
            workloads=list(self.observer.workloads.values()),
            fates=fates(self.journal, self.observer),
            movable=self.movable,
            unwarned=self.ec2.unwarned,
        )
