"""A reconciler's Lease: taken, renewed by a heartbeat, shared in a large storm, given up."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import partial

import msgspec

from evenkeel.errors import (
    AlreadyExistsError,
    ConflictError,
    InvalidError,
    NotFoundError,
    UnavailableError,
)
from evenkeel.flows import home
from evenkeel.flows.drain import company
from evenkeel.flows.drain.cache.nodes import MarkedNodes
from evenkeel.flows.drain.company import Call, Calls, Company
from evenkeel.flows.drain.hooks import Hooks
from evenkeel.flows.drain.lost_pools import LostPools
from evenkeel.flows.drain.low_counts import LowCounts
from evenkeel.flows.drain.server_time import ServerTime
from evenkeel.flows.drain.wake_up import Hide, WakeUp
from evenkeel.flows.reads import answer
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.cluster_objects import Lease, LeaseSpec
from evenkeel.model.division import MOST, UNDIVIDED, Division, lease_of
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Operation, Patch, as_read, pointer
from evenkeel.model.times import to_micro_time
from evenkeel.ports import Clock, Cluster, Recorder, Reply, Session

AFTER_A_FAILURE = timedelta(seconds=1)
"""How long after a renewal without an answer the next one is due at the latest."""

DURATION = timedelta(seconds=15)
"""How long the Lease is held without a renewal."""

VALID = timedelta(seconds=10)
"""How long after an accepted renewal was sent a write that rests on a count may begin.

The rest of the Lease is for the write's own time on the way.
"""

INTERVAL = timedelta(seconds=3)
"""Time between two heartbeats."""

LONGEST_HELD = timedelta(seconds=60)
"""A Lease counts as held for no longer than this after its renewal, whatever duration it names."""

SOON = timedelta(seconds=1)
"""Time between two heartbeats while others are waited for."""

ZEROS_COUNT_FOR = timedelta(seconds=20)
"""How long from the beginning of a share the others' workloads that would reach zero go first."""

ON_TIME = timedelta(milliseconds=100)
"""So much later than wanted a wake-up may be due and still be on time."""

ROUNDING = timedelta(seconds=1)
"""A wake-up comes so much later than it is due: queues count in whole seconds."""

ATTEMPTS = 3
"""Tries to take the Lease, and to give it up: a note of a wake-up may be written in between."""

_CHANGED_MEANWHILE = (AlreadyExistsError, ConflictError, InvalidError)

_NOTE = pointer("metadata", "annotations", names.WAKE_UP_AT)
_LOSSES = pointer("metadata", "annotations", names.LOST_POOLS)
_HOOKS = pointer("metadata", "annotations", names.WAITING_HOOKS)
_LOW_COUNTS = pointer("metadata", "annotations", names.LOW_COUNTS)
_DIVISION = pointer("metadata", "annotations", names.DIVISION)
_ZEROS_WAIT = pointer("metadata", "annotations", names.ZEROS_WAIT)


class Leadership:
    """One invocation's hold on a Lease in Evenkeel's namespace, and on its wake-up.

    It is the Lease of number 0, unless a storm is divided and others have that: see ``join``.

    A heartbeat renews the Lease and hides the wake-up: both run out within seconds when an
    invocation that works for minutes crashes. Writes that rest on a count of pods are made only
    under the Lease: see ``left``.

    Times in the Lease are the API server's, so that machines whose clocks are apart compare them
    alike. What is not known of it makes a hold longer: a renewal is noted with the latest that it
    may be there, and compared with the earliest.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it asks and tells, each once
        self,
        cluster: Cluster,
        clock: Clock,
        recorder: Recorder,
        holder: str,
        hide: Hide | None,
        labels: CapacityLabels = WELL_KNOWN,
        hooks: Hooks | None = None,
        low: LowCounts | None = None,
        call: Call | None = None,
    ) -> None:
        """``holder`` is this invocation's identity. ``hide`` None: no wake-up led to it.

        ``labels`` tell which nodes are spot. What ``hooks`` and ``low`` know is kept on the Lease.
        ``call`` None: no storm is divided, for nobody else would come.
        """
        self._calls = Calls(call, recorder)
        self._hooks = hooks or Hooks(None, "", recorder, cluster)
        self._low = low or LowCounts(cluster, clock, recorder)
        self._cluster = cluster
        self._clock = clock
        self._there = ServerTime(clock)
        self._recorder = recorder
        self._holder = holder
        self.wake_up = WakeUp(hide, clock, recorder)
        self._beat_at: datetime | None = None
        self._lease: Lease | None = None
        self._valid_from: tuple[datetime, timedelta] | None = None
        self.nodes = MarkedNodes()
        """The nodes that are known. The Lease notes the pools of those with a warning."""
        self._lost_pools = LostPools(labels, clock)
        self._called_for = frozenset[str]()
        self.zeros_wait: Callable[[], bool] = lambda: True
        """Whether workloads that would reach zero wait here for their first release, or may.

        They may until pods are read.
        """
        self._shared_since = timedelta()
        self._others = 0  # shares that nobody had when this one was taken
        self._number = 0
        self._division = UNDIVIDED
        self._company: Company | None = None
        self._is_taken_away = False
        self._newest = 0
        self._has_gone_back = False

    @property
    def is_held(self) -> bool:
        """Whether this invocation took the Lease, and nothing is known of its loss."""
        return self._valid_from is not None and not self.is_lost

    @property
    def is_lost(self) -> bool:
        """Whether another holder has taken the Lease, or it was deleted, or its division ended.

        Or what this invocation knows is of a time that never was: see ``_note_revision``.
        """
        is_over = self._company is not None and self._company.is_over
        return self._is_taken_away or self._has_gone_back or is_over

    @property
    def are_others_awaited(self) -> bool:
        """Whether others work by this one's division, or somebody has yet to come."""
        company = self._company
        return company is not None and (not company.is_alone or company.missing > 0)

    @property
    def others_due_at(self) -> datetime | None:
        """When somebody has to come again for a share that nobody has."""
        due = None if self._company is None else self._company.due_at
        return None if due is None else self._clock.now() + (due - self._there.latest)

    @property
    def division(self) -> Division:
        """By which division workloads are handled."""
        return self._division

    def left(self) -> timedelta:
        """How long from now a write may begin that rests on the Lease; nothing without it.

        The time since the last renewal that was accepted is the longer of two clocks': the wall's
        and that of the machine since its start, which counts while it sleeps. A wall clock that was
        set back counts as run out.
        """
        if not self.is_held or self._valid_from is None:
            return timedelta()
        wall, boot = self._valid_from
        passed = self._clock.now() - wall
        if passed < timedelta():
            return timedelta()
        own = VALID - max(passed, self._clock.boot() - boot)
        return own if self._company is None else min(own, self._company.left())

    def look(self) -> timedelta:
        """How long another may still hold the Lease; 0 if it is free. Raises ClusterError.

        A Lease that is free has what its last holder knew of lifecycle hooks, and low counts.
        """
        sent = self._clock.boot()
        (reply,) = self._cluster.perform([company.question(self._number)])
        self._there.heard(sent, reply.date)
        found = None if isinstance(reply.error, NotFoundError) else answer(reply)
        self._lease = found if isinstance(found, Lease) else None
        held_for = self._held_by_another_for(self._lease)
        if self._lease is not None and not held_for:
            self._hooks.read(self._lease.metadata.annotations.get(names.WAITING_HOOKS))
            self._low.read(self._lease.metadata.annotations.get(names.LOW_COUNTS))
        return held_for

    def join(self) -> int:
        """From now on it is about another Lease that is free, and is to be taken; its number.

        It is of the division by which the holder works who was looked at; 0 if there is none.
        Raises ClusterError.
        """
        division = company.divided_by(self._lease)
        replies = self._cluster.perform([*map(company.question, range(1, division.of))])
        wanted = dict[int, Lease | None]()
        for number, reply in enumerate(replies, start=1):
            found = None if isinstance(reply.error, NotFoundError) else answer(reply)
            lease = found if isinstance(found, Lease) else None
            is_free = not self._held_by_another_for(lease)
            if is_free and company.is_wanted(lease, division, self._there.latest):
                wanted[number] = lease
        if wanted:
            self._number, self._division = min(wanted), division
            self._lease, self._others = wanted[self._number], len(wanted) - 1
            self._hooks = Hooks(None, "", self._recorder, self._cluster)
            self._low.read(None)
        return self._number

    def take(self) -> bool:
        """Take the Lease as it was looked at; False if another was faster.

        The namespace is made where it is missing. Raises ClusterError if the write is refused.
        """
        for attempt in range(1, ATTEMPTS + 1):
            sent = self._clock.now(), self._clock.boot()
            reply = self._create() if self._lease is None else self._replace()
            error = reply.error
            if error is None or (isinstance(error, UnavailableError) and self._is_mine_by_now()):
                self._valid_from = sent
                self._note_revision(reply.result)
                self._meet()
                return True
            if isinstance(error, _CHANGED_MEANWHILE) and self.look():
                return False
            if not isinstance(error, _CHANGED_MEANWHILE) or attempt == ATTEMPTS:
                raise error
        return False

    def _meet(self) -> None:
        """Look at the other Leases with the next heartbeat, which is now, if there may be others.

        What is noted of a division counts until all others were seen to hold no Lease.
        """
        if self._division.of > 1 or company.division_of(self._lease).of > 1:
            self._begin(self._division)

    def _begin(self, division: Division) -> None:
        self._division, self._beat_at = division, None
        self._shared_since = self._clock.boot()
        self._company = Company(
            division, self._number, self._there, self._held_by_another_for, VALID
        )

    def divide(self, wanted: Division) -> Division:
        """Note by which division workloads are handled from now on; the one that counts.

        It stays as it is while others work by it, and where the role may not read their Leases.
        """
        if not self.is_held or wanted.is_as(self._division):
            return self._division
        others = [company.question(number) for number in range(1, MOST)]
        for reply in self._cluster.perform(others):
            lease = reply.result if isinstance(reply.result, Lease) else None
            if lease is None and not isinstance(reply.error, NotFoundError):
                self._recorder.noted(f"one reconciler has all workloads: {reply.error}")
                return self._division
            if self._held_by_another_for(lease):
                return self._division
        division = wanted.called_by(self._holder)
        (reply,) = self._cluster.perform(
            [self._patch(self._is_mine, Operation("add", _DIVISION, division.note))]
        )
        if reply.error is None:
            self._begin(division)
        else:  # whether it is noted may not be known
            self._is_taken_away = True
        return self._division

    def _is_mine_by_now(self) -> bool:
        self.look()
        return self._lease is not None and self._lease.spec.holder_identity == self._holder

    def beat(self, session: Session) -> None:
        """The heartbeat, if it is time: renew the Lease if it is held, hide the wake-up.

        It is time, too, where a node of another pool was warned: new pods are to avoid that. SQS's
        answer is not waited for.
        """
        now = self._clock.now()
        interval = SOON if self._company and self._is_beginning else INTERVAL
        is_early = self._beat_at is not None and timedelta() <= now - self._beat_at < interval
        if is_early and not self._lost_pools.take_new(self.nodes.warned.values()):
            return
        self._beat_at = now
        if self._has_new_nodes:
            self._call_for(self.nodes.dooms.keys())
        if self.is_held:
            heard = partial(self._renewed, now, self._clock.boot(), self._newest)
            session.submit(self._renewal(), heard)
            if self._company is not None:
                self._company.look(session)
                missing = self._company.missing if self._number == 0 else self._others
                self._others = 0
                self._calls.make(missing, session, now)
        self.wake_up.keep_hidden(session)

    @property
    def _is_beginning(self) -> bool:
        """Whether others are to learn soon what this one knows, or it waits for them."""
        return self._has_new_nodes or self.zeros_wait_elsewhere()

    @property
    def _has_new_nodes(self) -> bool:
        return self._number == 0 and not self.nodes.dooms.keys() <= self._called_for

    def _call_for(self, doomed: AbstractSet[str]) -> None:
        """Reconcilers that have gone may have pods on nodes that are doomed only now."""
        self._called_for = frozenset(doomed)
        self._calls.at_once()
        if self._company is not None:
            self._division = self._division.called_by(self._holder)
            self._company.division = self._division

    def _renewed(self, wall: datetime, boot: timedelta, newest: int, reply: Reply) -> None:
        """Take the reply to a renewal that was sent then, when the Lease was known to be so new."""
        if reply.error is None:
            self._valid_from = (wall, boot)
            self._note_revision(reply.result, newest)
        elif isinstance(reply.error, (*_CHANGED_MEANWHILE, NotFoundError)):
            self._is_taken_away = True
        elif self._beat_at is not None:
            self._beat_at -= INTERVAL - AFTER_A_FAILURE

    def _note_revision(self, lease: object, newest: int = 0) -> None:
        """Take how new the Lease is by a write to it, before which it was known to be so new.

        Each write makes it newer. One that left it older came to an etcd that was restored from a
        backup: pods that are known may not be there, and those that come have lower revisions than
        those that went. So this invocation ends, and the next one begins with nothing.
        """
        if not isinstance(lease, Lease):
            return
        if lease.revision < newest and not self._has_gone_back:
            self._has_gone_back = True
            self._recorder.noted(
                "the API server's store went back, as after a restore of etcd: all is read anew",
                revision=lease.revision,
                before=newest,
            )
        self._newest = lease.revision

    def give_up(self, wake_up_at: datetime | None) -> bool:
        """Give up the Lease, so that the next invocation can take it; if that fails, it expires.

        ``wake_up_at`` is when work is to go on, None if never. Answers whether a wake-up is
        known to be in the queue already that comes by then.
        """
        if self._valid_from is None or self._is_taken_away:
            return False
        if self._number == 0 and self._company is not None and not self._company.is_alone:
            return False  # who takes it next may not look at theirs
        for _ in range(ATTEMPTS):
            (found,) = self._cluster.perform([company.question(self._number)])
            lease = found.result
            if not isinstance(lease, Lease):
                return False
            known, now = company.wake_up_at(lease), self._there.earliest
            at = None if wake_up_at is None else now + (wake_up_at - self._clock.now())
            is_known = (
                known is not None and at is not None and now - ROUNDING <= known <= at + ON_TIME
            )
            (reply,) = self._cluster.perform(
                [
                    self._patch(
                        *as_read(lease),
                        self._is_mine,
                        Operation("add", "/spec/holderIdentity", ""),
                        Operation("add", _NOTE, _text(known if is_known else at)),
                        Operation("add", _LOSSES, self._losses_note()),
                        Operation("add", _HOOKS, self._hooks.note),
                        Operation("add", _LOW_COUNTS, self._low.note),
                    )
                ]
            )
            if not isinstance(reply.error, _CHANGED_MEANWHILE):
                break
        return is_known

    def note_low_counts(self) -> None:
        """Note what is known of low counts on a Lease that is not taken, unless it has changed."""
        if self._lease is not None:
            note = Operation("add", _LOW_COUNTS, self._low.note)
            self._cluster.perform([self._patch(*as_read(self._lease), note)])

    def _held_by_another_for(self, lease: Lease | None) -> timedelta:
        """Nothing where the renewal's time cannot be read, or is no time that a holder writes."""
        spec = LeaseSpec() if lease is None else lease.spec
        since = None if lease is None else lease.held_since
        if not spec.holder_identity or spec.holder_identity == self._holder or since is None:
            return timedelta()
        duration = timedelta(seconds=spec.lease_duration_seconds or 0) or DURATION
        duration = min(duration, LONGEST_HELD)
        passed = self._there.earliest - since
        if passed < -duration:
            return timedelta()
        return max(timedelta(), duration - passed)

    def _renewal(self) -> Patch:
        return self._patch(
            self._is_mine,
            Operation("add", "/spec/renewTime", _text(self._there.latest)),
            Operation("add", _LOSSES, self._losses_note()),
            Operation("add", _HOOKS, self._hooks.note),
            Operation("add", _LOW_COUNTS, self._low.note),
            *self._noted_division,
        )

    @property
    def _noted_division(self) -> Sequence[Operation]:
        note = self._division.note
        if not note:
            return []
        do_wait = self.zeros_wait() or (self._number == 0 and self.zeros_wait_elsewhere())
        return [
            Operation("add", _DIVISION, note),
            Operation("add", _ZEROS_WAIT, names.TRUE if do_wait else ""),
        ]

    def zeros_wait_elsewhere(self) -> bool:
        """Whether others that share the storm have, or may have, workloads that would reach zero.

        Of number 0 also whether this one has, some moments ago. It counts for a while: one that
        hangs must not keep all from going on.
        """
        is_new = self._clock.boot() - self._shared_since < ZEROS_COUNT_FOR
        return self._company is not None and is_new and self._company.do_zeros_wait

    def _losses_note(self) -> str:
        """What this holder and those before know of pools that lost a node lately."""
        notes = self._lease.metadata.annotations if self._lease is not None else {}
        return self._lost_pools.note(notes.get(names.LOST_POOLS), self.nodes.warned.values())

    def _create(self) -> Reply:
        lease = Lease(
            metadata=Metadata(
                name=lease_of(self._number),
                namespace=names.SYSTEM_NAMESPACE,
                annotations={names.WAKE_UP_AT: ""} | self._notes,
            ),
            spec=self._spec(transitions=0),
        )
        (reply,) = home.perform(self._cluster.perform, [Create(lease)])
        return reply

    def _replace(self) -> Reply:
        """Take the Lease as it was read; False if another took it meanwhile."""
        lease = self._lease
        assert lease is not None  # noqa: S101 - else there is nothing to replace
        if self._number == 0:  # its division holds while others may work by it
            known = company.division_of(lease) if self._calls.are_heard else UNDIVIDED
            self._division = known.called_by(self._holder)
        annotations = {names.WAKE_UP_AT: ""} | lease.metadata.annotations | self._notes
        spec = self._spec(lease.spec.lease_transitions + 1)
        patch = self._patch(
            *as_read(lease),
            Operation("add", "/metadata/annotations", annotations),
            Operation("add", "/spec", msgspec.to_builtins(spec)),
        )
        (reply,) = self._cluster.perform([patch])
        return reply

    @property
    def _notes(self) -> dict[str, str]:
        """How far the clock here is ahead, which sets the last moments; lost pools; waiting hooks.

        The write that takes the Lease notes them as well, so that none follows for them in the
        first second, which is the busiest.
        """
        ahead = str(round(self._there.ahead.total_seconds()))
        note = self._division.note
        is_noted = note or company.division_of(self._lease).of > 1
        return ({names.DIVISION: note} if is_noted else {}) | {
            names.CLOCK_AHEAD: ahead,
            names.LOST_POOLS: self._losses_note(),
            names.WAITING_HOOKS: self._hooks.note,
            names.LOW_COUNTS: self._low.note,
        }

    @property
    def _is_mine(self) -> Operation:
        return Operation("test", "/spec/holderIdentity", self._holder)

    def _patch(self, *operations: Operation) -> Patch:
        return Patch(
            kind=Lease,
            name=lease_of(self._number),
            namespace=names.SYSTEM_NAMESPACE,
            body=operations,
        )

    def _spec(self, transitions: int) -> LeaseSpec:
        text = _text(self._there.latest)
        return LeaseSpec(
            holder_identity=self._holder,
            lease_duration_seconds=int(DURATION.total_seconds()),
            acquire_time=text,
            renew_time=text,
            lease_transitions=transitions,
        )


def _text(time: datetime | None) -> str:
    return "" if time is None else to_micro_time(time)
