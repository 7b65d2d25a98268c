"""A clock that its caller moves, and the order in which things happen on it.

Two kinds of work live on it. A *callback* is called at its time by the thread that moves the clock;
it may move the clock on itself, and then what it interrupted goes on later than it wished. A
*process* is for work that waits often and beside other work, such as a Lambda handler: when it
waits, everything else goes on, and it wakes at its own time. Each process is a greenlet: it has a
stack of its own and is left only at its waits, so a run is as deterministic as one of callbacks
alone. Threads that hand on to each other took as long as everything else together.
"""

import contextlib
import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from greenlet import getcurrent, greenlet

NOTHING = timedelta()


class Killed(BaseException):
    """Ends a process at the wait in which it was killed. Not for catching."""


class Timer:
    """A callback that waits for its time."""

    __slots__ = ("_callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """See to it that the callback is not called any more."""
        self._callback = None

    def fire(self) -> None:
        """Call the callback, once at most."""
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class Signal:
    """Something that a wait can wait for: set until it is cleared."""

    __slots__ = ("_is_set", "_wakers")

    def __init__(self) -> None:
        self._is_set = False
        self._wakers: list[Callable[[], None]] = []

    @property
    def is_set(self) -> bool:
        """Whether a wait for it would return at once."""
        return self._is_set

    def set(self) -> None:
        """End every wait for it."""
        self._is_set = True
        wakers, self._wakers = self._wakers, []
        for wake in wakers:
            wake()

    def clear(self) -> None:
        """Let the next wait wait."""
        self._is_set = False

    def on_set(self, wake: Callable[[], None]) -> None:
        """Call ``wake`` at the next ``set``."""
        self._wakers.append(wake)

    def forget(self, wake: Callable[[], None]) -> None:
        """Do not call ``wake`` after all."""
        if wake in self._wakers:
            self._wakers.remove(wake)


class Process:
    """Work that waits on the clock beside other work. Made by ``SimulatedClock.start``.

    It may have parts, as a program has threads: they are killed and suspended with it.
    """

    def __init__(
        self, clock: "SimulatedClock", body: Callable[[], None], part_of: "Process | None"
    ) -> None:
        self._clock = clock
        self._body = body
        self._parts: list[Process] = []
        self._suspended_until = clock.now()
        self.whole: Process = self if part_of is None else part_of.whole
        if part_of is not None:
            self.whole._parts.append(self)  # noqa: SLF001 - another one of these
        self._stack: greenlet | None = None
        self._waits = 0
        self._error: BaseException | None = None
        self._killed = False
        self._ended = False

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return not self._ended

    @property
    def killed(self) -> bool:
        """Whether it was told to end."""
        return self._killed

    def kill(self) -> None:
        """End it where it waits, as SIGKILL would: nothing it meant to do is done any more."""
        if not self.alive or self._killed:
            return
        self._killed = True
        for part in self._parts:
            part.kill()
        if self._stack is None:
            self._end()
        elif self._clock.running is not self:
            self.resume()

    def suspend(self, duration: timedelta) -> None:
        """Let it do nothing for so long, as SIGSTOP and then SIGCONT would.

        It goes on where it waits; what it asked for meanwhile is there by then.
        """
        self._suspended_until = self._clock.now() + duration
        for part in self._parts:
            part.suspend(duration)

    def resume(self) -> None:
        """Let it run until it waits again or ends; raises what it raised."""
        if not self.alive:
            return
        if self._stack is None:
            self._stack = greenlet(self._run)
        self._stack.parent = getcurrent()
        before, self._clock.running = self._clock.running, self
        self._stack.switch()
        self._clock.running = before
        error, self._error = self._error, None
        if error is not None:
            raise error

    def wait(self, signal: Signal | None, deadline: datetime) -> None:
        """Rest, seen from inside, until the signal is set or the deadline has come."""
        self._waits += 1
        mine = self._waits

        def wake() -> None:
            if self._waits != mine:
                return
            if self._clock.now() < self._suspended_until:
                self._clock.call_at(self._suspended_until, wake)
            else:
                self.resume()

        def wake_soon() -> None:
            self._clock.call_in(NOTHING, wake)

        timer = self._clock.call_at(deadline, wake)
        if signal is not None:
            signal.on_set(wake_soon)
        self._hand_over()
        self._waits += 1
        timer.cancel()
        if signal is not None:
            signal.forget(wake_soon)
        if self._killed:
            raise Killed

    def _hand_over(self) -> None:
        resumed_by = getcurrent().parent
        if not self._killed and resumed_by is not None:
            resumed_by.switch()

    def _run(self) -> None:
        try:
            with contextlib.suppress(Killed):
                self._body()
        except BaseException as error:  # noqa: BLE001 - raised again where the clock is moved
            self._error = error
        finally:
            self._end()

    def _end(self) -> None:
        self._ended = True
        self._clock.processes.discard(self)


class SimulatedClock:
    """Implements the port Clock; time passes when someone calls advance, sleep or wait.

    What is due at the same time happens in the order in which it was scheduled.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        """Begin at ``start``, which has to be aware."""
        if start.tzinfo is None:
            raise ValueError("the start of a clock needs a time zone, such as tzinfo=UTC")
        self._now = self._began = start.astimezone(UTC)
        self._due: list[tuple[datetime, int, Timer]] = []
        self._scheduled = 0
        self.running: Process | None = None
        self.processes: set[Process] = set()

    def now(self) -> datetime:
        """The simulated time, aware, in UTC."""
        return self._now

    def call_at(self, when: datetime, callback: Callable[[], None]) -> Timer:
        """Call back at this time, or as soon as time moves if it has passed already."""
        timer = Timer(callback)
        self._scheduled += 1
        heapq.heappush(self._due, (when, self._scheduled, timer))
        return timer

    def call_in(self, delay: timedelta, callback: Callable[[], None]) -> Timer:
        """Call back after this much time."""
        return self.call_at(self._now + delay, callback)

    def start(self, body: Callable[[], None], part_of: Process | None = None) -> Process:
        """Start work that may wait while other work goes on; it begins when time next moves.

        What it raises comes out of the call that moves the clock. ``part_of``: what it is a
        thread of.
        """
        process = Process(self, body, part_of)
        self.processes.add(process)
        self.call_in(NOTHING, process.resume)
        return process

    def raise_if_killed(self) -> None:
        """Raise Killed in a process that was killed: it can start nothing any more."""
        if self.running is not None and self.running.killed:
            raise Killed

    def stop(self) -> None:
        """Kill every process: one that never wakes would never end what it began."""
        for process in list(self.processes):
            process.kill()

    def sleep(self, duration: timedelta) -> None:
        """Let this much time pass, and all that is due in it happen."""
        self.advance(duration)

    def boot(self) -> timedelta:
        """The time since the clock began."""
        return self._now - self._began

    def advance(self, duration: timedelta) -> None:
        """Let this much time pass, and all that is due in it happen."""
        self._wait(None, self._now + duration)

    def skip(self, duration: timedelta) -> None:
        """Let so much time be over without anything of it: what was due in it comes late, once."""
        self._now += duration

    def wait(self, signal: Signal, timeout: timedelta) -> bool:
        """Let time pass until the signal is set, at most ``timeout``; whether it was set."""
        if not signal.is_set:
            self._wait(signal, self._now + timeout)
        return signal.is_set

    def _wait(self, signal: Signal | None, deadline: datetime) -> None:
        if self.running is not None:
            self.running.wait(signal, deadline)
            return
        due = self._due
        while due and due[0][0] <= deadline:
            if signal is not None and signal.is_set:
                return
            when, _, timer = heapq.heappop(due)
            self._now = max(self._now, when)
            timer.fire()
        if signal is None or not signal.is_set:
            self._now = max(self._now, deadline)
