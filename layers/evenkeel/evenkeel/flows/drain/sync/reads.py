"""Reads beside the loop, a few at a time."""

from collections.abc import Callable, Collection
from functools import partial

from evenkeel.model.request import Request
from evenkeel.ports import Reply, Session


class Reads[K]:
    """Reads to one end that have no reply yet, by what each is about."""

    def __init__(self, session: Session, then: Callable[[K, Reply], None]) -> None:
        """``then`` is what is done with a reply; it is told what that is about."""
        self._session = session
        self._then = then
        self._open: set[K] = set()

    def __len__(self) -> int:
        """How many have no reply yet."""
        return len(self._open)

    @property
    def subjects(self) -> Collection[K]:
        """What those are about that have no reply yet."""
        return self._open

    def room(self, share: int) -> int:
        """How many more may be sent at a time: such a share of what the session carries out."""
        return max(0, max(1, self._session.capacity // share) - len(self))

    def send(self, subject: K, request: Request) -> None:
        """Send a read that is about a subject."""
        self._open.add(subject)
        self._session.submit(request, partial(self._answered, subject))

    def _answered(self, subject: K, reply: Reply) -> None:
        self._open.discard(subject)
        self._then(subject, reply)
