"""SIGTERM and SIGINT, for a process that works until it is asked to end."""

import signal
from collections.abc import Callable
from threading import Event
from typing import Any, Final

LOOKING: Final = 1.0
"""Seconds. A signal may reach another thread than the main one, which alone handles it, and only
when it runs: it must not sleep without end."""


class EndSignal:
    """Asks for the end, from when it is made. The main thread makes it, and waits for it."""

    def __init__(self) -> None:
        """No signal has come yet."""
        self.asked = Event()
        """Set once somebody has asked."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def wait(self, is_well: Callable[[], bool]) -> bool:
        """Sleep until a signal asks, or the process is not well any more; whether it still is."""
        while not self.asked.wait(LOOKING):
            if not is_well():
                return False
        return True

    def _ask(self, *_: Any) -> None:
        self.asked.set()
