"""How a reconciler's Lease is read and written.

Two clocks fence what its holder does. The Lease runs out by the API server's clock, which all
reconcilers compare alike. How long a holder may write is measured by its own machine, from before a
renewal was sent (see ``hold``). Times in the Lease are the API server's. What is not known of them
makes a hold longer: a renewal is noted with the latest time that it may be there, and compared with
the earliest. Each write fails where another was faster.

It is not promised that the API server refuses a late write of a holder of before: a write to
another object does not name the Lease. That is why a holder stops so long before it runs out.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease, LeaseSpec
from evenkeel.model.division import lease_of
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Get, Operation, Patch, as_read, pointer
from evenkeel.model.times import sound_time, to_micro_time
from evenkeel.ports import Clock

DURATION: Final = timedelta(seconds=15)
"""How long a Lease is held without a renewal."""

VALID: Final = timedelta(seconds=10)
"""How long after an accepted renewal was sent a write that rests on a count may begin.

The rest of the Lease is for the write's own time on the way.
"""

LONGEST_HELD: Final = timedelta(seconds=60)
"""A Lease counts as held for no longer than this after its renewal, whatever duration it names."""

WHOLE: Final = timedelta(seconds=1)
"""The header Date has whole seconds: the answer was given up to so much later."""


class ServerTime:
    """The API server's time: the same for all reconcilers, whatever their machines' clocks say.

    An answer's Date tells it, at any time after that. Not known is how long the answer was under
    way: the time lies between ``earliest`` and ``latest``. Between answers it passes as the
    machine's time since its start does, so that a wall clock that is set changes nothing. Until an
    answer has told the time it is the wall clock's.
    """

    def __init__(self, clock: Clock) -> None:
        """``clock`` is the machine's."""
        self._clock = clock
        self._date: datetime | None = None
        self._sent = self._received = timedelta()

    def heard(self, sent: timedelta, date: datetime | None) -> None:
        """Take the Date of an answer that came now. ``sent``: the machine's time at its request."""
        if date is not None:
            self._date, self._sent, self._received = date, sent, self._clock.boot()

    @property
    def earliest(self) -> datetime:
        """What time it is there at least: the answer was given the moment it came."""
        if self._date is None:
            return self._clock.now()
        return self._date + (self._clock.boot() - self._received)

    @property
    def latest(self) -> datetime:
        """What time it is there at most: the answer was given the moment it was asked for."""
        if self._date is None:
            return self._clock.now()
        return self._date + WHOLE + (self._clock.boot() - self._sent)

    @property
    def ahead(self) -> timedelta:
        """How far the wall clock here is ahead of the API server's at least, negative if behind."""
        now = self._clock.now()
        return max(timedelta(), now - self.latest) + min(timedelta(), now - self.earliest)


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


class LeaseWrites:
    """What one holder writes to the Lease of a number."""

    def __init__(self, holder: str, there: ServerTime) -> None:
        """``there`` is the API server's time."""
        self._there = there
        self._holder = holder
        self._is_mine = Operation("test", "/spec/holderIdentity", holder)

    def create(self, number: int, notes: Mapping[str, str]) -> Create:
        """Take the Lease of a number that has none."""
        metadata = Metadata(
            name=lease_of(number),
            namespace=names.SYSTEM_NAMESPACE,
            annotations={names.WAKE_UP_AT: "", **notes},
        )
        return Create(Lease(metadata=metadata, spec=self._spec(transitions=0)))

    def take(self, number: int, lease: Lease, notes: Mapping[str, str]) -> Patch:
        """Take a Lease as it was read. Notes on it that this version does not know stay."""
        nothing = Operation("add", "/metadata/annotations", {})
        spec = self._spec(lease.spec.lease_transitions + 1)
        return _patch(
            number,
            *as_read(lease),
            *(() if lease.metadata.annotations else (nothing,)),
            *_noting(notes),
            Operation("add", "/spec", msgspec.to_builtins(spec)),
        )

    def renew(self, number: int, notes: Mapping[str, str]) -> Patch:
        """Go on to hold the Lease."""
        renewed = Operation("add", "/spec/renewTime", to_micro_time(self._there.latest))
        return _patch(number, self._is_mine, renewed, *_noting(notes))

    def give_up(
        self, number: int, lease: Lease, wake_up_at: datetime | None, notes: Mapping[str, str]
    ) -> Patch:
        """Free the Lease as it was read; work goes on then, on the API server's clock."""
        at = "" if wake_up_at is None else to_micro_time(wake_up_at)
        return _patch(
            number,
            *as_read(lease),
            self._is_mine,
            Operation("add", "/spec/holderIdentity", ""),
            *_noting({names.WAKE_UP_AT: at, **notes}),
        )

    def note_held(self, number: int, notes: Mapping[str, str]) -> Patch:
        """Note something on the Lease while it is held."""
        return _patch(number, self._is_mine, *_noting(notes))

    def _spec(self, transitions: int) -> LeaseSpec:
        text = to_micro_time(self._there.latest)
        return LeaseSpec(
            holder_identity=self._holder,
            lease_duration_seconds=int(DURATION.total_seconds()),
            acquire_time=text,
            renew_time=text,
            lease_transitions=transitions,
        )


def note_read(number: int, lease: Lease, notes: Mapping[str, str]) -> Patch:
    """Note something on a Lease as it was read, held or free."""
    return _patch(number, *as_read(lease), *_noting(notes))


def _patch(number: int, *operations: Operation) -> Patch:
    return Patch(
        kind=Lease, name=lease_of(number), namespace=names.SYSTEM_NAMESPACE, body=operations
    )


def _noting(notes: Mapping[str, str]) -> Sequence[Operation]:
    return [
        Operation("add", pointer("metadata", "annotations", key), note)
        for key, note in notes.items()
    ]
