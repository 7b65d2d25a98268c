"""Who may write what rests on a count: a Lease is taken, renewed by a heartbeat, and given up.

One reconciler at a time holds the Lease. A write that rests on a count of pods begins no later than
10 s (``VALID``) after the last renewal was sent that the API server accepted, and the Lease runs
out 15 s (``DURATION``) after that renewal. So the writes of two holders are seconds apart, also if
the first one was killed, was stopped and goes on later, or lost the Lease without knowing it.

What is not promised: that a write which began in time arrives in time. It has 5 s for that. Nor
that the holder's wall clock is right: last moments are counted by it, and the Lease notes how far
it is ahead.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

import msgspec

from evenkeel.errors import (
    AlreadyExistsError,
    ConflictError,
    InvalidError,
    NotFoundError,
    UnavailableError,
)
from evenkeel.flows import home
from evenkeel.flows.drain.lease.notes import LeaseNotes, Remembered
from evenkeel.flows.drain.lease.sharing import Call, Sharing, divided_by
from evenkeel.flows.drain.lease.wire import (
    VALID,
    LeaseWrites,
    ServerTime,
    held_for,
    note_read,
    noted_wake_up,
    question,
)
from evenkeel.flows.drain.wake_up import Hide, WakeUp
from evenkeel.flows.reads import answer
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.division import UNDIVIDED, Division
from evenkeel.model.request import Create, Patch
from evenkeel.ports import Clock, Cluster, Recorder, Reply, Session

AFTER_A_FAILURE = timedelta(seconds=1)
"""How long after a renewal without an answer the next one is due at the latest."""

INTERVAL = timedelta(seconds=3)
"""Time between two heartbeats."""

SOON = timedelta(seconds=1)
"""Time between two heartbeats while others are waited for."""

ON_TIME = timedelta(milliseconds=100)
"""So much later than wanted a wake-up may be due and still be on time."""

ROUNDING = timedelta(seconds=1)
"""A wake-up comes so much later than it is due: queues count in whole seconds."""

ATTEMPTS = 3
"""Tries to take the Lease, and to give it up: a note of a wake-up may be written in between."""

_CHANGED_MEANWHILE = (AlreadyExistsError, ConflictError, InvalidError)


class Moment(NamedTuple):
    """A moment by two clocks: the wall's, and the machine's since its start."""

    wall: datetime
    boot: timedelta

    @classmethod
    def of(cls, clock: Clock) -> "Moment":
        """Now."""
        return cls(clock.now(), clock.boot())


class Hold:
    """What the answers to writes of the Lease tell of it."""

    def __init__(self, clock: Clock, recorder: Recorder) -> None:
        """Nothing is held yet."""
        self._clock = clock
        self._recorder = recorder
        self._since: Moment | None = None
        self._is_taken_away = False
        self._has_gone_back = False
        self.newest = 0
        """The highest revision of the Lease that an answer has shown."""

    @property
    def was_taken(self) -> bool:
        """Whether this invocation took the Lease, and nobody has taken it away."""
        return self._since is not None and not self._is_taken_away

    @property
    def is_lost(self) -> bool:
        """Whether another holder has the Lease, or it was deleted; or its store went back."""
        return self._is_taken_away or self._has_gone_back

    def lose(self) -> None:
        """Another has the Lease, or may have it."""
        self._is_taken_away = True

    def renew(self, sent: Moment, lease: object, newest: int = 0) -> None:
        """A write was accepted that was sent then, when the Lease was known to be so new.

        Each write makes the Lease newer. One that left it older came to an etcd that was restored
        from a backup: pods that are known may not be there, and those that come have lower
        revisions than those that went. So this invocation ends, and the next one begins with
        nothing.
        """
        self._since = sent
        if not isinstance(lease, Lease):
            return
        if lease.revision < newest and not self._has_gone_back:
            self._has_gone_back = True
            self._recorder.noted(
                "the API server's store went back, as after a restore of etcd: all is read anew",
                revision=lease.revision,
                before=newest,
            )
        self.newest = lease.revision

    def left(self) -> timedelta:
        """How long from now a write may begin that rests on the Lease; nothing without it.

        The time since the last renewal that was accepted is the longer of the two clocks', for the
        machine's counts while it sleeps. A wall clock that was set back counts as run out.
        """
        if self._since is None or self.is_lost:
            return timedelta()
        passed = self._clock.now() - self._since.wall
        if passed < timedelta():
            return timedelta()
        return VALID - max(passed, self._clock.boot() - self._since.boot)


class Leadership:
    """One invocation's hold on a Lease in Evenkeel's namespace, and on its wake-up.

    It is the Lease of number 0, unless a storm is shared and others have that: see ``join``.

    A heartbeat renews the Lease and hides the wake-up: both run out within seconds when an
    invocation that works for minutes crashes. Writes that rest on a count of pods are made only
    under the Lease: see ``left``.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it asks and tells, each once
        self,
        cluster: Cluster,
        clock: Clock,
        recorder: Recorder,
        holder: str,
        hide: Hide | None,
        labels: CapacityLabels = WELL_KNOWN,
        memory: Mapping[str, Remembered] | None = None,
        call: Call | None = None,
    ) -> None:
        """``holder`` is this invocation's identity. ``hide`` None: no wake-up led to it.

        ``labels`` tell which nodes are spot. What ``memory`` has is kept on the Lease, by the keys
        of its annotations. ``call`` None: no storm is divided, for nobody else would come.
        """
        self._cluster = cluster
        self._clock = clock
        self._holder = holder
        self._there = ServerTime(clock)
        self._lease: Lease | None = None
        self._hold = Hold(clock, recorder)
        self._writes = LeaseWrites(holder, self._there)
        self._beat_at: datetime | None = None
        self.notes = LeaseNotes(memory or {}, labels, clock)
        self.sharing = Sharing(holder, self._there, clock, recorder, call)
        self.wake_up = WakeUp(hide, clock, recorder)

    @property
    def is_held(self) -> bool:
        """Whether this invocation took the Lease, and nothing is known of its loss."""
        return self._hold.was_taken and not self.is_lost

    @property
    def is_lost(self) -> bool:
        """Whether the Lease is lost (see ``Hold``), or what it is a share of has ended."""
        return self._hold.is_lost or (self.sharing.is_shared and self.sharing.is_over)

    def left(self) -> timedelta:
        """How long from now a write may begin that rests on the Lease; nothing without it."""
        left = self._hold.left()
        return min(left, self.sharing.left()) if self.sharing.number else left

    def look(self) -> timedelta:
        """How long another may still hold the Lease; 0 if it is free. Raises ClusterError.

        A Lease that is free has what its last holder knew.
        """
        sent = self._clock.boot()
        (reply,) = self._cluster.perform([question(self.sharing.number)])
        self._there.heard(sent, reply.date)
        found = None if isinstance(reply.error, NotFoundError) else answer(reply)
        self._lease = found if isinstance(found, Lease) else None
        self.notes.looked_at(self._lease)
        taken_for = held_for(self._lease, self._holder, self._there.earliest)
        if self._lease is not None and not taken_for:
            self.notes.remember()
        return taken_for

    def join(self) -> int:
        """From now on it is about another Lease that is free, and is to be taken; its number.

        It is of the division by which the holder works who was looked at; 0 if there is none.
        Raises ClusterError.
        """
        self._lease = self.sharing.join(self._lease, self._cluster)
        if self.sharing.number:
            self.notes.looked_at(self._lease)
            self.notes.remember()
        return self.sharing.number

    def take(self) -> bool:
        """Take the Lease as it was looked at; False if another was faster.

        The namespace is made where it is missing. Raises ClusterError if the write is refused.
        """
        for attempt in range(1, ATTEMPTS + 1):
            sent = Moment.of(self._clock)
            (reply,) = home.perform(self._cluster.perform, [self._taking()])
            error = reply.error
            if error is None or (isinstance(error, UnavailableError) and self._is_mine_by_now()):
                self._renewed(sent, reply.result)
                self._look_soon()
                return True
            if isinstance(error, _CHANGED_MEANWHILE) and self.look():
                return False
            if not isinstance(error, _CHANGED_MEANWHILE) or attempt == ATTEMPTS:
                raise error
        return False

    def _taking(self) -> Create | Patch:
        """The write that takes the Lease as it was looked at, with all that it is to keep.

        So no further write follows in the first second, which is the busiest.
        """
        lease, number = self._lease, self.sharing.number
        if lease is None:
            return self._writes.create(number, self._first_notes)
        return self._writes.take(number, lease, self._first_notes)

    @property
    def _first_notes(self) -> Mapping[str, str]:
        """How far the clock here is ahead, which sets the last moments, and all that is kept."""
        ahead = str(round(self._there.ahead.total_seconds()))
        return {names.CLOCK_AHEAD: ahead, **self.notes.wanted, **self.sharing.notes}

    def _is_mine_by_now(self) -> bool:
        self.look()
        return self._lease is not None and self._lease.spec.holder_identity == self._holder

    def _renewed(self, sent: Moment, lease: object, newest: int = 0) -> None:
        """A write was accepted that was sent then; see ``Hold.renew``."""
        self._hold.renew(sent, lease, newest)
        self.notes.written(lease)
        self.sharing.noted(lease)

    def _look_soon(self) -> None:
        """In a shared storm the next heartbeat, which looks at the others' Leases, is now."""
        if self.sharing.is_shared:
            self._beat_at = None

    def divide(self, wanted: Division) -> Division:
        """Note by which division workloads are handled from now on; the one that counts.

        Nothing is divided where the role may not read the others' Leases.
        """
        sharing = self.sharing
        if not self.is_held or not sharing.may_look(wanted, self._cluster):
            return sharing.division
        division = msgspec.structs.replace(wanted, by=self._holder)
        noting = self._writes.note_held(sharing.number, {names.SHARES: division.note})
        (reply,) = self._cluster.perform([noting])
        if reply.error is None:
            sharing.begin(division)
            self._look_soon()
        else:  # whether it is noted may not be known
            self._hold.lose()
        return sharing.division

    def beat(self, session: Session) -> None:
        """The heartbeat, if it is time: renew the Lease if it is held, hide the wake-up.

        It is time, too, where a node of another pool was warned: new pods are to avoid that. SQS's
        answer is not waited for.
        """
        now = self._clock.now()
        is_shared = self.sharing.is_shared
        interval = SOON if is_shared and self.sharing.awaits_others else INTERVAL
        is_early = self._beat_at is not None and timedelta() <= now - self._beat_at < interval
        if is_early and not self.notes.lost_pools.take_new():
            return
        self._beat_at = now
        if self.is_held:
            renewal = self._writes.renew(
                self.sharing.number, {**self.notes.wanted, **self.sharing.notes}
            )
            heard = partial(self._heard, Moment.of(self._clock), self._hold.newest)
            session.submit(renewal, heard)
            if is_shared:
                self.sharing.look(session, now)
        self.wake_up.keep_hidden(session)

    def _heard(self, sent: Moment, newest: int, reply: Reply) -> None:
        """Take the reply to a renewal that was sent then, when the Lease was known to be so new."""
        if reply.error is None:
            self._renewed(sent, reply.result, newest)
        elif isinstance(reply.error, (*_CHANGED_MEANWHILE, NotFoundError)):
            self._hold.lose()
        elif self._beat_at is not None:
            self._beat_at -= INTERVAL - AFTER_A_FAILURE

    def give_up(self, wake_up_at: datetime | None) -> bool:
        """Give up the Lease, so that the next invocation can take it; if that fails, it expires.

        ``wake_up_at`` is when work is to go on, None if never. Answers whether a wake-up is
        known to be in the queue already that comes by then.
        """
        if not self._hold.was_taken or not self.sharing.may_be_freed:
            return False
        comes_by = False
        for _ in range(ATTEMPTS):
            (found,) = self._cluster.perform([question(self.sharing.number)])
            lease = found.result
            if not isinstance(lease, Lease) or divided_by(lease) != UNDIVIDED:
                return False  # the division is noted again: a renewal of before came late
            noted, wanted = noted_wake_up(lease), self._on_the_server(wake_up_at)
            comes_by = self._comes_by(noted, wanted)
            at = noted if comes_by else wanted
            giving_up = self._writes.give_up(self.sharing.number, lease, at, self.notes.wanted)
            (reply,) = self._cluster.perform([giving_up])
            self._noted(reply.result)
            if not isinstance(reply.error, _CHANGED_MEANWHILE):
                break
        return comes_by

    def _on_the_server(self, at: datetime | None) -> datetime | None:
        """A time by the wall clock here, by the API server's."""
        return None if at is None else self._there.earliest + (at - self._clock.now())

    def _comes_by(self, noted: datetime | None, wanted: datetime | None) -> bool:
        """Whether the wake-up that the Lease notes is still to come, and comes when it is wanted.

        By the API server's clock. It may come late by what queues round.
        """
        if noted is None or wanted is None:
            return False
        return self._there.earliest - ROUNDING <= noted <= wanted + ON_TIME

    def note(self) -> None:
        """Note what is known, if it is news, on a Lease that is not held and has not changed."""
        if self._lease is None or not self.notes.are_new:
            return
        noting = note_read(self.sharing.number, self._lease, self.notes.wanted)
        (reply,) = self._cluster.perform([noting])
        self._noted(reply.result)

    def _noted(self, lease: object) -> None:
        """The Lease is like this by now; anything else if that is not known."""
        if isinstance(lease, Lease):
            self._lease = lease
            self.notes.written(lease)
