"""A simulation of which a command reports."""

from collections.abc import Container, Mapping
from typing import override

from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.interruption import Key
from evenkeel.ports import Ports, Recorder
from evenkeel.settings import Mode
from evenkeel.settings.handover import SEATS
from evenkeel_cli import observed
from evenkeel_cli.history import incident
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.journal import Journal
from evenkeel_sandbox.application import CLUSTER_NAME
from evenkeel_sandbox.simulation import Responder, Simulation
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.storms import drainer
from evenkeel_sandbox.storms.drainer import Drainer


class ReportedSimulation(Simulation):
    """A simulation with a journal of the decisions."""

    def __init__(
        self,
        clock: SimulatedClock,
        cluster: SimulatedCluster,
        *recorders: Recorder,
        labels: CapacityLabels = WELL_KNOWN,
        spot: Container[str] = (),
        reserved: Container[str] = (),
        seats: int = SEATS.usual,
    ) -> None:
        """As Simulation."""
        self.journal = Journal(clock)
        super().__init__(
            clock,
            cluster,
            self.journal,
            *recorders,
            labels=labels,
            spot=spot,
            reserved=reserved,
            seats=seats,
        )

    def account(self, plain: Mapping[Key, int] | None = None) -> Incident:
        """What was decided and seen up to now. ``plain``: see Incident."""
        records = self.journal.records(CLUSTER_NAME, Mode.ACT)
        seen = observed.of(self.observer, self.clock.now(), self.ec2.unwarned)
        return incident.seen(records, seen, plain)


class PlainEviction(ReportedSimulation):
    """The same in which a plain eviction answers warnings: cordon the node, evict all its pods.

    So do the AWS node termination handler and ``kubectl drain``.
    """

    @override
    def _deploy(self, ports: Ports) -> Responder:
        return Drainer(self.clock, self.cluster, drainer.evict)
