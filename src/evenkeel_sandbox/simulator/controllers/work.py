"""How controllers work: a queue of keys, a few workers, and a client with a rate limit.

A controller's ``reconcile`` is a generator. It reads the store freely, as a controller reads
its informers' caches, and yields its requests: a callable is one request, whose result the
yield answers and whose error it raises; a list of callables are requests at the same time,
whose results and errors the yield answers in a list. Each request waits for its turn at the
client's rate limit, so a large ReplicaSet holds its worker for as long as it takes.

kube-controller-manager gives every controller a client, and so a rate limit, of its own
(ClientBuilder.Client in cmd/kube-controller-manager); workers of one controller share it.
"""

from abc import ABC
from collections.abc import Callable, Generator, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from evenkeel.errors import ClusterError, NotFoundError
from evenkeel_sandbox.simulator.api.objects import Key, Obj, controller_of, key_of
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.world import World

type Call = Callable[[], Any]
type Steps[T] = Generator[Call | Sequence[Call], Any, T]
"""Part of a reconciliation that answers something."""

type Work = Steps[None]

FIRST_BACK_OFF = timedelta(milliseconds=5)
LONGEST_BACK_OFF = timedelta(seconds=1000)
"""The work queues' ItemExponentialFailureRateLimiter."""


class RateLimit:
    """A token bucket as client-go's: ``qps`` tokens a second, at most ``burst`` saved up."""

    def __init__(self, clock: SimulatedClock, qps: float | None, burst: int) -> None:
        """``qps`` None sets no limit."""
        self._clock = clock
        self._qps = qps
        self._burst = burst
        self._tokens = float(burst)
        self._counted = clock.now()

    def turn(self) -> datetime:
        """Take a token; answers when it is there."""
        now = self._clock.now()
        if self._qps is None:
            return now
        gained = (now - self._counted).total_seconds() * self._qps
        self._tokens = min(float(self._burst), self._tokens + gained) - 1
        self._counted = now
        if self._tokens >= 0:
            return now
        return now + timedelta(seconds=-self._tokens / self._qps)


class Controller(ABC):
    """Reconciles keys, each at most once at a time, several keys at once."""

    kind: ClassVar[str]
    """Of which kind the objects are whose keys it works on."""
    workers: ClassVar[int] = 5
    qps_share: ClassVar[float] = 1.0
    lag: ClassVar[timedelta] = timedelta(seconds=0.002)
    """How long after a change it begins to work on it."""

    def __init__(self, world: World) -> None:
        """Begin to observe; work starts when time moves."""
        self.world = world
        self.store = world.store
        self.server = world.server
        options = world.options
        self.limit(options.controller_qps, options.controller_burst)
        self._waiting: dict[Key, None] = {}
        self._working: dict[Key, bool] = {}
        self._failures: dict[Key, int] = {}
        self._due = False
        self.observe()

    def limit(self, qps: float | None, burst: int) -> None:
        """From now on its requests go at this rate, as after a restart with these flags."""
        share = None if qps is None else qps * self.qps_share
        self._limit = RateLimit(self.world.clock, share, burst)

    def observe(self) -> None:
        """Register with the store for what concerns this controller."""
        self.store.observe(self.kind, self.enqueue_object)

    def reconcile(self, key: Key) -> Work:
        """Bring the world nearer to what the object of this key asks for."""
        found = self.store.get(self.kind, key)
        if found is not None:
            yield from self.reconcile_object(found)

    def reconcile_object(self, found: Obj, /) -> Work:
        """Bring the world nearer to what an object asks for."""
        raise NotImplementedError

    def enqueue(self, key: Key) -> None:
        """Work on this key soon; once more if it is being worked on."""
        if key in self._working:
            self._working[key] = True
        elif key not in self._waiting:
            self._waiting[key] = None
            self._wake(self.lag)

    def enqueue_after(self, key: Key, delay: timedelta) -> None:
        """Work on this key after a time."""
        self.world.clock.call_in(delay, lambda: self.enqueue(key))

    def enqueue_object(self, old: Obj | None, new: Obj | None) -> None:
        """An observer that enqueues the changed object itself."""
        self.enqueue(key_of(new or old or {}))

    def enqueue_owners(self, old: Obj | None, new: Obj | None) -> None:
        """An observer that enqueues what controls the changed object, or did."""
        for state in (old, new):
            owner = controller_of(state) if state is not None else None
            if state is not None and owner is not None and owner["kind"] == self.kind:
                self.enqueue((key_of(state)[0], owner["name"]))

    def set_status(self, found: Obj, status: Obj, revision: str = "") -> Work:
        """Write the status of an object, if it is another one.

        With a ``revision`` that fails where somebody has written the object since then.
        """
        if status != (found.get("status") or {}):
            kind, key = found["kind"], key_of(found)
            yield unless_gone(lambda: self.server.set_status(kind, key, status, revision))

    def _wake(self, delay: timedelta) -> None:
        if not self._due:
            self._due = True
            self.world.clock.call_in(delay, self._start_workers)

    def _start_workers(self) -> None:
        self._due = False
        while self._waiting and len(self._working) < self.workers:
            key = next(iter(self._waiting))
            del self._waiting[key]
            self._working[key] = False
            self._go_on(key, self.reconcile(key))

    def _go_on(
        self, key: Key, work: Work, result: Any = None, error: ClusterError | None = None
    ) -> None:
        try:
            wanted = work.send(result) if error is None else work.throw(error)
        except StopIteration:
            self._finish(key, None)
        except ClusterError as failure:
            self._finish(key, failure)
        else:
            if callable(wanted):
                self._request(wanted, lambda r, e: self._go_on(key, work, r, e))
            else:
                self._request_all(wanted, lambda results: self._go_on(key, work, results))

    def _request(self, call: Call, answer: Callable[[Any, ClusterError | None], None]) -> None:
        def carry_out() -> None:
            try:
                result = call()
            except ClusterError as error:
                answer(None, error)
            else:
                answer(result, None)

        when = self._limit.turn() + self.world.options.latency
        self.world.clock.call_at(when, carry_out)

    def _request_all(self, calls: Sequence[Call], answer: Callable[[list[Any]], None]) -> None:
        results: list[Any] = [None] * len(calls)
        remaining = len(calls)

        def collect(position: int) -> Callable[[Any, ClusterError | None], None]:
            def answered(result: Any, error: ClusterError | None) -> None:
                nonlocal remaining
                results[position] = result if error is None else error
                remaining -= 1
                if remaining == 0:
                    answer(results)

            return answered

        for position, call in enumerate(calls):
            self._request(call, collect(position))
        if not calls:
            answer(results)

    def _finish(self, key: Key, failure: ClusterError | None) -> None:
        again = self._working.pop(key)
        if failure is None:
            self._failures.pop(key, None)
        else:
            failures = self._failures.get(key, 0)
            self._failures[key] = failures + 1
            delay = min(FIRST_BACK_OFF * 2 ** min(failures, 30), LONGEST_BACK_OFF)
            self.enqueue_after(key, delay)
        if again:
            self.enqueue(key)
        if self._waiting:
            self._wake(timedelta())


def unless_gone(call: Call) -> Call:
    """The same request, content to find that its object is gone."""

    def attempt() -> Any:
        try:
            return call()
        except NotFoundError:
            return None

    return attempt


def errors_in(results: Sequence[Any]) -> list[ClusterError]:
    """The errors among the answers to requests at the same time."""
    return [result for result in results if isinstance(result, ClusterError)]
