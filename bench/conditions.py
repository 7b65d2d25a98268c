"""What a figure was measured of, and on what."""

import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

ROOT: Final = Path(__file__).resolve().parents[1]
WRITTEN: Final = (":!bench/results.jsonl", ":!docs", ":!*.md")
"""What benches write, as git names it: figures, tables, pictures."""


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """``commit`` is a short hash, with ``, changed`` where the tree had changes of its own.

    ``date`` is a day in UTC, ``kubernetes`` the version of the control plane. ``load`` is the load
    average of the last minute when the measurement ended.
    """

    commit: str
    date: str
    kubernetes: str
    cpus: int
    model: str
    memory_gib: float
    system: str
    python: str
    load: float

    @property
    def sitting(self) -> str:
        """Commit, day and machine in words: all but the load."""
        return (
            f"commit {self.commit}, {self.date}, Kubernetes {self.kubernetes}, {self.cpus} CPUs"
            f" ({self.model}), {self.memory_gib:.0f} GiB, {self.system}, Python {self.python}"
        )


def look() -> Conditions:
    """This tree on this machine, now."""
    changed = git("status", "--porcelain", "--", *WRITTEN)
    return Conditions(
        commit=name_of("HEAD") + (", changed" if changed else ""),
        date=datetime.now(UTC).date().isoformat(),  # noqa: TID251 - when it was measured
        kubernetes=_kubernetes(),
        cpus=len(os.sched_getaffinity(0)),
        model=_model(),
        memory_gib=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        system=platform.system(),
        python=platform.python_version(),
        load=os.getloadavg()[0],
    )


def name_of(commit: str) -> str:
    """A commit's short hash. Raises AssertionError with what git says."""
    return git("rev-parse", "--short", "--verify", f"{commit}^{{commit}}")


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A work tree of its own with this commit, until the end of the with statement."""
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        # Resolved, for the modules that are loaded from it say where they really are.
        other = Path(folder).resolve() / "checkout"
        git("worktree", "add", "--quiet", "--detach", str(other), commit)
        try:
            yield other
        finally:
            git("worktree", "remove", "--force", str(other))


def git(*arguments: str) -> str:
    """What a git command prints. Raises AssertionError with what it says."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.strip()
    return done.stdout.strip()


def peak_megabytes(ru_maxrss: float) -> float:
    """The most memory of a process, as getrusage tells it: its unit is bytes on macOS."""
    return ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


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
