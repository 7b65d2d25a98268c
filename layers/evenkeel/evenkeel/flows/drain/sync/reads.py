"""Reads beside the loop, a few at a time."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice

from evenkeel.model.request import Request
from evenkeel.ports import Reply, Session


class Reads[K]:
    """Reads to one end that have no reply yet, by what each is about."""

    def __init__(self, session: Session, then: Callable[[K, Reply], None]) -> None:
        """``then`` takes a subject and the reply to the read about it."""
        self._session = session
        self._then = then
        self._open: set[K] = set()

    def __bool__(self) -> bool:
        """Whether one has no reply yet."""
        return bool(self._open)

    def some(self, subjects: Iterable[K], share: int) -> Sequence[K]:
        """The first of these subjects, as many as may be read now.

        None that is being read, and no more at a time than such a share of what the session carries
        out at once: what has to be written must not wait behind what is read.
        """
        room = max(1, self._session.capacity // share) - len(self._open)
        wanted = (each for each in subjects if each not in self._open)
        return list(islice(wanted, max(0, room)))

    def send(self, subject: K, request: Request) -> None:
        """Send a read that is about a subject."""
        self._open.add(subject)
        self._session.submit(request, partial(self._answered, subject))

    def _answered(self, subject: K, reply: Reply) -> None:
        self._open.discard(subject)
        self._then(subject, reply)
