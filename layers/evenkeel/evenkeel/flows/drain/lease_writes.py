"""The writes to a reconciler's Lease, each of which fails where another was faster.

Times in the Lease are the API server's, so that machines whose clocks are apart compare them
alike. What is not known of it makes a hold longer: a renewal is noted with the latest time that it
may be there, and compared with the earliest.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from evenkeel.flows.drain.lease import DURATION
from evenkeel.flows.drain.server_time import ServerTime
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease, LeaseSpec
from evenkeel.model.division import lease_of
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Operation, Patch, as_read, pointer
from evenkeel.model.times import to_micro_time


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
    """Note something on a Lease as it was read, whoever holds it."""
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
