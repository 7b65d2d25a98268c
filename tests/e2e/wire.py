"""Evenkeel's only way to the cluster, tapped: what it asks, and what a test does to that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evenkeel.errors import ClusterError, ForbiddenError, UnavailableError
from evenkeel.model.cluster_objects import Event, Lease, Namespace
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Get, List, Request, Selection
from evenkeel.ports import Arrival, Clock, Cluster, OnReply, Reply, Session, TimeLeft
from evenkeel_cli.passing import PassingSession
from tests.kit.asking import kind_of

BOOKKEEPING: tuple[type[KubernetesObject], ...] = (Event, Lease, Namespace)
"""What Evenkeel may write whatever its mode: Events, its Lease, and the namespace of that."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and when it was sent."""

    at: datetime
    request: Request


class TappedCluster:
    """A Cluster that keeps every request and can be cut off.

    ``before`` is what somebody else does just before a request is sent.
    """

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        before: Callable[[Request], None] = lambda _: None,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._before = before
        self.asked: list[Asked] = []
        self.watched: set[type[KubernetesObject]] = set()
        self.forbidden: list[Reply] = []
        self.is_cut = False

    def cut(self) -> None:
        """From now on nothing gets through, and whatever waits for an answer learns of it."""
        self.is_cut = True

    @property
    def changes(self) -> Sequence[Asked]:
        """All writes so far but the bookkeeping, in the order in which they were sent."""
        writes = [each for each in self.asked if not isinstance(each.request, Get | List)]
        return [each for each in writes if kind_of(each.request) not in BOOKKEEPING]

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Pass requests on."""
        errors = [self.pass_on(request) for request in requests]
        passed = [request for request, error in zip(requests, errors, strict=True) if not error]
        replies = iter(self._cluster.perform(passed) if passed else ())
        return self.hear(
            [
                Reply(request, error=error) if error else next(replies)
                for request, error in zip(requests, errors, strict=True)
            ]
        )

    def session(self) -> "TappedSession":
        """Open a session."""
        return TappedSession(self, self._cluster.session())

    def pass_on(self, request: Request) -> ClusterError | None:
        """Keep a request; the error instead of an answer, if it gets no further."""
        if self.is_cut:
            return UnavailableError("the test cut the wire")
        self._before(request)
        self.asked.append(Asked(self._clock.now(), request))
        return None

    def hear[T: Arrival | Reply](self, arrivals: Sequence[T]) -> Sequence[T]:
        """Keep what was forbidden."""
        for each in arrivals:
            if isinstance(each, Reply) and isinstance(each.error, ForbiddenError):
                self.forbidden.append(each)
        return arrivals


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

    def watch(self, selection: Selection[KubernetesObject]) -> None:
        """Pass it on."""
        self._cluster.watched.add(selection.kind)
        super().watch(selection)

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        """What arrived. Raises ClusterError once the wire is cut, which ends the invocation."""
        if self._cluster.is_cut:
            raise UnavailableError("the test cut the wire")
        refused, self._refused = self._refused, []
        arrived = super().next(timedelta() if refused else timeout)
        return [*refused, *self._cluster.hear(arrived)]
