"""Sessions: requests under way and watches, answered in one mailbox on the simulated clock."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import timedelta
from itertools import batched
from typing import Protocol, Self

from evenkeel.errors import ClusterError, UnavailableError
from evenkeel.model.decoding import converted
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Change, List, Listing, Relisted, Request, Selection
from evenkeel.ports import Arrival, OnDone, OnReply, Reply, TimeLeft, fulfil
from evenkeel_sandbox.simulator.api.objects import Obj
from evenkeel_sandbox.simulator.api.watch import Consumer, Filter, Watch, WatchHub
from evenkeel_sandbox.simulator.clock import Killed, Signal, SimulatedClock

type Result = KubernetesObject | Listing[KubernetesObject] | None

CLOSING = timedelta(seconds=30)
SHORTEST_WAIT = timedelta(microseconds=100)
"""What an empty answer takes at least, so that a loop that only looks does not stop time."""


def decode[T: KubernetesObject](obj: Obj, kind: type[T]) -> T:
    """A plain object as the model has it."""
    return converted(obj, kind)


def listing(
    request: List[KubernetesObject], objects: Sequence[Obj], revision: int
) -> Listing[KubernetesObject]:
    """What is answered to a list of these objects: all, or the first page that has something."""
    if request.metadata_only:
        objects = [{"metadata": obj["metadata"]} for obj in objects]
    kind, kept = request.selection.kind, request.kept
    for page in batched(objects, request.limit or len(objects) or 1, strict=False):
        found = (decode(obj, kind) for obj in page)
        if kept is not None:
            found = (item for each in found if (item := kept(each)) is not None)
        if items := tuple(found):
            return Listing(items, str(revision))
    return Listing((), str(revision))


def filter_of(selection: Selection[KubernetesObject]) -> Filter:
    """A selection on plain objects; ClusterError (400) if its selectors are none."""
    return Filter.of(
        selection.kind.resource.kind, selection.namespace, selection.labels, selection.fields
    )


class Backend(Protocol):
    """What carries out a session's requests."""

    @property
    def capacity(self) -> int:
        """How many requests of one session at once."""
        ...

    def arrival(self) -> timedelta:
        """How long from now until a request that is sent now is carried out."""
        ...

    def lateness(self) -> timedelta:
        """How long from when a request is carried out until its reply is in the mailbox."""
        ...

    def execute(self, request: Request) -> Result:
        """Carry it out now."""
        ...


class SimulatedSession:
    """Implements the port Session."""

    def __init__(self, clock: SimulatedClock, backend: Backend, hub: WatchHub) -> None:
        """Open it."""
        self._clock = clock
        self._backend = backend
        self._hub = hub
        self._mailbox: list[Arrival] = []
        self._signal = Signal()
        self._queued: deque[tuple[Request, Callable[[Reply], None], TimeLeft | None]] = deque()
        self._running = 0
        self._watches: dict[Selection[KubernetesObject], Watch] = {}

    @property
    def in_flight(self) -> int:
        """How many submitted requests have no reply in the mailbox yet."""
        return self._running + len(self._queued)

    @property
    def capacity(self) -> int:
        """How many requests are carried out at once."""
        return self._backend.capacity

    def submit(
        self, request: Request, then: OnReply | None = None, left: TimeLeft | None = None
    ) -> None:
        """Send a request; its Reply arrives in the mailbox."""
        self.send(request, lambda reply: self._deliver_late(replace(reply, then=then)), left)

    def send(
        self, request: Request, answer: Callable[[Reply], None], left: TimeLeft | None = None
    ) -> None:
        """Send a request whose Reply goes to ``answer`` as soon as it is carried out."""
        self._clock.raise_if_killed()
        self._queued.append((request, answer, left))
        self._pump()

    def watch(self, selection: Selection[KubernetesObject]) -> None:
        """List and watch a selection until the session closes.

        What the server refuses is delivered as the Reply of a List.
        """
        if selection in self._watches:
            return
        kind = selection.kind

        def relisted(objects: list[Obj], revision: int) -> None:
            items = tuple(decode(obj, kind) for obj in objects)
            self._deliver(Relisted(selection, Listing(items, str(revision))))

        def changed(obj: Obj, deleted: bool) -> None:  # noqa: FBT001 - as Consumer calls it
            self._deliver(Change(selection, decode(obj, kind), deleted))

        try:
            watch = Watch(self._hub, filter_of(selection), Consumer(relisted, changed))
        except ClusterError as error:
            refused = Reply(List(selection), error=error)
            self._clock.call_in(self._backend.arrival(), lambda: self._deliver(refused))
            return
        self._watches[selection] = watch
        self._clock.call_in(
            self._backend.arrival(),
            lambda: watch.list() if self._watches.get(selection) is watch else None,
        )

    def unwatch(self, selection: Selection[KubernetesObject]) -> None:
        """Stop watching a selection; what has arrived of it stays in the mailbox."""
        watch = self._watches.pop(selection, None)
        if watch is not None:
            watch.stop()

    def start[T](self, work: Callable[[], T], then: OnDone[T] | None = None) -> Future[T]:
        """Carry out work beside the caller, as a process of the clock."""
        future = Future[T]()

        def carry_out() -> None:
            self._deliver(fulfil(future, work, then))

        self._clock.start(carry_out, part_of=self._clock.running)
        return future

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        """Everything in the mailbox, oldest first; waits up to ``timeout`` for a first one."""
        if not self._mailbox:
            self._clock.wait(self._signal, max(timeout, SHORTEST_WAIT))
        arrived, self._mailbox = self._mailbox, []
        self._signal.clear()
        return arrived

    def wait_for_replies(self, timeout: timedelta) -> None:
        """Let time pass until every request has its reply."""
        end = self._clock.now() + timeout
        while self.in_flight and self._clock.now() < end:
            self._signal.clear()
            self._clock.wait(self._signal, end - self._clock.now())

    def __enter__(self) -> Self:
        """Use the session in a with statement."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """End all watches, and wait (bounded) for the requests under way.

        Where the process was killed, what it had not sent yet is never sent.
        """
        for selection in list(self._watches):
            self.unwatch(selection)
        if isinstance(exc_info[1], Killed):
            self._queued.clear()
            return
        self.wait_for_replies(CLOSING)

    def _pump(self) -> None:
        while self._queued and self._running < self.capacity:
            self._start(*self._queued.popleft())

    def _start(
        self, request: Request, answer: Callable[[Reply], None], left: TimeLeft | None
    ) -> None:
        self._running += 1
        self._clock.call_in(self._backend.arrival(), lambda: self._run(request, answer, left))

    def _run(
        self, request: Request, answer: Callable[[Reply], None], left: TimeLeft | None
    ) -> None:
        try:
            if left is not None and left() <= timedelta():
                raise UnavailableError("there is no time left for it")
            reply = Reply(request, self._backend.execute(request))
        except ClusterError as error:
            reply = Reply(request, error=error)
        reply = replace(reply, date=self._clock.now().replace(microsecond=0))
        self._running -= 1
        answer(reply)
        self._signal.set()
        self._pump()

    def _deliver_late(self, reply: Reply) -> None:
        def arrive() -> None:
            self._running -= 1
            self._deliver(reply)
            self._pump()

        self._running += 1  # until its reply has arrived
        late = self._backend.lateness()
        if late:
            self._clock.call_in(late, arrive)
        else:
            arrive()

    def _deliver(self, arrival: Arrival) -> None:
        self._mailbox.append(arrival)
        self._signal.set()
