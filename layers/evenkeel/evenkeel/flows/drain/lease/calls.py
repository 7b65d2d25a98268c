"""Has other reconcilers come to share a storm."""

from collections.abc import Callable
from datetime import datetime, timedelta

from evenkeel.errors import QueueError
from evenkeel.ports import Recorder, Session

type Call = Callable[[int], None]
"""Has others begin, so many at most; one at least, who calls the others. Raises QueueError."""

CALL_AGAIN_AFTER = timedelta(seconds=15)
"""How often others are called that have not come to share a storm."""


class Calls:
    """Has others come for the shares that nobody has, again after a while if none comes."""

    def __init__(self, call: Call | None, recorder: Recorder) -> None:
        """``call`` None: nobody else would come."""
        self._call = call
        self._recorder = recorder
        self._at: datetime | None = None

    @property
    def are_heard(self) -> bool:
        """Whether somebody would come."""
        return self._call is not None

    def at_once(self) -> None:
        """The next call does not wait."""
        self._at = None

    def make(self, number: int, session: Session, now: datetime) -> None:
        """Call so many, if it is time; the queue's answer is not waited for."""
        call = self._call
        if number and call is not None and (self._at is None or now >= self._at):
            self._at = now + CALL_AGAIN_AFTER
            session.start(lambda: self._make(number, call))

    def _make(self, number: int, call: Call) -> None:
        try:
            call(number)
        except QueueError as error:
            self._recorder.noted(f"others are not called to share a storm: {error}")
