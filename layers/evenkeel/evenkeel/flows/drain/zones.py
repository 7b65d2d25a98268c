"""Which zones the cluster's traffic is shifted away from: ARC is asked, and may be silent."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.errors import ZonalShiftError
from evenkeel.model.times import in_words
from evenkeel.model.zonal_shift import ZonalShift, noted
from evenkeel.ports import Clock, Recorder, ZonalShifts

AFTER_A_FAILURE: Final = timedelta(minutes=10)
"""How long ARC is not asked after it refused or was silent: each question may take 3 s."""


class Zones:
    """Outlives invocations, so that a silent ARC costs one of them some seconds, and not all."""

    def __init__(self, shifts: ZonalShifts | None, clock: Clock, recorder: Recorder) -> None:
        """``shifts`` None: nobody is asked."""
        self._shifts = shifts
        self._clock = clock
        self._recorder = recorder
        self._ask_at: datetime | None = None
        self._told: tuple[ZonalShift, ...] = ()

    def note(self) -> str | None:
        """What the Lease is to say of shifts now; None: that is not known, and its note stays."""
        now = self._clock.now()
        if self._shifts is None or (self._ask_at is not None and now < self._ask_at):
            return None
        try:
            found = tuple(sorted(self._shifts.under_way(), key=lambda shift: shift.zone))
        except ZonalShiftError as error:
            self._ask_at = now + AFTER_A_FAILURE
            self._recorder.noted(f"zonal shifts are not known: {error}")
            return None
        self._ask_at = None
        self._tell(found)
        return noted(found, now)

    def _tell(self, found: tuple[ZonalShift, ...]) -> None:
        """Say what has changed."""
        for shift in found:
            if shift not in self._told:
                until = "" if shift.until is None else f" until {in_words(shift.until)}"
                self._recorder.noted(f"shifted away from zone {shift.zone}{until}")
        if self._told and not found:
            self._recorder.noted("shifted away from no zone any more")
        self._told = found
