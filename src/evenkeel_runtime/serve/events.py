"""Kubernetes Events of the webhook, created beside its answers: nobody waits for them."""

from threading import Event, Thread
from typing import Final, Self

from evenkeel.adapters.telemetry.cluster_events import OfDecisions
from evenkeel.model.decision import Decision
from evenkeel.ports import Recorder

EVERY: Final = 0.2
"""Seconds after which what many threads decided is told, each object's by one Event."""


class EventsBeside(OfDecisions):
    """A Recorder whose Events a thread of its own creates. Any thread may use it."""

    def __init__(self, events: Recorder) -> None:
        """``events`` creates them, when it is flushed."""
        self._events = events
        self._ended = Event()
        self._thread = Thread(target=self._work, name="evenkeel-events", daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Create what is left."""
        self._ended.set()
        self._thread.join()

    def decided(self, decision: Decision) -> None:
        """Remember a decision."""
        self._events.decided(decision)

    def flush(self) -> None:
        """Nothing: the thread does."""

    def _work(self) -> None:
        while not self._ended.wait(EVERY):
            self._events.flush()
        self._events.flush()
