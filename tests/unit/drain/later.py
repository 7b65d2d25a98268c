"""A background that keeps others waiting."""

from collections.abc import Callable
from concurrent.futures import Future


class Later:
    """A background whose work is done when a test says so; ``asked`` counts it."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], None]] = []
        self.asked = 0

    def start[T](self, work: Callable[[], T]) -> Future[T]:
        self.asked += 1
        future = Future[T]()
        self._waiting.append(lambda: future.set_result(work()))
        return future

    def finish(self) -> None:
        for done in self._waiting:
            done()
        self._waiting = []
