"""The Lease that lets one reconciler at a time work on a cluster."""

from collections.abc import Collection
from datetime import datetime, timedelta

import msgspec

from evenkeel.errors import (
    AlreadyExistsError,
    ClusterError,
    ConflictError,
    InvalidError,
    NotFoundError,
)
from evenkeel.flows.asking import ask_for_one
from evenkeel.model import names
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Get, Operation, Patch, as_read, pointer
from evenkeel.model.surroundings import Lease, LeaseSpec, Namespace
from evenkeel.model.times import is_sound, to_micro_time
from evenkeel.ports import Clock, Cluster, Reply

DURATION = timedelta(seconds=18)
"""How long it is held at first, and where a Lease does not say so itself."""

ON_TIME = timedelta(milliseconds=100)
"""So much later than wanted a wake-up may be due and still be on time."""

ROUNDING = timedelta(seconds=1)
"""A wake-up comes so much later than it is due: queues count in whole seconds."""

OVERDUE = timedelta(seconds=3)
"""A wake-up that is not there so long after its time is lost."""

LONGEST_HELD = timedelta(seconds=60)
"""Whatever a Lease says, nobody holds it longer than this without renewing it."""

ATTEMPTS = 3
"""How often it is tried to be taken: notes of wake-ups get in between."""

_CHANGED_MEANWHILE = (AlreadyExistsError, ConflictError, InvalidError)

_NOTE = pointer("metadata", "annotations", names.WAKE_UP_AT)
_QUESTION = Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)


class ReconcilerLease:
    """One Lease in Evenkeel's namespace. It saves work; correctness does not hang on it."""

    def __init__(self, cluster: Cluster, clock: Clock, holder: str) -> None:
        """``holder`` is this process's identity."""
        self._cluster = cluster
        self._clock = clock
        self._holder = holder
        self._is_held = False
        self.problem: ClusterError | None = None
        self.held_for = timedelta()
        self.taking = ""

    def acquire(self) -> bool:
        """Take the Lease unless another holds it unexpired; False if so.

        Then ``held_for`` is how long the other may hold it without renewing it, and
        ``taking`` names what the other did: see ``stands``. The namespace is made where it is
        missing. Where it cannot be taken though nobody holds it, ``problem`` says why, and the
        work can be done without it. Raises ClusterError if it cannot be read.
        """
        for _ in range(ATTEMPTS):
            lease = ask_for_one(self._cluster, _QUESTION)
            now = self._clock.now()
            self.held_for = self._held_by_another_for(lease, now) if lease else timedelta()
            if lease is not None and self.held_for:
                self.taking = _taking(lease)
                return False
            reply = self._create(now) if lease is None else self._take(lease, now)
            if reply.error is None:
                self._is_held = True
                self.problem = None
                return True
            self.problem = reply.error
            if not isinstance(reply.error, _CHANGED_MEANWHILE):
                break
        return True

    def renewal(self, now: datetime, duration: timedelta) -> Patch | None:
        """The request that holds it for ``duration`` from now; None if it was not to be had."""
        if not self._is_held:
            return None
        return _patch(
            Operation("test", "/spec/holderIdentity", self._holder),
            Operation("add", "/spec/renewTime", _text(now)),
            Operation("add", "/spec/leaseDurationSeconds", int(duration.total_seconds())),
        )

    def is_lost_by(self, reply: Reply) -> bool:
        """Whether the reply to a renewal tells that another has it, or nobody."""
        return isinstance(reply.error, (*_CHANGED_MEANWHILE, NotFoundError))

    def release(self, wake_up_at: datetime | None) -> bool:
        """Give it up, so that the next one need not wait; whatever goes wrong, it expires.

        ``wake_up_at`` is when work is to go on, None if never. Answers whether a wake-up is
        known to be in the queue already that comes by then.
        """
        lease = self._read()
        if lease is None:
            return False
        known = _wake_up_at(lease)
        is_known = (
            known is not None
            and wake_up_at is not None
            and self._clock.now() - ROUNDING <= known <= wake_up_at + ON_TIME
        )
        given_up = msgspec.structs.replace(lease.spec, holder_identity="")
        self._cluster.perform(
            [
                _patch(
                    _same(lease),
                    Operation("test", "/spec/holderIdentity", self._holder),
                    Operation("add", "/spec", msgspec.to_builtins(given_up)),
                    Operation("add", _NOTE, _text(known if is_known else wake_up_at)),
                )
            ]
        )
        return is_known

    def stands(self, takings: Collection[str]) -> bool:
        """Whether one of these takings of the Lease is the last thing that happened to it.

        Whoever gives it up or takes it again lives; but if the wake-up that was to follow is
        overdue, that died. Raises ClusterError if it cannot be read.
        """
        lease = ask_for_one(self._cluster, _QUESTION)
        if lease is None:
            return False
        if not lease.spec.holder_identity:
            following = _wake_up_at(lease)
            return following is not None and following + OVERDUE <= self._clock.now()
        return _taking(lease) in takings

    def announce(self, wake_up_at: datetime) -> None:
        """Tell whoever holds it that a wake-up comes back then. That it fails does no harm."""
        lease = self._read()
        if lease is not None:
            note = Operation("add", _NOTE, _text(wake_up_at))
            self._cluster.perform([_patch(_same(lease), note)])

    def _read(self) -> Lease | None:
        (reply,) = self._cluster.perform([_QUESTION])
        return reply.result if isinstance(reply.result, Lease) else None

    def _held_by_another_for(self, lease: Lease, now: datetime) -> timedelta:
        """How long another may still hold it; 0 if nobody does."""
        spec = lease.spec
        if not spec.holder_identity or spec.holder_identity == self._holder:
            return timedelta()
        if spec.renew_time is None:
            return timedelta()
        duration = timedelta(seconds=spec.lease_duration_seconds or 0) or DURATION
        return max(timedelta(), min(duration, LONGEST_HELD) - abs(now - _parse(spec.renew_time)))

    def _create(self, now: datetime) -> Reply:
        lease = Lease(
            metadata=Metadata(
                name=names.HANDOVER_LEASE,
                namespace=names.SYSTEM_NAMESPACE,
                annotations={names.WAKE_UP_AT: ""},
            ),
            spec=self._spec(now, transitions=0),
        )
        (reply,) = self._cluster.perform([Create(lease)])
        if isinstance(reply.error, NotFoundError):
            namespace = Namespace(metadata=Metadata(name=names.SYSTEM_NAMESPACE))
            self._cluster.perform([Create(namespace)])
            (reply,) = self._cluster.perform([Create(lease)])
        return reply

    def _take(self, lease: Lease, now: datetime) -> Reply:
        """Take it as it was read: whoever else takes it meanwhile was first."""
        changed = lease.spec.holder_identity != self._holder
        spec = self._spec(now, lease.spec.lease_transitions + changed)
        annotations = {names.WAKE_UP_AT: ""} | lease.metadata.annotations
        patch = _patch(
            *as_read(lease),
            Operation("add", "/metadata/annotations", annotations),
            Operation("add", "/spec", msgspec.to_builtins(spec)),
        )
        (reply,) = self._cluster.perform([patch])
        return reply

    def _spec(self, now: datetime, transitions: int) -> LeaseSpec:
        text = _text(now)
        return LeaseSpec(
            holder_identity=self._holder,
            lease_duration_seconds=int(DURATION.total_seconds()),
            acquire_time=text,
            renew_time=text,
            lease_transitions=transitions,
        )


def _patch(*operations: Operation) -> Patch:
    return Patch(
        kind=Lease,
        name=names.HANDOVER_LEASE,
        namespace=names.SYSTEM_NAMESPACE,
        body=operations,
    )


def _same(lease: Lease) -> Operation:
    """The test by which a patch fails if this Lease was deleted and another made since."""
    return Operation("test", "/metadata/uid", lease.uid)


def _taking(lease: Lease) -> str:
    """What names a taking of the Lease: nobody takes it twice at the same time."""
    return f"{lease.spec.holder_identity} {lease.spec.renew_time}"


def _wake_up_at(lease: Lease) -> datetime | None:
    """When a wake-up is known to come; None if that is not known, or makes no sense."""
    text = lease.metadata.annotations.get(names.WAKE_UP_AT, "")
    try:
        time = _parse(text)
    except msgspec.ValidationError:
        return None
    return time if is_sound(time) else None


def _text(time: datetime | None) -> str:
    return "" if time is None else to_micro_time(time)


def _parse(text: str) -> datetime:
    return msgspec.convert(text, type=datetime)
