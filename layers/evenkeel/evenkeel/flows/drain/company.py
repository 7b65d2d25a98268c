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

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from evenkeel.errors import ForbiddenError, NotFoundError, QueueError
from evenkeel.flows.drain.server_time import ServerTime
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.division import MOST, UNDIVIDED, Division, division_in, lease_of
from evenkeel.model.request import Get
from evenkeel.model.times import earliest, sound_time
from evenkeel.ports import Recorder, Reply, Session

type Call = Callable[[int], None]
"""Has others begin, so many at most; one at least, who calls the others. Raises QueueError."""

CALL_AGAIN_AFTER = timedelta(seconds=15)
"""How often others are called that have not come to share a storm."""

type HeldFor = Callable[[Lease | None], timedelta]
"""How long another may hold a Lease still; 0 if it is free."""


def question(number: int) -> Get[Lease]:
    """What shows the Lease of a number."""
    return Get(Lease, lease_of(number), names.SYSTEM_NAMESPACE)


def division_of(lease: Lease | None) -> Division:
    """The division that a Lease notes; UNDIVIDED if none."""
    return division_in(None if lease is None else lease.metadata.annotations.get(names.DIVISION))


def divided_by(first: Lease | None) -> Division:
    """The division by which the holder of number 0's Lease works; UNDIVIDED if by none."""
    said = division_of(first)
    return said if first is not None and said.by == first.spec.holder_identity else UNDIVIDED


def wake_up_at(lease: Lease | None) -> datetime | None:
    """When work goes on that a Lease is about; None if that is not known, or makes no sense."""
    return None if lease is None else sound_time(lease.metadata.annotations.get(names.WAKE_UP_AT))


def is_wanted(lease: Lease | None, division: Division, now: datetime) -> bool:
    """Whether somebody has to come for the share of a Lease that is free.

    Nobody has come upon the last call of number 0, or died over it, or it is time to go on.
    """
    if lease is None or lease.spec.holder_identity or division_of(lease) != division:
        return True
    due = wake_up_at(lease)
    return due is not None and due <= now


class Calls:
    """Has others come for the shares that nobody has, again after a while if none comes."""

    def __init__(self, call: Call | None, recorder: Recorder) -> None:
        """``call`` None: nobody else would come."""
        self._call = call
        self._recorder = recorder
        self._at: datetime | None = None

    @property
    def are_heard(self) -> bool:
        """Whether somebody would come."""
        return self._call is not None

    def at_once(self) -> None:
        """The next call does not wait."""
        self._at = None

    def make(self, number: int, session: Session, now: datetime) -> None:
        """Call so many, if it is time; the queue's answer is not waited for."""
        call = self._call
        if number and call is not None and (self._at is None or now >= self._at):
            self._at = now + CALL_AGAIN_AFTER
            session.start(lambda: self._make(number, call))

    def _make(self, number: int, call: Call) -> None:
        try:
            call(number)
        except QueueError as error:
            self._recorder.noted(f"others are not called to share a storm: {error}")


class Company:
    """What one reconciler knows of the others."""

    def __init__(
        self,
        division: Division,
        number: int,
        there: ServerTime,
        held_for: HeldFor,
        valid: timedelta,
    ) -> None:
        """None of the others was looked at yet.

        ``valid``: so long after a renewal of number 0's Lease a write may begin.
        """
        self.division = division
        self._number = number
        self._there = there
        self._held_for = held_for
        self._valid = valid
        self._unclear = set(range(1, MOST)) - {number}
        self._followed = set(range(1, division.of)) if number == 0 else set[int]()
        self._free = dict[int, Lease | None].fromkeys(self._followed)  # that nobody held last
        self._zeros_wait = dict[int, bool]()  # of those at work, as they say it
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
        return self.missing > 0 or any(self._zeros_wait.get(number, True) for number in at_work)

    @property
    def due_at(self) -> datetime | None:
        """When somebody has to come again for a share that nobody has, on the API server."""
        return earliest(*map(wake_up_at, self._free.values()))

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
        notes = {} if lease is None else lease.metadata.annotations
        self._zeros_wait[number] = notes.get(names.ZEROS_WAIT) == names.TRUE
        if number == 0:
            self._saw_first(lease)
            return
        is_held = self._held_for(lease) > timedelta()
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
            return self._valid
        if self._first_renewed is None:
            return timedelta()
        return self._valid - (self._there.latest - self._first_renewed)
