"""Questions that are asked beside the loop, for it cannot wait for their answers."""

from collections.abc import Callable
from concurrent.futures import Future

from evenkeel.ports import Background


class AtOnce:
    """ports.Background for whoever can wait: all work is done when it is asked for."""

    def start[T](self, work: Callable[[], T]) -> Future[T]:
        """Carry out work."""
        future = Future[T]()
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001 - raised again by whoever asks for it
            future.set_exception(error)
        return future


class Question[T]:
    """A question that is asked now and then, never twice at a time."""

    def __init__(self) -> None:
        """Nothing is asked yet."""
        self._future: Future[T] | None = None

    def ask(self, background: Background, work: Callable[[], T]) -> None:
        """Ask it. Only while it is not open."""
        self._future = background.start(work)

    @property
    def is_open(self) -> bool:
        """Whether it was asked and its answer is not taken yet."""
        return self._future is not None

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer to take."""
        return self._future is not None and self._future.done()

    def answer(self) -> Future[T] | None:
        """The answer, once; it may be an error. None while there is none."""
        future = self._future
        if future is None or not future.done():
            return None
        self._future = None
        return future
