"""A session that is another one: the base of those that change a little of what passes."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import timedelta
from typing import Self

from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Request, Selection
from evenkeel.ports import Arrival, OnDone, OnReply, Session, TimeLeft


class PassingSession:
    """Implements the port Session: passes everything on to another session, and back."""

    def __init__(self, session: Session) -> None:
        """Stand before this session."""
        self._session = session

    def submit(
        self, request: Request, then: OnReply | None = None, left: TimeLeft | None = None
    ) -> None:
        """Send a request."""
        self._session.submit(request, then, left)

    def start[T](self, work: Callable[[], T], then: OnDone[T] | None = None) -> Future[T]:
        """Carry out work beside the caller."""
        return self._session.start(work, then)

    def watch(self, selection: Selection[KubernetesObject]) -> None:
        """List and watch a selection until the session closes."""
        self._session.watch(selection)

    def unwatch(self, selection: Selection[KubernetesObject]) -> None:
        """Stop watching a selection."""
        self._session.unwatch(selection)

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        """Everything in the mailbox; waits up to ``timeout`` for a first arrival."""
        return self._session.next(timeout)

    @property
    def in_flight(self) -> int:
        """How many submitted requests have no reply in the mailbox yet."""
        return self._session.in_flight

    @property
    def capacity(self) -> int:
        """How many requests are carried out at once."""
        return self._session.capacity

    def __enter__(self) -> Self:
        """Use the session in a with statement."""
        self._session.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """End the session behind."""
        self._session.__exit__(*exc_info)
