"""An event source mapping and a schedule on the wall clock, in threads.

As under Lambda every invocation at a time has an environment, so a handler, of its own.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from threading import Event, Thread
from typing import Any, Final

from evenkeel.errors import QueueError
from evenkeel.handlers import Handler
from evenkeel.ports import Clock
from evenkeel.settings import HANDOVER_TIMEOUT
from evenkeel_hosting.events import failed, schedule_event
from evenkeel_runtime.poll.sources import RecordDocument, Source

AFTER_A_FAILURE: Final = timedelta(seconds=1)
MILLISECOND: Final = timedelta(milliseconds=1)

type Note = Callable[[str], None]


class Invocation:
    """Lambda's context object: how long an invocation may still take, which is told to end."""

    def __init__(self, stopping: Event) -> None:
        """From when ``stopping`` is set no time is left."""
        self._stopping = stopping

    def get_remaining_time_in_millis(self) -> int:
        """The functions bound their work themselves; only the end of this process cuts it."""
        return 0 if self._stopping.is_set() else round(HANDOVER_TIMEOUT / MILLISECOND)


class EventSource:
    """Lambda's event source mapping for a queue, with partial batch responses.

    Batches of at most ten without a window, as many at once as there are handlers. What a
    handler does not report as failed is deleted; what it does, or all if it raises, comes
    back when the queue's visibility timeout has passed.
    """

    def __init__(self, source: Source, handlers: Sequence[Handler], note: Note) -> None:
        """Nothing is received yet. ``note`` is told of what goes wrong, in one line."""
        self._source = source
        self._note = note
        self._stopping = Event()
        self._threads = [
            Thread(target=self._poll, args=(handler,), name=f"{source.name}-{number}", daemon=True)
            for number, handler in enumerate(handlers, start=1)
        ]

    def start(self) -> None:
        """Begin to poll."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Begin no other batch, and leave no time to those under way."""
        self._stopping.set()

    def join(self, timeout: timedelta) -> bool:
        """Wait for the batches under way; whether they ended in time."""
        return _join(self._threads, timeout)

    @property
    def is_alive(self) -> bool:
        """Whether all its threads poll."""
        return all(thread.is_alive() for thread in self._threads)

    def _poll(self, handler: Handler) -> None:
        while not self._stopping.is_set():
            try:
                records = self._source.receive()
                if not records:
                    continue
                if self._stopping.is_set():
                    self._source.give_back(records)
                    return
                self._source.delete(self._invoke(handler, records))
            except QueueError as error:
                self._note(f"{self._source.name}: {error}")
                self._stopping.wait(AFTER_A_FAILURE.total_seconds())

    def _invoke(
        self, handler: Handler, records: Sequence[RecordDocument]
    ) -> Collection[RecordDocument]:
        """Hand a batch to the function; the records that are done."""
        try:
            answer = handler({"Records": list(records)}, Invocation(self._stopping))
        except Exception as error:  # noqa: BLE001 - Lambda takes whatever is raised
            self._note(f"{self._source.name}: {type(error).__name__}: {error}")
            return ()
        return done(records, answer)


class Schedule:
    """Invokes a handler once a minute; the first time at once, for whatever was left behind."""

    def __init__(
        self,
        name: str,
        handler: Handler,
        clock: Clock,
        note: Note,
        every: timedelta = timedelta(minutes=1),
    ) -> None:
        """Nothing is invoked yet. ``name`` is the function's, for notes."""
        self._name = name
        self._handler = handler
        self._clock = clock
        self._note = note
        self._every = every
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=f"{name}-schedule", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Invoke no more, and leave no time to an invocation under way."""
        self._stopping.set()

    def join(self, timeout: timedelta) -> bool:
        """Wait for an invocation under way; whether it ended in time."""
        return _join([self._thread], timeout)

    @property
    def is_alive(self) -> bool:
        """Whether it goes on."""
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping.is_set():
            began = self._clock.now()
            try:
                self._handler(schedule_event(began), Invocation(self._stopping))
            except Exception as error:  # noqa: BLE001 - Lambda takes whatever is raised
                self._note(f"schedule of {self._name}: {type(error).__name__}: {error}")
            rest = self._every - (self._clock.now() - began)
            self._stopping.wait(max(0.0, rest.total_seconds()))


def done(
    records: Sequence[RecordDocument], answer: Mapping[str, Any]
) -> Collection[RecordDocument]:
    """The records of a batch that a function's answer lets its queue delete."""
    kept = failed([record["messageId"] for record in records], answer)
    return [record for record in records if record["messageId"] not in kept]


def _join(threads: Sequence[Thread], timeout: timedelta) -> bool:
    for thread in threads:
        if thread.ident is not None:
            thread.join(timeout.total_seconds())
    return not any(thread.is_alive() for thread in threads)
