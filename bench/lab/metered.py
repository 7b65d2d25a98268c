"""`evenkeel` with a line for every invocation of its functions: what Lambda would bill.

    python -m bench.lab.metered FILE REQUESTS PODS_EACH poll ...

Appends one JSON object per invocation to FILE, as it ends; a process that is killed leaves out
those that it did not end, as it leaves their messages in the queue. The requests go into REQUESTS
as `bench.lab.counted` writes them. A storm is shared of more than PODS_EACH pods; the processes
that share it append to the same files.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from bench.lab import counted
from bench.lab.sharing import sharing
from evenkeel.handlers import Lazy
from evenkeel_cli.main import main
from evenkeel_hosting import functions
from evenkeel_hosting.files import FUNCTIONS

SCHEDULE: Final = "schedule"


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """One invocation. ``handled`` and ``failed`` are ids of messages; the schedule has none.

    ``seconds`` is wall clock: it waited for the processor that all of them share, too.
    """

    function: str
    seconds: float
    handled: Sequence[str] = ()
    failed: Sequence[str] = ()


class _Metered(Lazy):
    """A function's handler, and the time that it takes."""

    def __init__(self, function: Lazy, name: str, stream: BinaryIO) -> None:
        super().__init__(lambda: function)
        self._name = name
        self._stream = stream

    def __call__(self, event: dict[str, Any], context: object) -> dict[str, Any]:
        ids = [record["messageId"] for record in event.get("Records", ())]
        began = time.monotonic()
        failed = ids
        try:
            answer = super().__call__(event, context)
            failed = [each["itemIdentifier"] for each in answer.get("batchItemFailures", ())]
        finally:
            invocation = Invocation(
                function=self._name if "Records" in event else SCHEDULE,
                seconds=time.monotonic() - began,
                handled=[each for each in ids if each not in failed],
                failed=failed,
            )
            self._stream.write(msgspec.json.encode(invocation) + b"\n")
        return answer


def _meter(stream: BinaryIO) -> None:
    """Let every function that is loaded from now on write into this stream, unbuffered."""
    load = functions.load

    def metered(name: str, folder: Path = FUNCTIONS) -> Lazy:
        return _Metered(load(name, folder), name, stream)

    functions.load = metered


if __name__ == "__main__":
    with (
        Path(sys.argv[1]).open("ab", buffering=0) as invocations,
        Path(sys.argv[2]).open("ab", buffering=0) as requests,
    ):
        _meter(invocations)
        counted.count(requests)
        functions.handover = sharing(functions.handover, int(sys.argv[3]))
        main(sys.argv[4:])
