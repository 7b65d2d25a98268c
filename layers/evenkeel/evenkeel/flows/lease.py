"""The Lease that lets one reconciler at a time work on a cluster."""

from datetime import UTC, datetime, timedelta

import msgspec

from evenkeel.errors import AlreadyExistsError, ConflictError, InvalidError, NotFoundError
from evenkeel.flows.asking import answer, ask_for_one
from evenkeel.model import names
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Get, Operation, Patch
from evenkeel.model.surroundings import Lease, LeaseSpec, Namespace
from evenkeel.ports import Clock, Cluster

DURATION = timedelta(seconds=20)
"""As long as one invocation can last: a crash costs no more than that."""

_LOST_THE_RACE = (AlreadyExistsError, ConflictError, InvalidError, NotFoundError)


class ReconcilerLease:
    """One Lease in Evenkeel's namespace. It saves work; correctness does not hang on it."""

    def __init__(self, cluster: Cluster, clock: Clock, holder: str) -> None:
        """``holder`` is this process's identity."""
        self._cluster = cluster
        self._clock = clock
        self._holder = holder

    def acquire(self) -> bool:
        """Take the Lease unless another holds it unexpired; whether it is ours now.

        The namespace is made where it is missing. Raises ClusterError if the API server
        refuses for another reason than somebody else's being first.
        """
        request = Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)
        lease = ask_for_one(self._cluster, request)
        now = self._clock.now()
        try:
            if lease is None:
                self._create(now)
            elif self._is_held_by_another(lease, now):
                return False
            else:
                answer(self._cluster.perform([self._take(lease, now)])[0])
        except _LOST_THE_RACE:
            return False
        return True

    def release(self) -> None:
        """Give it up, so that the next one need not wait; whatever goes wrong, it expires."""
        request = Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)
        (reply,) = self._cluster.perform([request])
        lease = reply.result
        if isinstance(lease, Lease) and lease.spec.holder_identity == self._holder:
            given_up = msgspec.structs.replace(lease.spec, holder_identity="")
            self._cluster.perform([_write(lease, given_up)])

    def _is_held_by_another(self, lease: Lease, now: datetime) -> bool:
        spec = lease.spec
        if not spec.holder_identity or spec.holder_identity == self._holder:
            return False
        if spec.renew_time is None:
            return False
        duration = timedelta(seconds=spec.lease_duration_seconds or DURATION.total_seconds())
        return now < _parse(spec.renew_time) + duration

    def _create(self, now: datetime) -> None:
        lease = Lease(
            metadata=Metadata(name=names.HANDOVER_LEASE, namespace=names.SYSTEM_NAMESPACE),
            spec=self._spec(now, transitions=0),
        )
        (reply,) = self._cluster.perform([Create(lease)])
        if isinstance(reply.error, NotFoundError):
            namespace = Namespace(metadata=Metadata(name=names.SYSTEM_NAMESPACE))
            self._cluster.perform([Create(namespace)])
            (reply,) = self._cluster.perform([Create(lease)])
        answer(reply)

    def _take(self, lease: Lease, now: datetime) -> Patch:
        changed = lease.spec.holder_identity != self._holder
        return _write(lease, self._spec(now, lease.spec.lease_transitions + changed))

    def _spec(self, now: datetime, transitions: int) -> LeaseSpec:
        text = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return LeaseSpec(
            holder_identity=self._holder,
            lease_duration_seconds=int(DURATION.total_seconds()),
            acquire_time=text,
            renew_time=text,
            lease_transitions=transitions,
        )


def _write(lease: Lease, spec: LeaseSpec) -> Patch:
    return Patch(
        kind=Lease,
        name=lease.name,
        namespace=lease.namespace,
        body=(
            Operation("test", "/metadata/resourceVersion", lease.metadata.resource_version),
            Operation("add", "/spec", msgspec.to_builtins(spec)),
        ),
    )


def _parse(text: str) -> datetime:
    return msgspec.convert(text, type=datetime)
