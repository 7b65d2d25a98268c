"""The machine that a figure was measured on."""

import os
import platform
import resource
import sys
from pathlib import Path
from typing import Final

import msgspec

_UNIT: Final = 1024**2 if sys.platform == "darwin" else 1024


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """``load`` is the load average of the last minute when the measurement ended."""

    cpus: int
    model: str
    memory_gib: float
    system: str
    python: str
    load: float

    def __str__(self) -> str:
        """``2 CPUs (Intel Xeon ...), 24 GiB, Linux, Python 3.13.0, load 3.1``."""
        return (
            f"{self.cpus} CPUs ({self.model}), {self.memory_gib:.0f} GiB, {self.system},"
            f" Python {self.python}, load {self.load:.1f}"
        )


def peak_megabytes() -> float:
    """The most memory that this process has had; its unit is bytes on macOS."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _UNIT


def look() -> Machine:
    """This machine, now."""
    return Machine(
        cpus=len(os.sched_getaffinity(0)),
        model=_model(),
        memory_gib=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        system=platform.system(),
        python=platform.python_version(),
        load=os.getloadavg()[0],
    )


def _model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(": ")[2].strip()
    return platform.machine()
