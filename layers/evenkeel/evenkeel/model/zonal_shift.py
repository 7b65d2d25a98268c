"""Zones that traffic is shifted away from: what Application Recovery Controller (ARC) says.

The schedule's invocation of the reconciler notes them on the reconciler's Lease.
https://docs.aws.amazon.com/r53recovery/latest/dg/arc-zonal-shift.resource-types.eks.html
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from evenkeel.model.names import is_label_value
from evenkeel.model.notes import read_note
from evenkeel.model.release import CLOCK_SKEW
from evenkeel.model.times import is_sound

COUNTS_FOR: Final = timedelta(minutes=10)
"""How long a note counts. ARC is asked once a minute, and may not answer for a while."""

MOST: Final = 16
"""A note names so many zones at most."""


class ZonalShift(NamedTuple):
    """The cluster's traffic is shifted away from the zone with this id, such as ``euc1-az2``.

    ``until``: when that ends unless it is prolonged. None: AWS ends it, as it does an autoshift.
    """

    zone: str
    until: datetime | None = None

    def can_be(self, now: datetime) -> bool:
        """Whether a node's label can say this zone, and the shift is not over."""
        if not self.zone or not is_label_value(self.zone):
            return False
        return self.until is None or (is_sound(self.until) and now < self.until)


class _Note(msgspec.Struct, frozen=True):
    at: datetime
    shifts: tuple[ZonalShift, ...]


def noted(shifts: Iterable[ZonalShift], now: datetime) -> str:
    """What the Lease has: JSON, ``{"at": <time>, "shifts": [["euc1-az2", <time or null>]]}``."""
    return msgspec.json.encode(_Note(now, tuple(shifts)[:MOST])).decode()


def shifts_in(note: str | None, now: datetime) -> tuple[ZonalShift, ...]:
    """The shifts that the Lease has, if it was written a short while ago, and that are not over."""
    found = _believed(note, now)
    return () if found is None else tuple(each for each in found.shifts[:MOST] if each.can_be(now))


def is_known(note: str | None, now: datetime) -> bool:
    """Whether the Lease says of a short while ago what is shifted, if anything."""
    return _believed(note, now) is not None


def _believed(note: str | None, now: datetime) -> _Note | None:
    found = read_note(note, _Note)
    if found is None or not is_sound(found.at):
        return None
    return found if -CLOCK_SKEW <= now - found.at < COUNTS_FOR else None


def zones_of(shifts: Iterable[ZonalShift]) -> frozenset[str]:
    """The ids of the zones."""
    return frozenset(shift.zone for shift in shifts)
