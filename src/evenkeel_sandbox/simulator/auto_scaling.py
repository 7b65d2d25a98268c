"""The simulated EC2 Auto Scaling: terminations that wait for a lifecycle hook."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from evenkeel.errors import LifecycleError, NoLifecycleActionError
from evenkeel.model.hook import HookTimes, Termination
from evenkeel_sandbox.simulator.clock import SimulatedClock


@dataclass(slots=True)
class _Waiting:
    times: HookTimes
    began: datetime
    heard: datetime

    @property
    def until(self) -> datetime:
        return min(self.heard + self.times.heartbeat, self.began + self.times.longest)


class SimulatedAutoScaling:
    """Implements the port LifecycleActions for the hooks and terminations that it was told of.

    ``calls`` holds what was called, and when.
    """

    def __init__(self, clock: SimulatedClock, on_end: Callable[[str], None]) -> None:
        """``on_end`` is called with the id of an instance for which nothing is waited any more."""
        self._clock = clock
        self._on_end = on_end
        self._hooks: dict[tuple[str, str], HookTimes] = {}
        self._waiting: dict[tuple[str, str, str, str], _Waiting] = {}
        self._outage: LifecycleError | None = None
        self._wait = timedelta()
        self.calls: list[tuple[datetime, str]] = []

    def put_hook(self, group: str, name: str, times: HookTimes) -> None:
        """Let terminations of a group wait for a hook."""
        self._hooks[group, name] = times

    def delete_hook(self, group: str, name: str) -> None:
        """Let them wait no more."""
        del self._hooks[group, name]

    def begin(self, termination: Termination) -> None:
        """Begin to terminate an instance, and wait for its hook."""
        hook, now = termination.hook, self._clock.now()
        waiting = _Waiting(self._hooks[hook.group, hook.name], now, now)
        self._waiting[_key(termination)] = waiting
        self._clock.call_at(waiting.until, partial(self._look, termination))

    def fail(self, error: LifecycleError | None) -> None:
        """Answer every call with this error, until called with None."""
        self._outage = error

    def answer_after(self, delay: timedelta) -> None:
        """Let every call take so long from now on."""
        self._wait = delay

    def forget(self) -> None:
        """Wait for nothing any more, and leave the instances as they are."""
        self._waiting = {}

    def times(self, group: str, name: str) -> HookTimes | None:
        """How long a group waits for a hook; None if it has none of this name. LifecycleError."""
        self._called("times")
        return self._hooks.get((group, name))

    def record_heartbeat(self, termination: Termination) -> None:
        """Let the group wait on. Raises LifecycleError."""
        self._called("heartbeat")
        self._found(termination).heard = self._clock.now()

    def complete(self, termination: Termination) -> None:
        """Let the group go on. Raises LifecycleError."""
        self._called("complete")
        self._found(termination)
        self._end(termination)

    def _called(self, name: str) -> None:
        self.calls.append((self._clock.now(), name))
        if self._wait:
            self._clock.sleep(self._wait)
        if self._outage is not None:
            raise self._outage

    def _found(self, termination: Termination) -> _Waiting:
        waiting = self._waiting.get(_key(termination))
        if waiting is None:
            token = termination.hook.token
            raise NoLifecycleActionError(f"No active Lifecycle Action found with token {token}")
        return waiting

    def _look(self, termination: Termination) -> None:
        """End the wait where no heartbeat came in time."""
        waiting = self._waiting.get(_key(termination))
        if waiting is None:
            return
        if waiting.until <= self._clock.now():
            self._end(termination)
        else:
            self._clock.call_at(waiting.until, partial(self._look, termination))

    def _end(self, termination: Termination) -> None:
        del self._waiting[_key(termination)]
        self._on_end(termination.instance_id)


class AssumedAutoScaling:
    """Implements the port LifecycleActions where AWS is not at hand: every hook is there.

    Nothing is asked, and nobody is told.
    """

    TIMES = HookTimes(timedelta(minutes=5), timedelta(minutes=20))

    def times(self, group: str, name: str) -> HookTimes | None:
        """The same times for any hook."""
        del group, name
        return self.TIMES

    def record_heartbeat(self, termination: Termination) -> None:
        """Do nothing."""

    def complete(self, termination: Termination) -> None:
        """Do nothing."""


def _key(termination: Termination) -> tuple[str, str, str, str]:
    hook = termination.hook
    return hook.group, hook.name, hook.token, termination.instance_id
