"""What a case is given to measure with."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.book import LOGS
from bench.conditions import ROOT, peak_megabytes
from bench.figure import Figure

type Say = Callable[[str], None]


def since_now() -> Say:
    """Prints lines, each with the seconds since this call."""
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", flush=True)

    return say


@dataclass(frozen=True)
class Lab:
    """``tree`` is the checkout whose product is measured: it is what Python imports.

    ``name`` begins the names of the logs, which stay until the same is measured again.
    """

    name: str = "test"
    tree: Path = ROOT
    say: Say = field(default_factory=since_now)

    def log(self, name: str) -> Path:
        """A log's path, where nothing is left of an earlier run."""
        LOGS.mkdir(exist_ok=True)
        name = f"{self.name}-{name}"
        for old in LOGS.glob(f"{name}.*log"):
            old.unlink()
        return LOGS / f"{name}.log"

    def taken(self, name: str, command: Sequence[str]) -> Sequence[Figure]:
        """What a command of Python takes, its process's start included. It has to succeed."""
        began = time.monotonic()
        process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL, cwd=ROOT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert not process.returncode, f"{name} ended with {process.returncode}"
        figures = [
            Figure("time", time.monotonic() - began, "s", of=name),
            Figure("CPU", used.ru_utime + used.ru_stime, "s", of=name),
            Figure("memory, at most", peak_megabytes(used.ru_maxrss), "MB", of=name),
        ]
        self.say(f"{name}: " + ", ".join(f"{f.name} {f.value:.1f} {f.unit}" for f in figures))
        return figures
