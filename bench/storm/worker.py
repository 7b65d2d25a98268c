"""Evenkeel in a storm: `evenkeel poll` in a process of its own, held to one CPU and watched."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Final

from bench.storm import counted, invocations
from bench.storm.aws import CLUSTER, CREDENTIALS, Aws
from bench.storm.invocations import Invocation

STARTING: Final = 30.0
ENDING: Final = 40.0
QUOTA: Final = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
LAYER: Final = Path("layers") / "evenkeel"
"""Where the package is in a checkout."""
TICKS: Final = os.sysconf("SC_CLK_TCK")


class Worker:
    """One process of `evenkeel poll`."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        """Watch it from now on. Its invocations and its requests are in files beside its log."""
        self.log = log
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
        """What it has done so far, and workers that wrote to the same log before it."""
        return invocations.read(meter_of(self.log))

    @property
    def requests(self) -> Counter[str]:
        """What it has sent so far, by kind, and workers that wrote to the same log before it."""
        return Counter(requests_of(self.log).read_text().splitlines())

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


def requests_of(log: Path) -> Path:
    """Where a worker with this log writes the kinds of its requests."""
    return log.with_suffix(".requests.log")


def decisions_of(log: Path) -> Path:
    """Where a worker with this log writes its decisions, for `evenkeel history` and `report`."""
    return log.with_suffix(".decisions.log")


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
def started(
    aws: Aws, kubeconfig: Path, log: Path, checkout: Path | None = None
) -> Iterator[Worker]:
    """Start it, and wait until it polls."""
    worker = start(aws, kubeconfig, log, checkout)
    try:
        yield worker
    finally:
        worker.abandon()


def start(aws: Aws, kubeconfig: Path, log: Path, checkout: Path | None = None) -> Worker:
    """Start it, and wait until it polls. The caller ends it.

    With a ``checkout`` it is that one's code in this environment, and its invocations are not
    known.
    """
    command = [
        *(sys.executable, "-X", "faulthandler", *_program(log, checkout), "poll"),
        *("--queue-url", aws.notice_queue),
        *("--wake-up-queue-url", aws.wake_up_queue),
        *("--endpoint-url", aws.endpoint),
        *("--cluster-name", CLUSTER),
        *("--kubeconfig", str(kubeconfig)),
        *(("--decisions", str(decisions_of(log))) if checkout is None else ()),
    ]
    requests = requests_of(log)
    requests.touch()
    before = requests.stat().st_size
    with log.open("ab") as stream:
        process = subprocess.Popen(
            [*one_cpu(), *command],
            env={**os.environ, **CREDENTIALS, **path_of(checkout)},  # noqa: TID251 - for a child
            cwd=checkout,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    worker = Worker(process, log)
    give_up = time.monotonic() + STARTING
    while counted.RECEIVING.encode() not in requests.read_bytes()[before:]:
        assert process.poll() is None, f"the worker ended at once: {worker.lines}"
        assert time.monotonic() < give_up, "the worker does not start"
        time.sleep(0.05)  # noqa: TID251 - another process's time
    return worker


def _program(log: Path, checkout: Path | None) -> Sequence[str]:
    if checkout is None:
        return ("-m", "bench.storm.metered", str(meter_of(log)), str(requests_of(log)))
    return ("-P", counted.__file__, str(requests_of(log)), str(checkout))


def path_of(checkout: Path | None) -> Mapping[str, str]:
    """A variable that lets Python look into a checkout first, before the environment's own."""
    if checkout is None:
        return {}
    return {"PYTHONPATH": os.pathsep.join(map(str, (checkout, checkout / "src", checkout / LAYER)))}
