"""A webhook's handler as the simulated API server asks it, in the midst of its own work.

The API server asks while a pod is created, which is one moment of the clock: a controller's
request within an event. The handler asks the same API server, and may wait; neither may move the
clock there, or other events would happen within this one. So it has its own view of both: what
it asks is carried out at once, and the time that this and its waits take passes on a clock of its
own, which begins at the cluster's with every review. It counts for the timeout and for what the
handler itself gives up on, and for nothing else: while it waits, nothing changes, and what it
writes may be dated as much later than it is.

Reviews therefore never overlap. Many at once are for processes of the clock that call the handler
themselves, with the cluster and its clock as they are.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from evenkeel.errors import ClusterError
from evenkeel.handlers import Handler
from evenkeel.model.request import Request
from evenkeel.ports import Clock, Cluster, Reply, Session
from evenkeel_sandbox.simulator.api.webhooks import Answer, CallFailedError
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster

type Build = Callable[[Cluster, Clock], Handler]
"""Builds a handler that asks this cluster and goes by this clock."""


class OwnTime:
    """Implements the port Clock: waits at once, and remembers how long."""

    def __init__(self, clock: SimulatedClock) -> None:
        """Begin at the clock's time."""
        self._clock = clock
        self.spent = timedelta()

    def now(self) -> datetime:
        """The clock's time, and what was spent since."""
        return self._clock.now() + self.spent

    def boot(self) -> timedelta:
        """The time since the machine was started."""
        return self._clock.boot()

    def sleep(self, duration: timedelta) -> None:
        """Spend this much time."""
        self.spent += duration


class AtOnce:
    """Implements the port Cluster: carries requests out in this very moment of the clock.

    They pass the cluster's interceptors, as any client's.
    """

    def __init__(self, cluster: SimulatedCluster, time: OwnTime) -> None:
        """What a round of requests takes is spent of ``time``."""
        self._cluster = cluster
        self._time = time

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Carry out requests, one after the other."""
        self._time.sleep(self._cluster.options.latency)
        return [self._reply(request) for request in requests]

    def session(self) -> Session:
        """Refuse: a session waits for what comes, and nothing comes here."""
        raise RuntimeError("a webhook asks by perform: there is nothing to wait for in a session")

    def _reply(self, request: Request) -> Reply:
        try:
            return Reply(request, self._cluster.execute(request))
        except ClusterError as error:
            return Reply(request, error=error)


class HandlerWebhook:
    """Sends reviews to a handler as ``evenkeel serve`` and an HTTP API do.

    A scene may set ``down`` (no answer) and ``slow`` (this much more time for each; past the
    timeout the handler does its work, and its answer is lost).
    """

    def __init__(
        self, cluster: SimulatedCluster, token: str, build: Build, *, name: str = ""
    ) -> None:
        """``token`` is one that the handler accepts; ``name`` of the review follows it."""
        self.down = False
        self.slow = timedelta()
        self._time = OwnTime(cluster.clock)
        self._cluster = AtOnce(cluster, self._time)
        self._path = f"/v1/{token}/{name}".rstrip("/")
        self._build = build
        self.restart()

    def restart(self) -> None:
        """Restart, with nothing remembered."""
        self._handler = self._build(self._cluster, self._time)

    def __call__(self, review: bytes) -> Answer:
        """Answer a review. Raises CallFailedError while it is down."""
        if self.down:
            raise CallFailedError("connection refused")
        self._time.spent = timedelta()
        answer = self._handler(self._event(review), None)
        body = answer["body"].encode()
        return Answer(answer["statusCode"], body, self._time.spent + self.slow)

    def _event(self, review: bytes) -> dict[str, object]:
        """A request as an HTTP API hands it on."""
        return {
            "version": "2.0",
            "rawPath": self._path,
            "headers": {"content-type": "application/json"},
            "requestContext": {"http": {"method": "POST"}},
            "body": review.decode(),
            "isBase64Encoded": False,
        }
