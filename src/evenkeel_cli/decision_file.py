"""The decision log in a file, as JSON lines: what ``evenkeel history --from`` reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from evenkeel.adapters.telemetry.decision_log import count_record, record
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

    def __init__(self, stream: BinaryIO, clock: Clock, *, cluster: str, mode: str) -> None:
        """``stream`` stays the caller's to close."""
        self._stream = stream
        self._clock = clock
        self._cluster = cluster
        self._mode = mode

    def decided(self, decision: Decision) -> None:
        """Write one line. Raises OSError as the stream does."""
        entry = record(decision, self._clock.now(), self._cluster, self._mode)
        self._stream.write(msgspec.json.encode(entry) + b"\n")

    def counted_pods(self, count: PodCount) -> None:
        """Write one line. Raises OSError as the stream does."""
        entry = count_record(count, self._cluster)
        self._stream.write(msgspec.json.encode(entry) + b"\n")

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Nothing: a count is no decision."""

    def noted(self, message: str, **details: object) -> None:
        """Nothing: a note is no decision."""

    def flush(self) -> None:
        """Hand on what the stream holds back."""
        self._stream.flush()
