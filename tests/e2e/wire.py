"""Evenkeel's only way to the cluster, tapped: what it writes, and what a test does to that."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evenkeel.errors import ClusterError, UnavailableError
from evenkeel.model.cluster_objects import Event, Lease, Namespace
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Create, Get, List, Request, Write
from evenkeel.ports import Arrival, Clock, Cluster, OnReply, Reply, Session, TimeLeft
from evenkeel_cli.passing import PassingSession

BOOKKEEPING: tuple[type[KubernetesObject], ...] = (Event, Lease, Namespace)
"""What Evenkeel may write whatever its mode: Events, its Lease, and the namespace of that."""


@dataclass(frozen=True, slots=True)
class Written:
    """A write and when it was sent."""

    at: datetime
    write: Write


def kind_of(request: Request) -> type[KubernetesObject] | None:
    """The kind of object that a request is about; None for an eviction, which is about a pod."""
    match request:
        case List(selection=selection):
            return selection.kind
        case Create(object=item):
            return type(item)
        case _:
            return getattr(request, "kind", None)


class TappedCluster:
    """A Cluster that keeps every write and can be cut off."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._written: list[Written] = []
        self.is_cut = False

    def cut(self) -> None:
        """From now on nothing gets through, and whatever waits for an answer learns of it."""
        self.is_cut = True

    @property
    def changes(self) -> Sequence[Written]:
        """All writes so far but the bookkeeping, in the order in which they were sent."""
        return [each for each in self._written if kind_of(each.write) not in BOOKKEEPING]

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Pass requests on."""
        errors = [self.pass_on(request) for request in requests]
        passed = [request for request, error in zip(requests, errors, strict=True) if not error]
        replies = iter(self._cluster.perform(passed) if passed else ())
        return [
            Reply(request, error=error) if error else next(replies)
            for request, error in zip(requests, errors, strict=True)
        ]

    def session(self) -> "TappedSession":
        """Open a session."""
        return TappedSession(self, self._cluster.session())

    def pass_on(self, request: Request) -> ClusterError | None:
        """Keep a request that is a write; the error instead of an answer, if it gets no further."""
        if self.is_cut:
            return UnavailableError("the test cut the wire")
        if not isinstance(request, Get | List):
            self._written.append(Written(self._clock.now(), request))
        return None


class TappedSession(PassingSession):
    """A Session of a TappedCluster."""

    def __init__(self, cluster: TappedCluster, session: Session) -> None:
        super().__init__(session)
        self._cluster = cluster
        self._refused: list[Reply] = []

    def submit(
        self, request: Request, then: OnReply | None = None, left: TimeLeft | None = None
    ) -> None:
        """Pass a request on."""
        error = self._cluster.pass_on(request)
        if error is None:
            super().submit(request, then, left)
        else:
            self._refused.append(Reply(request, error=error, then=then))

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        """What arrived. Raises ClusterError once the wire is cut, which ends the invocation."""
        if self._cluster.is_cut:
            raise UnavailableError("the test cut the wire")
        refused, self._refused = self._refused, []
        return [*refused, *super().next(timedelta() if refused else timeout)]
