"""Processes beside the test: how they start, and how they end."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

STARTING = 240.0
STOPPING = 15.0


def awaited[T](process: "subprocess.Popen[bytes]", log: Path, probe: Callable[[], T]) -> T:
    """Ask until the probe answers something truthy; fails with the end of the process's log."""
    give_up = time.monotonic() + STARTING
    while not (answer := probe()):
        told = f"it does not start:\n{log.read_text()[-2000:]}"
        assert process.poll() is None, told
        assert time.monotonic() < give_up, told
        time.sleep(0.1)  # noqa: TID251 - another process has its own clock
    return answer


def ended(process: "subprocess.Popen[bytes]") -> None:
    """End it, kindly first."""
    process.terminate()
    try:
        process.wait(STOPPING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
