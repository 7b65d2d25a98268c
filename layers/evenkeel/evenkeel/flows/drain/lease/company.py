"""The reconcilers that work beside this one in a divided storm, as their Leases show them.

Each of them has a Lease of its own, and works by the division that the first one's Lease notes. So
two never decide about the same workload:

- number 0 writes a new division only while nobody holds one of the other Leases;
- each takes its own Lease, and reads the others after that. What rests on a count waits until no
  other Lease is held for another division;
- the others work only while number 0 holds its Lease. A version that knows no divisions takes that
  Lease alone, and would do the work of all.

So number 0 works until each of the others has come and gone, and calls those that have not come.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

from evenkeel.errors import ForbiddenError, NotFoundError
from evenkeel.flows.drain.lease.wire import VALID, ServerTime, held_for, noted_wake_up, question
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.division import MOST, UNDIVIDED, Division, division_in
from evenkeel.model.times import earliest
from evenkeel.ports import Reply, Session


def division_of(lease: Lease | None) -> Division:
    """The division that a Lease notes; UNDIVIDED if none."""
    return division_in(None if lease is None else lease.metadata.annotations.get(names.DIVISION))


def divided_by(first: Lease | None) -> Division:
    """The division by which the holder of number 0's Lease works; UNDIVIDED if by none."""
    said = division_of(first)
    return said if first is not None and said.by == first.spec.holder_identity else UNDIVIDED


def is_wanted(lease: Lease | None, division: Division, now: datetime) -> bool:
    """Whether somebody has to come for the share of a Lease that is free.

    Nobody has come upon the last call of number 0, or died over it, or it is time to go on.
    """
    if lease is None or lease.spec.holder_identity or division_of(lease) != division:
        return True
    due = noted_wake_up(lease)
    return due is not None and due <= now


class Company:
    """What one reconciler knows of the others."""

    def __init__(self, division: Division, number: int, holder: str, there: ServerTime) -> None:
        """``holder`` has this number. None of the others was looked at yet."""
        self.division = division
        self._number = number
        self._there = there
        self._holder = holder
        self._unclear = set(range(1, MOST)) - {number}
        self._followed = set(range(1, division.of)) if number == 0 else set[int]()
        self._free = dict[int, Lease | None].fromkeys(self._followed)  # that nobody held last
        self.notes = dict[int, Mapping[str, str]]()
        """The annotations of the others' Leases, by their numbers, as they were seen last."""
        self._first_renewed: datetime | None = None
        self.is_over = False
        """Whether number 0 works by another division, or none, or has given up its Lease."""

    @property
    def is_alone(self) -> bool:
        """Whether nobody else held a Lease when they were looked at last."""
        return not self._unclear and len(self._free) == len(self._followed)

    @property
    def missing(self) -> int:
        """How many shares nobody has that somebody has to come for."""
        now = self._there.latest
        return sum(is_wanted(lease, self.division, now) for lease in self._free.values())

    @property
    def do_zeros_wait(self) -> bool:
        """Whether others have, or may have, workloads that would reach zero, not yet released."""
        at_work = self._followed - self._free.keys() if self._number == 0 else {0}
        return self.missing > 0 or any(map(self._zero_waits, at_work))

    def _zero_waits(self, number: int) -> bool:
        """Whether one at work says so, or may."""
        notes = self.notes.get(number)
        return notes is None or notes.get(names.ZEROS_WAIT) == names.TRUE

    @property
    def due_at(self) -> datetime | None:
        """When somebody has to come again for a share that nobody has, on the API server."""
        return earliest(*map(noted_wake_up, self._free.values()))

    def look(self, session: Session) -> None:
        """Look at the Leases that matter; the answers come in time."""
        others = self._followed if self._number == 0 else {0}
        for number in sorted(self._unclear | others):
            session.submit(question(number), partial(self.saw, number))

    def saw(self, number: int, reply: Reply) -> None:
        """Take what a Lease is like now. Without an answer it is looked at again."""
        lease = reply.result if isinstance(reply.result, Lease) else None
        if lease is None and not isinstance(reply.error, NotFoundError | ForbiddenError):
            return
        self.notes[number] = {} if lease is None else lease.metadata.annotations
        if number == 0:
            self._saw_first(lease)
            return
        is_held = held_for(lease, self._holder, self._there.earliest) > timedelta()
        if not is_held or division_of(lease).is_as(self.division):
            self._unclear.discard(number)
        if number in self._followed and not is_held:
            self._free[number] = lease
        else:
            self._free.pop(number, None)

    def _saw_first(self, lease: Lease | None) -> None:
        said = divided_by(lease)
        self.is_over = said.of == 1 or not said.is_as(self.division)
        self._first_renewed = None if lease is None else lease.held_since

    def left(self) -> timedelta:
        """How long from now a write may begin that rests on a count, for all that others do."""
        if self._unclear or self.is_over:
            return timedelta()
        if self._number == 0:
            return VALID
        if self._first_renewed is None:
            return timedelta()
        return VALID - (self._there.latest - self._first_renewed)
