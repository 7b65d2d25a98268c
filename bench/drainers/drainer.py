"""What every drainer of the bench can do, and how its process is held."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from bench.drainers.site import Site

ENDING = 15.0


class Drainer(Protocol):
    """Somebody who drains nodes, on one cluster."""

    def prepare(self, site: Site) -> None:
        """Have the nodes there, or made, that the workloads are to start on."""

    def begin(self) -> None:
        """Begin to drain them."""

    def is_done(self) -> bool:
        """Whether it is through with it, as far as it says so itself."""

    def close(self) -> None:
        """Leave no process behind."""


def started(
    command: Sequence[str | Path], log: Path, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """A process that writes to this log."""
    with log.open("ab") as stream:
        return subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        )


def ended(process: subprocess.Popen[bytes] | None) -> None:
    """End a process, whatever it does."""
    if process is None:
        return
    process.terminate()
    try:
        process.wait(ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(ENDING)
