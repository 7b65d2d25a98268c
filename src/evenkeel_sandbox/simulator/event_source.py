"""What invokes Lambda functions: an SQS event source mapping and a schedule, on the clock.

Each invocation is a process of the clock, so a handler may wait while others run beside it.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from evenkeel.handlers import Handler
from evenkeel_hosting.events import (
    ACCOUNT,
    POLLERS,
    REGION,
    Message,
    batch_event,
    failed,
    schedule_event,
)
from evenkeel_sandbox.simulator.clock import Process, SimulatedClock
from evenkeel_sandbox.simulator.queues import SimulatedQueue

FUNCTION_TIMEOUT: Final = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Context:
    """Lambda's context object, as far as handlers use it."""

    clock: SimulatedClock
    deadline: datetime
    aws_request_id: str
    function_name: str = "simulated"
    memory_limit_in_mb: int = 1769
    invoked_function_arn: str = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:simulated"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the function is stopped."""
        return max(0, round((self.deadline - self.clock.now()) / timedelta(milliseconds=1)))


class _Invoker:
    """What invokes one function: each invocation a process, stopped when it takes too long."""

    def __init__(self, clock: SimulatedClock, handler: Handler, timeout: timedelta) -> None:
        self.errors: list[Exception] = []
        """What the handler raised so far."""
        self._running: list[Process] = []
        self._clock = clock
        self._handler = handler
        self._timeout = timeout
        self._numbers = itertools.count(1)

    @property
    def running(self) -> Sequence[Process]:
        """The invocations under way; killing one is what a crash looks like from outside."""
        self._running = [process for process in self._running if process.alive]
        return self._running

    def _start(self, event: dict[str, Any], done: Callable[[dict[str, Any] | None], None]) -> None:
        """Invoke the function; ``done`` gets its answer, or None if it raised or was stopped."""
        context = Context(
            self._clock, self._clock.now() + self._timeout, f"invocation-{next(self._numbers)}"
        )

        def body() -> None:
            answer = None
            try:
                answer = self._handler(event, context)
            except Exception as error:  # noqa: BLE001 - Lambda takes whatever is raised
                self.errors.append(error)
            finally:
                self._clock.call_in(timedelta(), lambda: done(answer))

        process = self._clock.start(body)
        self._running = [*self.running, process]
        self._clock.call_at(context.deadline, process.kill)


class SimulatedEventSource(_Invoker):
    """Lambda's event source mapping for an SQS standard queue, with partial batch responses.

    Batches of at most 10 without a window, ``concurrency`` of them at once. What a handler
    does not report as failed is deleted; what it does, or all if it raises or takes longer
    than ``timeout`` (None: the queue's visibility timeout, which is never less), comes back when
    that visibility timeout has passed.
    """

    def __init__(
        self,
        clock: SimulatedClock,
        queue: SimulatedQueue,
        handler: Handler,
        *,
        concurrency: int = POLLERS,
        timeout: timedelta | None = None,
    ) -> None:
        """Begin to poll."""
        super().__init__(clock, handler, timeout or queue.visibility)
        self._queue = queue
        self._concurrency = concurrency
        self.batches: list[int] = []
        queue.on_visible(self._poll)
        clock.call_in(timedelta(), self._poll)

    def _poll(self) -> None:
        while len(self.running) < self._concurrency:
            batch = [replace(message) for message in self._queue.receive()]
            if not batch:
                return
            self.batches.append(len(batch))

            def done(answer: dict[str, Any] | None, batch: Sequence[Message] = batch) -> None:
                self._finish(batch, answer)

            self._start(batch_event(batch, self._queue.name), done)

    def _finish(self, batch: Sequence[Message], answer: dict[str, Any] | None) -> None:
        kept = failed([message.message_id for message in batch], answer)
        for message in batch:
            if message.message_id not in kept:
                self._queue.delete(message.receipt_handle)
        self._poll()


class SimulatedSchedule(_Invoker):
    """EventBridge Scheduler: invokes a function again and again with the same event."""

    def __init__(
        self,
        clock: SimulatedClock,
        handler: Handler,
        *,
        every: timedelta = timedelta(minutes=1),
        timeout: timedelta = FUNCTION_TIMEOUT,
    ) -> None:
        """The first invocation comes after ``every``."""
        super().__init__(clock, handler, timeout)
        self._every = every
        self._stopped = False
        clock.call_in(every, self._invoke)

    def stop(self) -> None:
        """Invoke no more."""
        self._stopped = True

    def _invoke(self) -> None:
        if self._stopped:
            return
        self._clock.call_in(self._every, self._invoke)
        self._start(schedule_event(self._clock.now()), lambda _: None)
