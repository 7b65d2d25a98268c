"""Requests and watches of one piece of work over one mailbox."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import replace
from datetime import timedelta
from threading import Lock, Thread
from typing import Any, Self

from evenkeel.adapters.kubernetes.answers import answer
from evenkeel.adapters.kubernetes.mailbox import Mailbox
from evenkeel.adapters.kubernetes.transport import Transport
from evenkeel.adapters.kubernetes.watch import Watch
from evenkeel.errors import ClusterError
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Request, Selection
from evenkeel.ports import Arrival, OnDone, OnReply, Reply, TimeLeft, fulfil

FAREWELL = 2.0
"""Seconds that the end of a session grants its watches together; they need milliseconds."""


class RestSession:
    """ports.Session over HTTPS.

    A watch that the server refuses delivers, once, a Reply to a List of its selection with
    the error, and goes on trying.
    """

    def __init__(self, transport: Transport, executor: Executor) -> None:
        """Nothing happens until something is submitted or watched."""
        self._transport = transport
        self._executor = executor
        self._mailbox = Mailbox()
        self._watches: dict[Selection[Any], Watch[Any]] = {}
        self._ended: list[Watch[Any]] = []
        self._lock = Lock()
        self._under_way: set[Future[None]] = set()

    def submit(
        self, request: Request, then: OnReply | None = None, left: TimeLeft | None = None
    ) -> None:
        """Send a request; its Reply arrives in the mailbox."""
        self._mailbox.expect()
        future = self._executor.submit(self._carry_out, request, then, left)
        with self._lock:
            self._under_way.add(future)
        future.add_done_callback(self._done)

    def start[T](self, work: Callable[[], T], then: OnDone[T] | None = None) -> Future[T]:
        """Carry out work beside the caller, in a thread that no process waits for."""
        future = Future[T]()

        def carry_out() -> None:
            self._mailbox.put(fulfil(future, work, then))

        Thread(target=carry_out, name="beside", daemon=True).start()
        return future

    def watch(self, selection: Selection[KubernetesObject]) -> None:
        """List and watch a selection until the session closes."""
        if selection not in self._watches:
            self._watches[selection] = Watch(self._transport, selection, self._mailbox.put)

    def unwatch(self, selection: Selection[KubernetesObject]) -> None:
        """Stop watching a selection; what has arrived of it stays in the mailbox."""
        if stopped := self._watches.pop(selection, None):
            stopped.stop()
            self._ended.append(stopped)

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        """Everything in the mailbox; waits up to ``timeout`` for a first arrival."""
        return self._mailbox.take(timeout)

    @property
    def in_flight(self) -> int:
        """How many submitted requests have no reply in the mailbox yet."""
        return self._mailbox.expected

    @property
    def capacity(self) -> int:
        """How many requests are carried out at once."""
        return self._transport.limits.in_sessions

    def __enter__(self) -> Self:
        """Use the session in a with statement."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """End all watches, and wait for the requests under way: as long as one may take at most.

        Requests that have not begun by then are cancelled.
        """
        for selection in tuple(self._watches):
            self.unwatch(selection)
        with self._lock:
            waiting = set(self._under_way)
        _, late = wait(waiting, self._transport.limits.budget.total_seconds())
        for future in late:
            future.cancel()
        for watch in self._ended:
            watch.join(FAREWELL / len(self._ended))

    def _carry_out(self, request: Request, then: OnReply | None, left: TimeLeft | None) -> None:
        try:
            reply = answer(
                self._transport, request, left or (lambda: self._transport.limits.budget)
            )
        except Exception as error:  # noqa: BLE001 - the owner waits for a reply, whatever happened
            reply = Reply(request, error=ClusterError(f"{type(request).__name__}: {error!r}"))
        self._mailbox.put(replace(reply, then=then), expected=True)

    def _done(self, future: Future[None]) -> None:
        with self._lock:
            self._under_way.discard(future)
