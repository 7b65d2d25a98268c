"""A background that keeps others waiting."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime

from evenkeel.flows.drain.sync.questions import AtOnce, Questions
from evenkeel.ports import Background, Done, OnDone, fulfil
from tests.kit.api_server import HandClock


class Later:
    """A background whose work is done when a test says so; ``asked`` counts it."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], Done]] = []
        self.asked = 0

    def start[T](self, work: Callable[[], T], then: OnDone[T] | None = None) -> Future[T]:
        self.asked += 1
        future = Future[T]()
        self._waiting.append(lambda: fulfil(future, work, then))
        return future

    def finish(self) -> None:
        for done in self._waiting:
            done().then()
        self._waiting = []


def questions(answered_at: datetime, background: Background | None = None) -> Questions:
    """An invocation's questions; their answers come then, at once without a background."""
    clock = HandClock()
    clock.advance(answered_at - clock.now())
    return Questions(background or AtOnce(), clock, lambda: None)
