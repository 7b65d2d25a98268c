"""The message that led to an invocation, hidden from others as long as it works."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from typing import Final

from evenkeel.errors import QueueError
from evenkeel.ports import Clock, Recorder, Session

type Hide = Callable[[timedelta], None]
"""Makes the wake-up that led to an invocation visible again after so long. Raises QueueError."""

HIDDEN: Final = timedelta(seconds=20)
"""How long a heartbeat hides the wake-up: a little longer than the Lease is held."""

SLOW: Final = timedelta(seconds=1)
"""SQS is slow if it took longer than this to hide the wake-up."""


class WakeUp:
    """Hides the message with each heartbeat. SQS's answer is not waited for."""

    def __init__(self, hide: Hide | None, clock: Clock, recorder: Recorder) -> None:
        """``hide`` None: no message led to this invocation."""
        self._hide = hide
        self._clock = clock
        self._recorder = recorder
        self._hiding: Future[None] | None = None
        self.is_sqs_slow = False
        """Whether SQS took long the last time."""

    @property
    def is_hiding(self) -> bool:
        """Whether SQS is being asked to hide it; meanwhile it is not given back."""
        return self._hiding is not None and not self._hiding.done()

    def keep_hidden(self, session: Session) -> None:
        """Hide it for some seconds more, unless it is being hidden."""
        hide = self._hide
        if hide is not None and not self.is_hiding:
            self._hiding = session.start(lambda: self._ask(hide))

    def _ask(self, hide: Hide) -> None:
        began = self._clock.now()
        try:
            hide(HIDDEN)
        except QueueError as error:
            self._hide = None
            self._recorder.noted(f"the wake-up is not hidden any longer: {error}")
        self.is_sqs_slow = self._clock.now() - began > SLOW
