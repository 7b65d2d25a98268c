"""A background that keeps others waiting."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime, timedelta

from evenkeel.flows.drain.sync.questions import AtOnce, Questions
from evenkeel.ports import Background, Done, fulfil


class Later:
    """A background whose work is done when a test says so; ``asked`` counts it."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], Done]] = []
        self.asked = 0

    def start[T](
        self, work: Callable[[], T], then: Callable[[Future[T]], None] | None = None
    ) -> Future[T]:
        self.asked += 1
        future = Future[T]()
        self._waiting.append(lambda: fulfil(future, work, then))
        return future

    def finish(self) -> None:
        for done in self._waiting:
            done().then()
        self._waiting = []


class Then:
    """A clock that shows when an answer comes."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def sleep(self, duration: timedelta) -> None:
        raise NotImplementedError(f"nothing sleeps here for {duration}")

    def boot(self) -> timedelta:
        raise NotImplementedError


def questions(answered_at: datetime, background: Background | None = None) -> Questions:
    """An invocation's questions; their answers come then, at once without a background."""
    return Questions(background or AtOnce(), Then(answered_at), lambda: None)
