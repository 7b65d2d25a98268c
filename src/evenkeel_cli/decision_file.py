"""The decision log in a file, as JSON lines: what ``evenkeel history --from`` reads."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from evenkeel.adapters.telemetry.decision_log import (
    CountRecord,
    DecisionRecord,
    count_record,
    record,
)
from evenkeel.model.decision import Decision
from evenkeel.model.metrics import Metric
from evenkeel.model.pod_count import PodCount
from evenkeel.ports import Clock
from evenkeel_cli.errors import BadInputError, UnmetError

STREAMED: Final = Path("-")
"""Standard output: what keeps a pod's log rotates it."""


class Lines:
    """A stream that takes lines, each in one write, until one is not written whole.

    ``on_error`` is told of that; ``error`` keeps it, and nothing is written from then on.
    """

    def __init__(
        self, stream: BinaryIO, on_error: Callable[[OSError], object] | None = None
    ) -> None:
        """``stream`` stays the caller's to close; it holds nothing back."""
        self._stream = stream
        self._on_error = on_error
        self.error: OSError | None = None

    def write(self, line: bytes) -> None:
        """Write a line."""
        if self.error is not None:
            return
        try:
            written = self._stream.write(line)
        except OSError as error:
            self._fail(error)
        else:
            if written < len(line):
                told = f"{written} of a line's {len(line)} bytes were written"
                self._fail(OSError(errno.ENOSPC, told))

    def _fail(self, error: OSError) -> None:
        self.error = error
        if self._on_error is not None:
            self._on_error(error)


@contextmanager
def opened(
    path: Path | None,
    *,
    adds: bool = False,
    on_error: Callable[[OSError], object] | None = None,
) -> Iterator[Lines | None]:
    """The file of ``--decisions``, if one is wanted; ``adds`` to what is in it, line by line.

    Several processes may add to one file. Who rotates it may cut it to nothing, for each line goes
    to its end. Raises BadInputError if it cannot be opened. If a line could not be written that is
    told to ``on_error``, else UnmetError at the end.
    """
    if path is None:
        yield None
        return
    try:
        stream = _stream(path, adds=adds)
    except OSError as error:
        raise BadInputError(
            f"--decisions {path}: cannot be written ({error.strerror}): name another file"
        ) from None
    with stream:
        lines = Lines(stream, on_error)
        yield lines
    if lines.error is not None and on_error is None:
        raise UnmetError(
            f"--decisions {path}: it ends before the last decision ({lines.error.strerror}): name"
            " another file"
        )


def _stream(path: Path, *, adds: bool) -> BinaryIO:
    """A stream that holds nothing back. Raises OSError."""
    if path == STREAMED:
        return os.fdopen(sys.stdout.fileno(), "wb", buffering=0, closefd=False)
    return path.open("ab" if adds else "wb", buffering=0)


class DecisionLog:
    """A Recorder that writes decisions and counts of pods as JSON lines, and nothing else.

    Each line is one write, so several threads may use it.
    """

    def __init__(self, lines: Lines, clock: Clock, *, cluster: str, mode: str) -> None:
        """``lines`` stay the caller's to close."""
        self._lines = lines
        self._clock = clock
        self._cluster = cluster
        self._mode = mode

    def decided(self, decision: Decision) -> None:
        """Write one line."""
        self._write(record(decision, self._clock.now(), self._cluster, self._mode))

    def counted_pods(self, count: PodCount) -> None:
        """Write one line."""
        self._write(count_record(count, self._cluster))

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Nothing: a count is no decision."""

    def noted(self, message: str, **details: object) -> None:
        """Nothing: a note is no decision."""

    def flush(self) -> None:
        """Nothing is held back."""

    def _write(self, entry: DecisionRecord | CountRecord) -> None:
        self._lines.write(msgspec.json.encode(entry) + b"\n")
