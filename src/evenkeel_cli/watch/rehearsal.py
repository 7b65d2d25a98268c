"""A storm that is simulated over a copy of a cluster, as fast as a person can follow."""

from collections.abc import Iterator
from dataclasses import dataclass

from evenkeel.flows.reads import ask_for_one
from evenkeel.model.pool import pools_of
from evenkeel.ports import Clock
from evenkeel.settings import Mode
from evenkeel_cli import observed, pausing
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.nodes.listing import DoomedNodeList, listing
from evenkeel_cli.nodes.looking import LEASE, Look
from evenkeel_cli.pace import Pace
from evenkeel_cli.simulate import trial
from evenkeel_cli.simulate.trial import STEP, Ground, Setting, Storm
from evenkeel_cli.watch.around import Surveyor
from evenkeel_cli.watch.known import ON_DEMAND, Known


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Implements Source. ``speed``: so many of its seconds pass in one of the ``clock``."""

    ground: Ground
    setting: Setting
    seed: int
    name: str
    prices: Prices
    speed: float
    clock: Clock

    def looks(self) -> Iterator[Known]:
        """The storm, second by second, beside a plain eviction in the same one."""
        plain = trial.in_plain_eviction(self.ground, self.setting, self.seed)
        beside = observed.of(plain.observer, plain.clock.now(), plain.ec2.unwarned).counts
        lowest = observed.lowest(plain.observer)
        storm = trial.storm(self.ground, self.setting, self.seed)
        surveyor = Surveyor(storm.cluster, self.setting.labels, self.prices, self.clock)
        pools = dict[str, str]()

        def look() -> Known:
            there = pools_of(storm.observer.nodes.values(), self.setting.labels)
            pools.update((name, str(pool or ON_DEMAND)) for name, pool in there.items())
            seen = _at_work(storm)
            return Known(
                at=storm.clock.now(),
                source=self.name,
                account=storm.account(lowest, pools) if storm.journal.entries else None,
                pools=dict(pools),
                plain=beside,
                around=surveyor.around(),
                mode=Mode.ACT,
                lease=seen.lease,
                paused=seen.paused or "",
            )

        pace = Pace(self.clock)
        try:
            yield look()
            for _ in storm.steps():
                if pace.hold(STEP, self.speed):
                    yield look()
            yield look()
        finally:
            storm.close()


def _at_work(storm: Storm) -> DoomedNodeList:
    lease, pause = ask_for_one(storm.cluster, LEASE), pausing.find(storm.cluster)
    return listing(Look(at=storm.clock.now(), nodes=(), lease=lease, pause=pause))
