"""Questions that are asked beside the loop, for it cannot wait for their answers."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime, timedelta

from evenkeel.ports import Background, fulfil

GOOD_FOR = timedelta(seconds=30)
"""An answer is of use if the question was asked no longer ago than this."""


class AtOnce:
    """ports.Background for a caller that waits: work is done when it is started."""

    def start[T](self, work: Callable[[], T]) -> Future[T]:
        """Carry out work."""
        future = Future[T]()
        fulfil(future, work)
        return future


class Question[T]:
    """A question that is asked now and then, never twice at a time."""

    def __init__(self) -> None:
        self._asked: tuple[Future[T], datetime] | None = None

    def ask(self, background: Background, work: Callable[[], T], now: datetime) -> None:
        """Ask it. Only while it is not open."""
        self._asked = background.start(work), now

    @property
    def is_open(self) -> bool:
        """Whether it was asked and its answer is not taken yet."""
        return self._asked is not None

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer to take."""
        return self._asked is not None and self._asked[0].done()

    def answer(self, now: datetime) -> Future[T] | None:
        """The answer, once; it may be an error. None while there is none.

        Nor is one that took so long that it tells of the past: an invocation may end while
        something is asked, and the next one come an hour later.
        """
        asked = self._asked
        if asked is None or not asked[0].done():
            return None
        self._asked = None
        future, asked_at = asked
        return future if now - asked_at <= GOOD_FOR else None
