"""Processes that share a large storm: a thread more would not be faster, for Python runs one."""

import subprocess
from collections.abc import Sequence
from datetime import timedelta

from evenkeel.model.division import MOST
from evenkeel_runtime.poll.event_source import Note


class Helpers:
    """Starts such processes when a storm is divided; each ends when its share is done."""

    def __init__(self, command: Sequence[str], note: Note) -> None:
        """``command`` takes one share, if there is one; empty: none is started.

        ``note`` is told of what goes wrong.
        """
        self._command = command
        self._note = note
        self._processes: list[subprocess.Popen[bytes]] = []

    def call(self, number: int) -> None:
        """Start so many, as far as there is not one for each share."""
        self._processes = [each for each in self._processes if each.poll() is None]
        most = MOST - 1 if self._command else 0
        for _ in range(min(number, most - len(self._processes))):
            try:
                process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL)  # noqa: S603 - this command again
            except OSError as error:
                self._note(f"no process is started to share a storm: {error}")
                return
            self._processes.append(process)

    def stop(self) -> None:
        """Ask them to end."""
        for process in self._processes:
            process.terminate()

    def join(self, timeout: timedelta) -> bool:
        """Wait for them, and kill what is left; whether they ended in time."""
        have_ended = True
        for process in self._processes:
            try:
                process.wait(timeout.total_seconds())
            except subprocess.TimeoutExpired:
                process.kill()
                have_ended = False
        return have_ended

    def start(self) -> None:
        """None is started before it is called."""

    @property
    def is_alive(self) -> bool:
        """Always: one that ended early is called again."""
        return True
