"""A storm that is simulated over a copy of a cluster, as fast as a person can follow."""

from collections.abc import Iterator
from dataclasses import dataclass

from evenkeel.ports import Clock
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.pace import Pace
from evenkeel_cli.screen.known import Known
from evenkeel_cli.screen.simulated import Simulated
from evenkeel_cli.simulate import trial
from evenkeel_cli.simulate.trial import STEP, Ground, Setting


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
        storm = trial.storm(self.ground, self.setting, self.seed)
        simulated = Simulated(storm, plain, self.setting.labels, self.prices, self.clock)
        pace = Pace(self.clock)
        try:
            yield simulated.look(self.name)
            for _ in storm.steps():
                if pace.hold(STEP, self.speed):
                    yield simulated.look(self.name)
            yield simulated.look(self.name)
        finally:
            storm.close()
