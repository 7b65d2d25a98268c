"""Evenkeel's processes: each is watched, and `evenkeel poll` is held to one CPU a process."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Final

from bench.conditions import ROOT
from bench.lab import counted
from bench.lab.metered import Invocation
from evenkeel.model.decoding import decoded
from evenkeel.settings.handover import PODS_EACH
from tests.kit.moto_server import CLUSTER, CREDENTIALS, Aws

STARTING: Final = 30.0
ENDING: Final = 40.0
QUOTA: Final = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
TICKS: Final = os.sysconf("SC_CLK_TCK")


class Watched:
    """What a process takes, and those that it starts.

    ``peak_mb`` is the most memory that one of them had.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Watch it from now on."""
        self.process = process
        self.peak_mb = 0.0
        self._cpu_seconds: dict[int, float] = {}  # by process id
        self._stopping = Event()
        Thread(target=self._watch, daemon=True).start()

    def forget(self) -> None:
        """Leave no process behind."""
        self.process.kill()
        self.process.wait(10)
        self._stopping.set()

    @property
    def cpu_seconds(self) -> float:
        """What all of them took so far."""
        return sum(list(self._cpu_seconds.values()))

    def sample(self) -> None:
        """Look at them now; one that has ended stays as it was seen last."""
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                self._look(folder)

    def _look(self, folder: Path) -> None:
        fields = (folder / "stat").read_text().rpartition(") ")[2].split()
        pid, parent = int(folder.name), int(fields[1])
        if self.process.pid not in {pid, parent}:
            return
        for line in (folder / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                self.peak_mb = max(self.peak_mb, int(line.split()[1]) / 1024)
        seconds = (int(fields[11]) + int(fields[12])) / TICKS
        self._cpu_seconds[pid] = max(self._cpu_seconds.get(pid, 0.0), seconds)

    def _watch(self) -> None:
        while not self._stopping.wait(0.2):
            self.sample()


class Worker(Watched):
    """A process of `evenkeel poll`, and those with which it shares a storm.

    Its invocations and requests, and theirs, are in files beside its log.
    So are its decisions, for `evenkeel history` and `report`.
    """

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        """Watch it from now on."""
        super().__init__(process)
        self.log = log

    def end(self) -> None:
        """SIGTERM; AssertionError if it does not end well.

        Of one that does not end at all the log says where each thread is.
        """
        self.sample()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            code = self.process.wait(10)
        finally:
            self.process.kill()
        assert code == 0, f"the worker ended with {code}: {self.lines[-3:]}"

    @property
    def lines(self) -> list[str]:
        """Its log so far."""
        return self.log.read_text(errors="replace").splitlines()

    @property
    def invocations(self) -> Sequence[Invocation]:
        """What it has done so far, in the order in which it ended."""
        lines = self.log.with_suffix(".invocations.log").read_bytes().splitlines()
        return [decoded(Invocation, line) for line in lines]

    @property
    def requests(self) -> Counter[str]:
        """What it has sent so far, by kind."""
        return Counter(self.log.with_suffix(".requests.log").read_text().splitlines())


@contextmanager
def started(
    aws: Aws, kubeconfig: Path, log: Path, processes: int = 1, pods_each: int = PODS_EACH
) -> Iterator[Worker]:
    """Start `evenkeel poll`, and wait until it polls. At the end nothing of it is left.

    It shares a storm of more than ``pods_each`` pods, and has a CPU for each of ``processes``.
    """
    invocations, requests, decisions = (
        log.with_suffix(f".{kind}.log") for kind in ("invocations", "requests", "decisions")
    )
    command = [
        *(sys.executable, "-X", "faulthandler", "-m", "bench.lab.metered"),
        *(str(invocations), str(requests), str(pods_each), "poll"),
        *("--queue-url", aws.notice_queue, "--wake-up-queue-url", aws.wake_up_queue),
        *("--endpoint-url", aws.endpoint, "--cluster-name", CLUSTER),
        *("--kubeconfig", str(kubeconfig), "--decisions", str(decisions)),
    ]
    requests.touch()
    with log.open("ab") as stream:
        process = subprocess.Popen(
            [*held_to(processes), *command],
            env={**os.environ, **CREDENTIALS},  # noqa: TID251 - a child's
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    worker = Worker(process, log)
    try:
        give_up = time.monotonic() + STARTING
        while counted.RECEIVING.encode() not in requests.read_bytes():
            assert process.poll() is None, f"the worker ended at once: {worker.lines}"
            assert time.monotonic() < give_up, "the worker does not start"
            time.sleep(0.05)  # noqa: TID251 - another process's time
        yield worker
    finally:
        worker.forget()
        with contextlib.suppress(OSError):
            _group().rmdir()


def held_to(cpus: int) -> list[str]:
    """A prefix of a command that holds it to so many CPUs: a quota where cgroups can be made.

    Without cgroups it is pinned to as many CPUs, on which other processes may run, too.
    """
    if not (QUOTA.exists() and os.access(QUOTA.parent, os.W_OK)):
        last = sorted(os.sched_getaffinity(0))[-cpus:]
        return ["taskset", "-c", ",".join(map(str, last))]
    group = _group()
    group.mkdir(exist_ok=True)
    (group / "cpu.cfs_period_us").write_text("100000")
    (group / QUOTA.name).write_text(str(cpus * 100_000))
    return ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]


def _group() -> Path:
    return QUOTA.parent / f"evenkeel-bench-{os.getpid()}"
