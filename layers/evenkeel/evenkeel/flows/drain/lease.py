"""What the Lease of a reconciler tells: who holds it, how long still, when work goes on."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.division import lease_of
from evenkeel.model.request import Get
from evenkeel.model.times import sound_time

DURATION: Final = timedelta(seconds=15)
"""How long a Lease is held without a renewal."""

VALID: Final = timedelta(seconds=10)
"""How long after an accepted renewal was sent a write that rests on a count may begin.

The rest of the Lease is for the write's own time on the way.
"""

LONGEST_HELD: Final = timedelta(seconds=60)
"""A Lease counts as held for no longer than this after its renewal, whatever duration it names."""


def question(number: int) -> Get[Lease]:
    """What shows the Lease of a number."""
    return Get(Lease, lease_of(number), names.SYSTEM_NAMESPACE)


def held_for(lease: Lease | None, holder: str, now: datetime) -> timedelta:
    """How long another than this holder may hold a Lease still; 0 if it is free.

    ``now``: the earliest that it may be on the API server. It is free, too, where the renewal's
    time cannot be read, or is no time that a holder writes.
    """
    since = None if lease is None else lease.held_since
    if lease is None or since is None or lease.spec.holder_identity in {None, "", holder}:
        return timedelta()
    duration = timedelta(seconds=lease.spec.lease_duration_seconds or 0) or DURATION
    duration = min(duration, LONGEST_HELD)
    passed = now - since
    return max(timedelta(), duration - passed) if passed >= -duration else timedelta()


def noted_wake_up(lease: Lease | None) -> datetime | None:
    """When work goes on that a Lease is about; None if that is not known, or makes no sense."""
    return None if lease is None else sound_time(lease.metadata.annotations.get(names.WAKE_UP_AT))
