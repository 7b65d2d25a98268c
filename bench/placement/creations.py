"""Clients of the API server that create pods: at a rate, or as fast as they are answered."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Lock
from typing import Final

CLIENTS: Final = 8
"""Each has a connection of its own, and creates one pod after the other."""

type Create = Callable[[], object]
"""Creates one pod, and returns when the API server has answered."""


def paced(create: Create, number: int, rate: float) -> Sequence[float]:
    """Create pods at a rate, whatever they take; the seconds of each, from when it was due.

    So one that waits for a client has this time on its account.
    """
    began = time.monotonic() + 0.05

    def make(turn: int) -> float:
        due = began + turn / rate
        time.sleep(max(0.0, due - time.monotonic()))  # noqa: TID251 - a real cluster's time
        create()
        return time.monotonic() - due

    return _share(make, number)


def pressed(create: Create, number: int) -> tuple[float, Sequence[float]]:
    """Create pods as fast as the clients can; the seconds of all together, and of each."""

    def make(_: int) -> float:
        began = time.monotonic()
        create()
        return time.monotonic() - began

    began = time.monotonic()
    each = _share(make, number)
    return time.monotonic() - began, each


def _share(make: Callable[[int], float], number: int) -> Sequence[float]:
    """What each turn took; every client takes the next as soon as it is done with one."""
    turns, lock = count(), Lock()

    def work(_: int) -> list[float]:
        took: list[float] = []
        while True:
            with lock:
                turn = next(turns)
            if turn >= number:
                return took
            took.append(make(turn))

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [seconds for share in pool.map(work, range(CLIENTS)) for seconds in share]
