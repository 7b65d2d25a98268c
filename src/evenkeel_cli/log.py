"""What a polling process tells: one line per decision, with the time."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from threading import Lock
from typing import TextIO

from evenkeel.model.decision import Decision
from evenkeel.model.metrics import Metric
from evenkeel.model.pod_count import PodCount
from evenkeel.ports import Clock
from evenkeel_cli.lines import ABBREVIATED
from evenkeel_cli.visible import visible
from evenkeel_cli.words import subject_name


class LineRecorder:
    """A Recorder that writes lines for people and for grep. Several threads may use it.

    ``2026-11-21T09:00:00.123Z evict  pod shop/web-1-abc: ReplacementAvailable: 4 available, 3
    wanted``. Counts are not written; a note that says the same as the last one is left out. A log
    that cannot be written, on a full disk or without a reader, stops nobody's work.
    """

    def __init__(
        self,
        clock: Clock,
        stream: TextIO | None = None,
        on_loss: Callable[[], object] = lambda: None,
    ) -> None:
        """Write to ``stream``, standard output if it is None.

        ``on_loss`` is called for each line that is lost. The first time standard error is told.
        """
        self._clock = clock
        self._stream = stream or sys.stdout
        self._on_loss = on_loss
        self._has_lost = False
        self._lock = Lock()
        self._last_note = ""

    def decided(self, decision: Decision) -> None:
        """One line."""
        name = subject_name(decision.subject)
        word = ABBREVIATED.get(decision.verb, decision.verb.value)
        flag = " (warning)" if decision.warning else ""
        self._write(f"{word:<10} {name}: {decision.reason}: {decision.message}{flag}")

    def counted_pods(self, count: PodCount) -> None:
        """One line."""
        name = subject_name(count.workload)
        self._write(f"{'count':<10} {name}: {count.available} available, {count.wanted} wanted")

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Nothing: counts are for metrics."""

    def noted(self, message: str, **details: object) -> None:
        """One line, unless it says what the last note said."""
        told = " ".join([message, *(f"{key}={value}" for key, value in details.items())])
        with self._lock:
            is_news, self._last_note = told != self._last_note, told
        if is_news:
            self._write(f"{'note':<10} {told}")

    def flush(self) -> None:
        """Hand on what is buffered."""
        with self._lock:
            self._try("")

    def say(self, text: str) -> None:
        """A line about the process itself, written at once."""
        self._write(text)
        self.flush()

    def _write(self, text: str) -> None:
        line = visible(" ".join(text.split("\n")))
        with self._lock:
            self._try(f"{_stamp(self._clock.now())} {line}\n")

    def _try(self, text: str) -> None:
        """Write a line, or flush where there is none."""
        try:
            self._stream.write(text) if text else self._stream.flush()
        except OSError as error:
            self._on_loss()
            if not self._has_lost:
                self._has_lost = True
                with suppress(OSError):
                    os.write(2, f"the log cannot be written: {error.strerror}\n".encode())


def _stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"
