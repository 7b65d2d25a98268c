"""One reconciler's share of a storm: which it has, by which division, and beside whom."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta

from evenkeel.errors import NotFoundError
from evenkeel.flows.drain.lease.calls import Call, Calls
from evenkeel.flows.drain.lease.company import Company, divided_by, division_of, is_wanted
from evenkeel.flows.drain.lease.wire import VALID, ServerTime, held_for, question
from evenkeel.flows.reads import answer
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.division import MOST, UNDIVIDED, Division
from evenkeel.ports import Clock, Cluster, Recorder, Session

ZEROS_COUNT_FOR = timedelta(seconds=20)
"""How long from the beginning of a share the others' workloads that would reach zero go first."""


class Sharing:
    """Which share a reconciler has: number 0 of an undivided storm, which is all, until told else.

    Number 0 also has the nodes and hooks, and calls the others.
    """

    def __init__(
        self,
        holder: str,
        there: ServerTime,
        clock: Clock,
        recorder: Recorder,
        call: Call | None,
    ) -> None:
        """``holder``: whose share it is. ``call`` None: no storm is divided, nobody would come."""
        self._holder = holder
        self._there = there
        self._clock = clock
        self._recorder = recorder
        self._calls = Calls(call, recorder)
        self.number = 0
        self.division = UNDIVIDED
        """By which division workloads are handled."""
        self.zeros_wait: Callable[[], bool] = lambda: True
        """Whether workloads that would reach zero wait here for their first release, or may.

        They may until pods are read.
        """
        self._company: Company | None = None
        self._since = timedelta()
        self._others = 0  # shares that nobody had when this one was taken
        self._called_for = frozenset[str]()

    @property
    def is_over(self) -> bool:
        """Whether number 0 works by another division than this one's."""
        return self._company is not None and self._company.is_over

    @property
    def is_alone(self) -> bool:
        """Whether no other reconciler works by this one's division."""
        return self._company is None or self._company.is_alone

    @property
    def are_others_awaited(self) -> bool:
        """Whether others work by this one's division, or somebody has yet to come."""
        return not self.is_alone or (self._company is not None and self._company.missing > 0)

    @property
    def others_due_at(self) -> datetime | None:
        """When somebody has to come again for a share that nobody has."""
        due = None if self._company is None else self._company.due_at
        return None if due is None else self._clock.now() + (due - self._there.latest)

    def left(self) -> timedelta:
        """How long from now a write may begin that rests on a count, for all that others do."""
        return VALID if self._company is None else self._company.left()

    def join(self, first: Lease | None, cluster: Cluster) -> Lease | None:
        """Choose a share that nobody has and somebody has to come for; what its Lease is like.

        ``first``: the Lease of number 0, by whose holder's division the share is one. The number
        stays 0 if there is none. Raises ClusterError.
        """
        division = divided_by(first)
        replies = cluster.perform([*map(question, range(1, division.of))])
        wanted = dict[int, Lease | None]()
        for number, reply in enumerate(replies, start=1):
            found = None if isinstance(reply.error, NotFoundError) else answer(reply)
            lease = found if isinstance(found, Lease) else None
            is_free = not held_for(lease, self._holder, self._there.earliest)
            if is_free and is_wanted(lease, division, self._there.latest):
                wanted[number] = lease
        if not wanted:
            return first
        self.number, self.division = min(wanted), division
        self._others = len(wanted) - 1
        return wanted[self.number]

    def inherit(self, lease: Lease) -> None:
        """Go on by the division of number 0's last holder, by which others may still work."""
        if self.number == 0:
            known = division_of(lease) if self._calls.are_heard else UNDIVIDED
            self.division = known.called_by(self._holder)

    def begin(self, division: Division) -> None:
        """Work by a division. The others are looked at from the next heartbeat on.

        Nothing that rests on a count is written until they were seen to work by it, or not at all.
        """
        self.division = division
        self._since = self._clock.boot()
        self._company = Company(division, self.number, self._holder, self._there)

    def can_be_divided_anew(self, cluster: Cluster) -> bool:
        """Whether nobody holds another Lease, and the role may see that."""
        for reply in cluster.perform([*map(question, range(1, MOST))]):
            lease = reply.result if isinstance(reply.result, Lease) else None
            if lease is None and not isinstance(reply.error, NotFoundError):
                self._recorder.noted(f"one reconciler has all workloads: {reply.error}")
                return False
            if held_for(lease, self._holder, self._there.earliest):
                return False
        return True

    def is_beginning(self, doomed: AbstractSet[str]) -> bool:
        """Whether others are to learn soon what this one knows, or it waits for them."""
        is_shared = self._company is not None
        return is_shared and (self._has_new(doomed) or self.zeros_wait_elsewhere())

    def learn(self, doomed: AbstractSet[str]) -> None:
        """Call the others again for nodes that are doomed only now: they may have pods there."""
        if not self._has_new(doomed):
            return
        self._called_for = frozenset(doomed)
        self._calls.at_once()
        if self._company is not None:
            self.division = self.division.called_by(self._holder)
            self._company.division = self.division

    def look(self, session: Session, now: datetime) -> None:
        """Look at the others, and call those who are missing; the answers come in time."""
        if self._company is not None:
            self._company.look(session)
            missing = self._company.missing if self.number == 0 else self._others
            self._others = 0
            self._calls.make(missing, session, now)

    def _has_new(self, doomed: AbstractSet[str]) -> bool:
        return self.number == 0 and not doomed <= self._called_for

    def zeros_wait_elsewhere(self) -> bool:
        """Whether others that share the storm have, or may have, workloads that would reach zero.

        Of number 0 also whether this one has, some moments ago. It counts for a while: one that
        hangs must not keep all from going on.
        """
        is_new = self._clock.boot() - self._since < ZEROS_COUNT_FOR
        return self._company is not None and is_new and self._company.do_zeros_wait

    def notes_of_others(self, key: str) -> Mapping[int, str | None]:
        """What the others have under a key of their Leases' annotations, by their numbers."""
        seen = {} if self._company is None else self._company.notes
        return {number: notes.get(key) for number, notes in seen.items()}

    @property
    def notes(self) -> Mapping[str, str]:
        """What a renewal notes on the Lease."""
        note = self.division.note
        if not note:
            return {}
        do_wait = self.zeros_wait() or (self.number == 0 and self.zeros_wait_elsewhere())
        return {names.DIVISION: note, names.ZEROS_WAIT: names.TRUE if do_wait else ""}
