"""Questions that are asked beside the loop, for it cannot wait for their answers."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from evenkeel.ports import Background, Clock, OnDone, fulfil


class AtOnce:
    """ports.Background for a caller that waits: work is done when it is started."""

    def start[T](self, work: Callable[[], T], then: OnDone[T] | None = None) -> Future[T]:
        """Carry out work, and take its result."""
        future = Future[T]()
        fulfil(future, work, then).then()
        return future


@dataclass(eq=False)
class Questions:
    """The questions of one invocation, each asked once at a time.

    An answer that comes after the end of the invocation is not taken: the next one asks again.
    ``then`` is called after each answer was taken.
    """

    _background: Background
    _clock: Clock
    _then: Callable[[], None] | None = None
    _open: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        """Whether one has no answer yet."""
        return bool(self._open)

    def ask[T](
        self, about: str, work: Callable[[], T], take: Callable[[Future[T], datetime], None]
    ) -> None:
        """Ask what ``work`` answers, unless ``about`` this is asked already.

        ``take`` gets the answer, which may be an error, and when it came.
        """
        if about not in self._open:
            self._open.add(about)
            self._background.start(work, partial(self._answered, about, take))

    def is_open(self, about: str) -> bool:
        """Whether a question about this has no answer yet."""
        return about in self._open

    def _answered[T](
        self, about: str, take: Callable[[Future[T], datetime], None], answer: Future[T]
    ) -> None:
        self._open.discard(about)
        take(answer, self._clock.now())
        if self._then is not None:
            self._then()
