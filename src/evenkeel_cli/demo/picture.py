"""The live picture of the demo: the screen of ``evenkeel watch``, phase by phase."""

from collections.abc import Iterable
from typing import Final

from rich.console import Console, Group
from rich.live import Live

from evenkeel.adapters.clock import SystemClock
from evenkeel_cli.demo.play import Phase
from evenkeel_cli.pace import Pace
from evenkeel_cli.screen import making
from evenkeel_cli.screen.simulated import Simulated
from evenkeel_cli.watch import terminal

HEADLINES: Final = {
    Phase.STORM: "the demo: the storm",
    Phase.AFTERMATH: "the demo: the instances are gone; replacements of lost pods start",
    Phase.EXPIRY: "the demo: waiting for the rebalance recommendation to expire",
    Phase.RESTORE: "the demo: new spot nodes came; restore moves pods back",
}


class Picture:
    """Paints a simulation, ``speed`` times as fast as a phase's own pace."""

    def __init__(self, simulated: Simulated, console: Console, speed: float) -> None:
        """Paint for this console's size."""
        self._simulated = simulated
        self._console = console
        self._speed = speed

    def show(self, phases: Iterable[Phase]) -> None:
        """Show each step in the place of the one before, as long as the phases go on."""
        simulated, out = self._simulated, self._console
        clock, pace = simulated.simulation.clock, Pace(SystemClock())
        before = clock.now()
        with Live(console=out, auto_refresh=False, transient=True, screen=False) as live:
            for phase in phases:
                now = clock.now()
                if pace.hold(now - before, phase.value * self._speed):
                    shown = making.of(simulated.look(HEADLINES[phase]))
                    painted = terminal.lines(shown, out.width, out.height - 1)
                    live.update(Group(*painted), refresh=True)
                before = now
