"""Reads of one's own among all that a session carries out: what each is about."""

from collections.abc import Collection

from evenkeel.model.request import Request
from evenkeel.ports import Reply, Session


class Reads[K]:
    """Reads to one end that have no reply yet, each with what it is about."""

    def __init__(self, session: Session) -> None:
        """Nothing is asked yet."""
        self._session = session
        self._open: dict[int, tuple[K, Request]] = {}  # by the request's id, which it keeps

    def __len__(self) -> int:
        """How many have no reply yet."""
        return len(self._open)

    @property
    def subjects(self) -> Collection[K]:
        """What those are about that have no reply yet."""
        return [subject for subject, _ in self._open.values()]

    def room(self, share: int) -> int:
        """How many more may be sent at a time: such a share of what the session carries out."""
        return max(0, max(1, self._session.capacity // share) - len(self))

    def send(self, subject: K, request: Request) -> None:
        """Send a read that is about a subject."""
        self._open[id(request)] = subject, request
        self._session.submit(request)

    def answered(self, reply: Reply) -> K | None:
        """What a reply is about; None if it is to somebody else's request."""
        read = self._open.pop(id(reply.request), None)
        return None if read is None else read[0]
