"""A decision log that is played back: the interruption that it tells of, as it was at each time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.ports import Clock
from evenkeel_cli.history import incident
from evenkeel_cli.history.cutting import Record
from evenkeel_cli.pace import Pace
from evenkeel_cli.screen.known import Known

STEP: Final = timedelta(seconds=1)
AFTERWARDS: Final = timedelta(seconds=10)
"""So long it goes on after the last record."""


@dataclass(frozen=True, slots=True)
class Playback:
    """Implements Source. ``records``: of one interruption, one at least."""

    records: Sequence[Record]
    name: str
    speed: float
    clock: Clock

    def looks(self) -> Iterator[Known]:
        """What the log had told by each second."""
        ordered = sorted(self.records, key=lambda each: each.time)
        at, ends = ordered[0].time, ordered[-1].time + AFTERWARDS
        pace = Pace(self.clock)
        while at < ends:
            at += STEP
            if pace.hold(STEP, self.speed) or at >= ends:
                told = [each for each in ordered if each.time <= at]
                modes = [each.mode for each in told if isinstance(each, DecisionRecord)]
                yield Known(
                    at=at, source=self.name, account=incident.of(told), mode=next(iter(modes), "")
                )
