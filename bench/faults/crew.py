"""Evenkeel that dies and is started again."""

from pathlib import Path

from bench.storm import worker
from bench.storm.aws import Aws
from bench.storm.worker import Worker


class Crew:
    """One worker at a time, and what all of them used together."""

    def __init__(self, stand_in: Aws, kubeconfig: Path, log: Path) -> None:
        """Start the first one."""
        self._stand_in = stand_in
        self._kubeconfig = kubeconfig
        self._log = log
        self._before: list[Worker] = []
        self._worker = self._start()

    def replace(self) -> None:
        """Kill it as a machine that loses power does, and start the next."""
        self._worker.kill()
        self._before.append(self._worker)
        self._worker = self._start()

    def end(self) -> None:
        """End the last one, as it should end."""
        self._worker.end()

    def abandon(self) -> None:
        """Leave no process behind, whatever happened."""
        self._worker.abandon()

    @property
    def starts(self) -> int:
        """How many there were."""
        return len(self._before) + 1

    @property
    def cpu_seconds(self) -> float:
        """The CPU time of all."""
        return sum(each.cpu_seconds for each in (*self._before, self._worker))

    @property
    def peak_mb(self) -> float:
        """The most memory that one of them had."""
        return max(each.peak_mb for each in (*self._before, self._worker))

    @property
    def handled(self) -> list[str]:
        """The ids of all messages that they were done with, in this order."""
        return [each for one in self._worker.invocations for each in one.handled]

    def _start(self) -> Worker:
        return worker.start(self._stand_in, self._kubeconfig, self._log)
