"""A reconciler's Lease: taken, renewed by a heartbeat, given up."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

import msgspec

from evenkeel.errors import (
    AlreadyExistsError,
    ConflictError,
    InvalidError,
    NotFoundError,
    UnavailableError,
)
from evenkeel.flows import home
from evenkeel.flows.drain.cache.nodes import MarkedNodes
from evenkeel.flows.drain.calls import Call
from evenkeel.flows.drain.company import division_of
from evenkeel.flows.drain.lease import DURATION, VALID, held_for, noted_wake_up, question
from evenkeel.flows.drain.lost_pools import LostPools
from evenkeel.flows.drain.server_time import ServerTime
from evenkeel.flows.drain.sharing import Sharing
from evenkeel.flows.drain.wake_up import Hide, WakeUp
from evenkeel.flows.reads import answer
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.cluster_objects import Lease, LeaseSpec
from evenkeel.model.division import Division, lease_of
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Operation, Patch, as_read, pointer
from evenkeel.model.times import to_micro_time
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

_NOTE = pointer("metadata", "annotations", names.WAKE_UP_AT)
_DIVISION = pointer("metadata", "annotations", names.DIVISION)


class Remembered(Protocol):
    """What outlives invocations, and is kept on the Lease for whoever works next."""

    @property
    def note(self) -> str:
        """What the Lease is to keep."""
        ...

    def read(self, note: str | None) -> None:
        """Take what the Lease has; None if nothing."""
        ...


class Leadership:
    """One invocation's hold on a Lease in Evenkeel's namespace, and on its wake-up.

    It is the Lease of number 0, unless a storm is shared and others have that: see ``join``.

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
        memory: Mapping[str, Remembered] | None = None,
        call: Call | None = None,
    ) -> None:
        """``holder`` is this invocation's identity. ``hide`` None: no wake-up led to it.

        ``labels`` tell which nodes are spot. What ``memory`` has is kept on the Lease, by the keys
        of its annotations. ``call`` None: no storm is divided, for nobody else would come.
        """
        self._memory = memory or {}
        self._cluster = cluster
        self._clock = clock
        self._there = ServerTime(clock)
        self.sharing = Sharing(holder, self._there, clock, recorder, call)
        self._recorder = recorder
        self._holder = holder
        self.wake_up = WakeUp(hide, clock, recorder)
        self._beat_at: datetime | None = None
        self._lease: Lease | None = None
        self.noted: Mapping[str, str] = {}
        """What the Lease has by the last answer: its annotations."""
        self._valid_from: tuple[datetime, timedelta] | None = None
        self.nodes = MarkedNodes()
        """The nodes that are known. The Lease notes the pools of those with a warning."""
        self._lost_pools = LostPools(labels, clock)
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
        return self._is_taken_away or self._has_gone_back or self.sharing.is_over

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
        return min(VALID - max(passed, self._clock.boot() - boot), self.sharing.left())

    def look(self) -> timedelta:
        """How long another may still hold the Lease; 0 if it is free. Raises ClusterError.

        A Lease that is free has what its last holder knew.
        """
        sent = self._clock.boot()
        (reply,) = self._cluster.perform([question(self.sharing.number)])
        self._there.heard(sent, reply.date)
        found = None if isinstance(reply.error, NotFoundError) else answer(reply)
        self._lease = found if isinstance(found, Lease) else None
        self.noted = {} if self._lease is None else self._lease.metadata.annotations
        taken_for = held_for(self._lease, self._holder, self._there.earliest)
        if self._lease is not None and not taken_for:
            self._remember()
        return taken_for

    def _remember(self) -> None:
        for key, each in self._memory.items():
            each.read(self.noted.get(key))

    def join(self) -> int:
        """From now on it is about another Lease that is free, and is to be taken; its number.

        It is of the division by which the holder works who was looked at; 0 if there is none.
        Raises ClusterError.
        """
        self._lease = self.sharing.join(self._lease, self._cluster)
        if self.sharing.number:
            self.noted = {} if self._lease is None else self._lease.metadata.annotations
            self._remember()
        return self.sharing.number

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
        if self.sharing.division.of > 1 or division_of(self._lease).of > 1:
            self._begin(self.sharing.division)

    def _begin(self, division: Division) -> None:
        self.sharing.begin(division)
        self._beat_at = None

    def divide(self, wanted: Division) -> Division:
        """Note by which division workloads are handled from now on; the one that counts.

        It stays as it is while others work by it, and where the role may not read their Leases.
        """
        sharing = self.sharing
        if not self.is_held or wanted.is_as(sharing.division):
            return sharing.division
        if not sharing.can_be_divided_anew(self._cluster):
            return sharing.division
        division = wanted.called_by(self._holder)
        (reply,) = self._cluster.perform(
            [self._patch(self._is_mine, Operation("add", _DIVISION, division.note))]
        )
        if reply.error is None:
            self._begin(division)
        else:  # whether it is noted may not be known
            self._is_taken_away = True
        return sharing.division

    def _is_mine_by_now(self) -> bool:
        self.look()
        return self._lease is not None and self._lease.spec.holder_identity == self._holder

    def beat(self, session: Session) -> None:
        """The heartbeat, if it is time: renew the Lease if it is held, hide the wake-up.

        It is time, too, where a node of another pool was warned: new pods are to avoid that. SQS's
        answer is not waited for.
        """
        now = self._clock.now()
        doomed = self.nodes.dooms.keys()
        interval = SOON if self.sharing.is_beginning(doomed) else INTERVAL
        is_early = self._beat_at is not None and timedelta() <= now - self._beat_at < interval
        if is_early and not self._lost_pools.take_new(self.nodes.warned.values()):
            return
        self._beat_at = now
        self.sharing.learn(doomed)
        if self.is_held:
            heard = partial(self._renewed, now, self._clock.boot(), self._newest)
            session.submit(self._renewal(), heard)
            self.sharing.look(session, now)
        self.wake_up.keep_hidden(session)

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
        self.noted = lease.metadata.annotations

    def give_up(self, wake_up_at: datetime | None) -> bool:
        """Give up the Lease, so that the next invocation can take it; if that fails, it expires.

        ``wake_up_at`` is when work is to go on, None if never. Answers whether a wake-up is
        known to be in the queue already that comes by then.
        """
        if self._valid_from is None or self._is_taken_away:
            return False
        if self.sharing.number == 0 and not self.sharing.is_alone:
            return False  # who takes it next may not look at theirs
        for _ in range(ATTEMPTS):
            (found,) = self._cluster.perform([question(self.sharing.number)])
            lease = found.result
            if not isinstance(lease, Lease):
                return False
            known, now = noted_wake_up(lease), self._there.earliest
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
                        *_operations(self._notes),
                    )
                ]
            )
            self._take_notes(reply.result)
            if not isinstance(reply.error, _CHANGED_MEANWHILE):
                break
        return is_known

    def note(self) -> None:
        """Note what is known, if it is news, on a Lease that is not held and has not changed."""
        notes = {key: each.note for key, each in self._memory.items()}
        if self._lease is None or notes.items() <= self.noted.items():
            return
        patch = self._patch(*as_read(self._lease), *_operations(notes))
        (reply,) = self._cluster.perform([patch])
        self._take_notes(reply.result)

    def _take_notes(self, lease: object) -> None:
        """The Lease is like this by now; anything else if that is not known."""
        if isinstance(lease, Lease):
            self._lease, self.noted = lease, lease.metadata.annotations

    def _renewal(self) -> Patch:
        return self._patch(
            self._is_mine,
            Operation("add", "/spec/renewTime", _text(self._there.latest)),
            *_operations(self._notes),
            *self.sharing.notes,
        )

    @property
    def _notes(self) -> Mapping[str, str]:
        """What the Lease is to keep, by the keys of its annotations."""
        return {names.LOST_POOLS: self._losses_note()} | {
            key: each.note for key, each in self._memory.items()
        }

    def _losses_note(self) -> str:
        """What this holder and those before know of pools that lost a node lately."""
        notes = self._lease.metadata.annotations if self._lease is not None else {}
        return self._lost_pools.note(notes.get(names.LOST_POOLS), self.nodes.warned.values())

    def _create(self) -> Reply:
        lease = Lease(
            metadata=Metadata(
                name=lease_of(self.sharing.number),
                namespace=names.SYSTEM_NAMESPACE,
                annotations={names.WAKE_UP_AT: ""} | self._first_notes,
            ),
            spec=self._spec(transitions=0),
        )
        (reply,) = home.perform(self._cluster.perform, [Create(lease)])
        return reply

    def _replace(self) -> Reply:
        """Take the Lease as it was read; False if another took it meanwhile."""
        lease = self._lease
        assert lease is not None  # noqa: S101 - else there is nothing to replace
        self.sharing.inherit(lease)
        annotations = {names.WAKE_UP_AT: ""} | lease.metadata.annotations | self._first_notes
        spec = self._spec(lease.spec.lease_transitions + 1)
        patch = self._patch(
            *as_read(lease),
            Operation("add", "/metadata/annotations", annotations),
            Operation("add", "/spec", msgspec.to_builtins(spec)),
        )
        (reply,) = self._cluster.perform([patch])
        return reply

    @property
    def _first_notes(self) -> dict[str, str]:
        """How far the clock here is ahead, which sets the last moments, and all that is kept.

        The write that takes the Lease notes it as well, so that none follows for it in the first
        second, which is the busiest.
        """
        ahead = str(round(self._there.ahead.total_seconds()))
        note = self.sharing.division.note
        is_noted = note or division_of(self._lease).of > 1
        division = {names.DIVISION: note} if is_noted else {}
        return division | {names.CLOCK_AHEAD: ahead, **self._notes}

    @property
    def _is_mine(self) -> Operation:
        return Operation("test", "/spec/holderIdentity", self._holder)

    def _patch(self, *operations: Operation) -> Patch:
        return Patch(
            kind=Lease,
            name=lease_of(self.sharing.number),
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


def _operations(notes: Mapping[str, str]) -> Sequence[Operation]:
    return [
        Operation("add", pointer("metadata", "annotations", key), note)
        for key, note in notes.items()
    ]


def _text(time: datetime | None) -> str:
    return "" if time is None else to_micro_time(time)
