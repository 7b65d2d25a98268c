"""Calls functions in forks of this process."""

import os
import pickle
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Never

CORES = os.process_cpu_count() or 1

BROKEN = 9
"""How a fork exits whose function raised."""


def called_in_forks[K, T](
    calls: Iterable[tuple[K, Callable[[], T]]],
) -> Iterator[tuple[K, T | None]]:
    """Call each function in a fork, and answer its key with what it returns.

    As many forks are there at a time as cores. A call is taken from the iterable when it begins.
    None: the fork was ended before it returned. Raises RuntimeError if a function raised.
    """
    with TemporaryDirectory() as folder:
        under_way: dict[int, tuple[K, Path]] = {}

        def wait() -> tuple[K, T | None]:
            child, status = os.wait()
            key, result = under_way.pop(child)
            if os.waitstatus_to_exitcode(status) == BROKEN:
                raise RuntimeError(f"{key} could not be tried")
            return key, pickle.loads(result.read_bytes()) if result.exists() else None  # noqa: S301

        for number, (key, call) in enumerate(calls):
            result = Path(folder) / str(number)
            child = os.fork()
            if not child:
                _end(call, result)
            under_way[child] = key, result
            if len(under_way) == CORES:
                yield wait()
        while under_way:
            yield wait()


def _end[T](call: Callable[[], T], result: Path) -> Never:
    status = BROKEN
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        answer = pickle.dumps(call())
        result.write_bytes(answer)
        status = 0
    except BaseException:  # noqa: BLE001 - no fork may get out of here
        traceback.print_exc()
    finally:
        os._exit(status)
