"""The decision log in a file, as JSON lines: what ``evenkeel history --from`` reads."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

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
from evenkeel_cli.errors import BadInputError


@contextmanager
def opened(path: Path | None, *, adds: bool = False) -> Iterator[BinaryIO | None]:
    """The file of ``--decisions``, if one is wanted; ``adds`` to what is in it, line by line.

    Raises BadInputError.
    """
    if path is None:
        yield None
        return
    try:
        stream = path.open("ab", buffering=0) if adds else path.open("wb")
    except OSError as error:
        raise BadInputError(
            f"--decisions {path}: cannot be written ({error.strerror}): name another file"
        ) from None
    with stream:
        yield stream


class DecisionLog:
    """A Recorder that writes decisions and counts of pods as JSON lines, and nothing else.

    Each line is one write, so several threads may use it.
    """

    def __init__(
        self,
        stream: BinaryIO,
        clock: Clock,
        *,
        cluster: str,
        mode: str,
        on_error: Callable[[OSError], object] | None = None,
    ) -> None:
        """``stream`` stays the caller's to close.

        ``on_error`` is told of the first line that could not be written, and nothing is written
        from then on; without it the error is raised.
        """
        self._on_error = on_error
        self._is_broken = False
        self._stream = stream
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
        """Hand on what the stream holds back."""
        self._stream.flush()

    def _write(self, entry: DecisionRecord | CountRecord) -> None:
        if self._is_broken:
            return
        try:
            self._stream.write(msgspec.json.encode(entry) + b"\n")
        except OSError as error:
            if self._on_error is None:
                raise
            self._is_broken = True
            self._on_error(error)
