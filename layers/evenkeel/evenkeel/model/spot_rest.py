"""What restore remembers of moves to spot without room: one Lease for the cluster.

Its fields are a Lease's own: ``renewTime`` is when it last had a cause to rest,
``leaseDurationSeconds`` how long it rests from then on, ``leaseTransitions`` how many failures
there were in a row, and ``acquireTime`` when such moves were begun last.
"""

from datetime import UTC, datetime, timedelta
from typing import Final, Self

import msgspec

from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease, LeaseSpec
from evenkeel.model.meta import Metadata
from evenkeel.model.release import CLOCK_SKEW, COOLDOWN_LONGEST, FORGOTTEN_AFTER, rest_after
from evenkeel.model.request import Create, Operation, Write, patch_as_read
from evenkeel.model.times import sound_time, to_micro_time

NEVER: Final = datetime(2000, 1, 1, tzinfo=UTC)


class SpotRest(msgspec.Struct, frozen=True, kw_only=True):
    """How long no pod goes to spot where no node has room for it.

    ``since`` is the last cause, and the rest lasts ``until``. ``failures`` came in a row. ``begun``
    is when such moves were begun last. ``lease`` is where that stands, if it is written already.
    """

    since: datetime = NEVER
    until: datetime = NEVER
    failures: int = 0
    begun: datetime = NEVER
    lease: Lease | None = None

    @classmethod
    def of(cls, lease: Lease, now: datetime) -> Self:
        """What a Lease says; times that have not come yet, and a longer rest, are not believed."""
        spec, latest = lease.spec, now + CLOCK_SKEW
        since, begun = sound_time(spec.renew_time), sound_time(spec.acquire_time)
        known = since if since is not None and since <= latest else NEVER
        seconds = max(0, spec.lease_duration_seconds or 0)
        lasts = min(timedelta(seconds=min(seconds, 86_400)), COOLDOWN_LONGEST)
        return cls(
            since=known,
            until=known + lasts,
            failures=max(0, spec.lease_transitions),
            begun=begun if begun is not None and begun <= latest else NEVER,
            lease=lease,
        )

    def fail(self, now: datetime) -> Self:
        """It rests, twice as long as after the last failure; an old one is forgotten."""
        failures = 1 + (self.failures if now < self.until + FORGOTTEN_AFTER else 0)
        rests = rest_after(failures)
        return msgspec.structs.replace(self, since=now, until=now + rests, failures=failures)

    def write(self) -> Write:
        """Note it, if the Lease is as it was read: of two runs at once one is refused."""
        spec = LeaseSpec(
            lease_duration_seconds=max(1, round((self.until - self.since).total_seconds())),
            acquire_time=to_micro_time(self.begun) if self.begun > NEVER else None,
            renew_time=to_micro_time(self.since),
            lease_transitions=self.failures,
        )
        lease = self.lease
        if lease is None:
            metadata = Metadata(name=names.SPOT_REST, namespace=names.SYSTEM_NAMESPACE)
            return Create(Lease(metadata=metadata, spec=spec))
        return patch_as_read(lease, Operation("add", "/spec", msgspec.to_builtins(spec)))
