"""What is known of a simulation at one time, beside a plain eviction in the same storm."""

from collections.abc import Iterable

from evenkeel.flows.reads import ask_for_one
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.pool import pools_of
from evenkeel.ports import Clock
from evenkeel.settings import Mode
from evenkeel_cli import observed, pausing
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.nodes.listing import DoomedNodeList, listing
from evenkeel_cli.nodes.looking import LEASE, Look
from evenkeel_cli.screen.around import Surveyor
from evenkeel_cli.screen.known import ON_DEMAND, Known
from evenkeel_cli.simulation import ReportedSimulation


class Simulated:
    """Looks at a simulation again and again."""

    def __init__(
        self,
        simulation: ReportedSimulation,
        plain: ReportedSimulation,
        labels: CapacityLabels,
        prices: Prices,
        clock: Clock,
    ) -> None:
        """``plain`` is the plain eviction, after it is over; ``clock`` times looks around."""
        self.simulation = simulation
        self._labels = labels
        self._beside = observed.of(plain.observer, plain.clock.now(), plain.ec2.unwarned).counts
        self._lowest = observed.lowest(plain.observer)
        self._surveyor = Surveyor(simulation.cluster, labels, prices, clock)
        self._pools = dict[str, str]()

    def look(self, source: str) -> Known:
        """What is known now. ``source`` says where it is from."""
        simulation = self.simulation
        there = pools_of(simulation.observer.nodes.values(), self._labels)
        self._pools |= {name: str(pool or ON_DEMAND) for name, pool in there.items()}
        is_begun = bool(simulation.journal.entries)
        seen = self._at_work()
        return Known(
            at=simulation.clock.now(),
            source=source,
            account=simulation.account(self._lowest) if is_begun else None,
            pools=dict(self._pools),
            left=set(there),
            plain=self._beside,
            around=self._surveyor.around(),
            mode=Mode.ACT,
            lease=seen.lease,
            paused=seen.paused or "",
        )

    def after(self, steps: Iterable[object], source: str) -> Known:
        """What is known once these steps of the simulation are over."""
        before = self.look(source)
        for _ in steps:
            pass
        return self.look(source)._replace(over=True, around=before.around)

    def _at_work(self) -> DoomedNodeList:
        cluster = self.simulation.cluster
        lease, pause = ask_for_one(cluster, LEASE), pausing.find(cluster)
        return listing(Look(at=self.simulation.clock.now(), nodes=(), lease=lease, pause=pause))
