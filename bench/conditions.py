"""What a figure was measured of, and on what."""

import os
import platform
import re
import resource
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from bench.repository import Repository
from bench.store import ROOT

_UNIT: Final = 1024**2 if sys.platform == "darwin" else 1024


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """A figure without its commit is none: results that do not name theirs are not read.

    ``kubernetes`` is the version of the control plane, empty on simulated time. ``load`` is the
    load average of the last minute when the measurement ended.
    """

    commit: str
    kubernetes: str
    cpus: int
    model: str
    memory_gib: float
    system: str
    python: str
    load: float

    def __str__(self) -> str:
        """``Commit 1a2b3c4, Kubernetes 1.36.3, 2 CPUs (Intel Xeon ...), ..., load 3.1``."""
        return together([self])


def together(found: Iterable[Conditions]) -> str:
    """The conditions of several measurements in one line; what differs is listed."""
    each = list(found)
    commits = dict.fromkeys(one.commit for one in each)
    versions = dict.fromkeys(f"Kubernetes {one.kubernetes}" for one in each if one.kubernetes)
    machines = dict.fromkeys(
        f"{one.cpus} CPUs ({one.model}), {one.memory_gib:.0f} GiB, {one.system},"
        f" Python {one.python}"
        for one in each
    )
    least, most = (f"{pick(one.load for one in each):.1f}" for pick in (min, max))
    load = least if least == most else f"{least} to {most}"
    named = f"{'Commits' if len(commits) > 1 else 'Commit'} {' and '.join(commits)}"
    return ", ".join([named, *versions, *machines, f"load {load}"])


def look(*, simulated: bool = False) -> Conditions:
    """This tree on this machine, now. ``simulated``: without a control plane."""
    return Conditions(
        commit=Repository(ROOT).here,
        kubernetes="" if simulated else _kubernetes(),
        cpus=len(os.sched_getaffinity(0)),
        model=_model(),
        memory_gib=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        system=platform.system(),
        python=platform.python_version(),
        load=load(),
    )


def load() -> float:
    """The load average of the last minute."""
    return os.getloadavg()[0]


def peak_megabytes() -> float:
    """The most memory that this process has had; its unit is bytes on macOS."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _UNIT


def _kubernetes() -> str:
    """The version that tools/control-plane builds unless it is told another."""
    pins = (ROOT / "tools" / "go.mod").read_text()
    pinned = re.search(r"^\s*k8s\.io/kubernetes v(\S+)", pins, re.MULTILINE)
    assert pinned is not None, "tools/go.mod pins no Kubernetes"
    return pinned[1]


def _model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(": ")[2].strip()
    return platform.machine()
