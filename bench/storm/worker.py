"""Evenkeel in a storm: `evenkeel poll` in a process of its own, held to one CPU and watched."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Final

from bench.storm import invocations
from bench.storm.aws import CLUSTER, CREDENTIALS, Aws
from bench.storm.invocations import Invocation

STARTING: Final = 30.0
ENDING: Final = 40.0
QUOTA: Final = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
TICKS: Final = os.sysconf("SC_CLK_TCK")


class Worker:
    """One process of `evenkeel poll`."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        """Watch it from now on. Its invocations are in a file beside its log."""
        self.log = log
        self.meter = meter_of(log)
        self.process = process
        self.peak_mb = 0.0
        self.cpu_seconds = 0.0
        self._stopping = Event()
        self._watcher = Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def kill(self) -> None:
        """As a machine that loses power."""
        self.process.kill()
        self.process.wait(10)
        self._stopping.set()

    def abandon(self) -> None:
        """Leave neither a process behind, whatever happened, nor the group that held it."""
        self.process.kill()
        self.process.wait(10)
        self._stopping.set()
        with contextlib.suppress(OSError):
            _group().rmdir()

    def end(self) -> None:
        """SIGTERM; AssertionError if it does not end well.

        Of one that does not end at all the log says where each thread is.
        """
        self._sample()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            code = self.process.wait(10)
        finally:
            self._stopping.set()
            self.process.kill()
        assert code == 0, f"the worker ended with {code}: {self.lines[-3:]}"

    @property
    def lines(self) -> list[str]:
        """Its log so far."""
        return self.log.read_text(errors="replace").splitlines()

    @property
    def invocations(self) -> Sequence[Invocation]:
        """What it has done so far, and whoever wrote to the same log before it."""
        return invocations.read(self.meter)

    def _watch(self) -> None:
        while not self._stopping.wait(0.2):
            self._sample()

    def _sample(self) -> None:
        folder = Path(f"/proc/{self.process.pid}")
        try:
            status = (folder / "status").read_text()
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                self.peak_mb = max(self.peak_mb, int(line.split()[1]) / 1024)
        self.cpu_seconds = max(self.cpu_seconds, (int(fields[11]) + int(fields[12])) / TICKS)


def meter_of(log: Path) -> Path:
    """Where a worker with this log writes its invocations."""
    return log.with_suffix(".invocations.log")


def has_quota() -> bool:
    """Whether cgroups can be made here that hold a process to a quota."""
    return QUOTA.exists() and os.access(QUOTA.parent, os.W_OK)


def one_cpu() -> list[str]:
    """A prefix of a command that holds it to one CPU: a quota where cgroups can be made.

    Else it is pinned to one, where it has to share it with whatever else runs there.
    """
    if not has_quota():
        return ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
    group = _group()
    group.mkdir(exist_ok=True)
    (group / "cpu.cfs_period_us").write_text("100000")
    (group / QUOTA.name).write_text("100000")
    return ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]


def _group() -> Path:
    return QUOTA.parent / f"evenkeel-bench-{os.getpid()}"


def how_held() -> str:
    """How ``one_cpu`` does it here, in a few words."""
    return "a cgroup's quota of one CPU" if has_quota() else "pinned to one CPU"


@contextmanager
def started(aws: Aws, kubeconfig: Path, log: Path) -> Iterator[Worker]:
    """Start it, and wait until it polls."""
    worker = start(aws, kubeconfig, log)
    try:
        yield worker
    finally:
        worker.abandon()


def start(aws: Aws, kubeconfig: Path, log: Path) -> Worker:
    """Start it, and wait until it polls. Whoever starts it ends it."""
    command = [
        *(sys.executable, "-X", "faulthandler"),
        *("-m", "bench.storm.metered", str(meter_of(log)), "poll"),
        *("--queue-url", aws.notice_queue),
        *("--wake-up-queue-url", aws.wake_up_queue),
        *("--endpoint-url", aws.endpoint),
        *("--cluster-name", CLUSTER),
        *("--kubeconfig", str(kubeconfig)),
    ]
    with log.open("ab") as stream:
        before = stream.tell()
        process = subprocess.Popen(
            [*one_cpu(), *command],
            env={**os.environ, **CREDENTIALS},  # noqa: TID251 - for a child
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    worker = Worker(process, log)
    give_up = time.monotonic() + STARTING
    while b"acts on the cluster" not in log.read_bytes()[before:]:
        assert process.poll() is None, f"the worker ended at once: {worker.lines}"
        assert time.monotonic() < give_up, "the worker does not start"
        time.sleep(0.05)  # noqa: TID251 - another process's time
    return worker
