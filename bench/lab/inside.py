"""The CPU time that is spent inside Evenkeel's functions, and not in what they act on.

On simulated time all is one thread: a handler, and the cluster whenever the handler asks it for
anything or waits. So the time is taken while a handler runs, and stops in every call of a port.
"""

import dataclasses
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self
from unittest.mock import patch

from bench.lab.sharing import sharing
from evenkeel.handlers import Handler
from evenkeel.ports import Ports
from evenkeel.settings.handover import PODS_EACH
from evenkeel_hosting import functions


class Stopwatch:
    """The seconds of CPU so far. ``invocation`` says which one runs."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self.invocation: Callable[[], object] = lambda: None
        self._taken = defaultdict[object, float](float)
        self._counts_for: tuple[object] | None = None
        self._since = 0.0

    @property
    def seconds(self) -> float:
        """What all invocations took."""
        return sum(self._taken.values())

    @property
    def longest(self) -> float:
        """What the one took that took the most."""
        return max(self._taken.values())

    @contextmanager
    def running(self, *, inside: bool) -> Iterator[None]:
        """Let it run, or stand still, as long as the with statement lasts; then as before."""
        before = self._counts_for
        self._turn((self.invocation(),) if inside else None)
        try:
            yield
        finally:
            self._turn(before)

    def _turn(self, counts_for: tuple[object] | None) -> None:
        now = time.process_time()
        if self._counts_for is not None:
            self._taken[self._counts_for] += now - self._since
        self._counts_for, self._since = counts_for, now


@contextmanager
def watched(pods_each: int = PODS_EACH) -> Iterator[Stopwatch]:
    """Count the CPU of all functions that are made within the with statement.

    They share a storm of more than ``pods_each`` pods.
    """
    stopwatch = Stopwatch()
    with ExitStack() as stack:
        handover = sharing(functions.handover, pods_each)
        for name, build in (("interruption", functions.interruption), ("handover", handover)):
            stack.enter_context(patch.object(functions, name, _counting(build, stopwatch)))
        yield stopwatch


def _counting(build: Callable[..., Handler], stopwatch: Stopwatch) -> Callable[..., Handler]:
    """Makes a function whose handler is counted, and not the ports that it acts on."""

    def made(settings: Any, ports: Ports, *queues: Any) -> Handler:
        clock: Any = ports.clock
        stopwatch.invocation = lambda: clock.running and clock.running.whole
        fields = {each.name: getattr(ports, each.name) for each in dataclasses.fields(ports)}
        outside = Ports(**{n: port and Outside(port, stopwatch) for n, port in fields.items()})
        handler = build(settings, outside, *(Outside(each, stopwatch) for each in queues))
        return counted(handler, stopwatch)

    return made


class Outside:
    """A port that is not counted: each call of its methods stops the watch.

    A callback that such a call is given is counted again, and a session that it opens is a port
    like it.
    """

    def __init__(self, port: Any, stopwatch: Stopwatch) -> None:
        """Stand before a port."""
        self._port = port
        self._stopwatch = stopwatch

    def __getattr__(self, name: str) -> Any:
        """A method of the port, or a value that it has."""
        found = getattr(self._port, name)
        if not callable(found):
            return found

        def call(*arguments: Any, **options: Any) -> Any:
            with self._stopwatch.running(inside=False):
                answer = found(
                    *(self._counted(each) for each in arguments),
                    **{key: self._counted(each) for key, each in options.items()},
                )
            return Outside(answer, self._stopwatch) if name == "session" else answer

        return call

    def __enter__(self) -> Self:
        """Open it, as the port is opened."""
        with self._stopwatch.running(inside=False):
            self._port.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close it."""
        with self._stopwatch.running(inside=False):
            self._port.__exit__(*exc_info)

    def _counted(self, argument: Any) -> Any:
        """What the port may call: Evenkeel's own code, which is counted wherever it is called."""
        is_function = callable(argument) and not isinstance(argument, type)
        return counted(argument, self._stopwatch) if is_function else argument


def counted[**P, T](function: Callable[P, T], stopwatch: Stopwatch) -> Callable[P, T]:
    """A function of Evenkeel, counted while it runs."""

    def call(*arguments: P.args, **options: P.kwargs) -> T:
        with stopwatch.running(inside=True):
            return function(*arguments, **options)

    return call
