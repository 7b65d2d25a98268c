"""The simulated Application Recovery Controller: zones that the cluster is shifted away from."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from evenkeel.errors import ZonalShiftError
from evenkeel.model.zonal_shift import ZonalShift
from evenkeel_sandbox.simulator.clock import SimulatedClock


class SimulatedZonalShifts:
    """Implements the port ZonalShifts. EKS is not simulated: nobody cordons the zone's nodes.

    ``asked`` holds when it was asked.
    """

    def __init__(self, clock: SimulatedClock) -> None:
        """No zone is shifted away from."""
        self._clock = clock
        self._shifts: dict[str, ZonalShift] = {}
        self._outage: ZonalShiftError | None = None
        self._wait = timedelta()
        self.asked: list[datetime] = []

    def shift(self, zone: str, until: datetime | None = None) -> None:
        """Shift away from a zone, by its id; ``until`` None: until ``end``."""
        self._shifts[zone] = ZonalShift(zone, until)

    def end(self, zone: str) -> None:
        """Shift back."""
        del self._shifts[zone]

    def fail(self, error: ZonalShiftError | None, after: timedelta = timedelta()) -> None:
        """Answer every question with this error after so long, until called with None."""
        self._outage = error
        self._wait = after

    def under_way(self) -> Sequence[ZonalShift]:
        """Those that are in effect. Raises ZonalShiftError."""
        now = self._clock.now()
        self.asked.append(now)
        if self._wait:
            self._clock.sleep(self._wait)
        if self._outage is not None:
            raise self._outage
        shifts = self._shifts.values()
        return [shift for shift in shifts if shift.until is None or now < shift.until]
