"""The decision log: one JSON object per decision, the same from Lambda, command and simulator.

In a file it is JSON lines; in Lambda's log it is the field ``decision`` of a log line. Fields
that are empty are left out.

| field | what |
|---|---|
| v | version of this format, 1 |
| time | when it was decided, RFC 3339, UTC |
| cluster, mode | the cluster's name; ``act`` or ``observe`` (then nothing was written) |
| verb | what was decided, see evenkeel.model.decision.Verb |
| reason, message | a CamelCase word, a sentence for people |
| subject, workload | {kind, namespace, name, uid}: the object, and the workload it belongs to |
| node | the node that it is about |
| until | when a wait ends at the latest, RFC 3339 |
| warning | true if a person should know |
| forced | true if the last moment had come |
| write | how it is carried out: patch, create, delete or evict |
"""

from datetime import datetime
from typing import BinaryIO, Final

import msgspec

from evenkeel.model.decision import Decision
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.ports import Clock

VERSION: Final = 1


class DecisionRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of the decision log; the module's docstring has its fields."""

    v: int
    time: datetime
    cluster: str
    mode: str
    verb: str
    reason: str
    message: str
    subject: Reference
    workload: Reference | None = None
    node: str = ""
    until: datetime | None = None
    warning: bool = False
    forced: bool = False
    write: str = ""


def record(decision: Decision, time: datetime, cluster: str, mode: str) -> DecisionRecord:
    """The log's entry for a decision."""
    return DecisionRecord(
        v=VERSION,
        time=time,
        cluster=cluster,
        mode=mode,
        verb=decision.verb.value,
        reason=decision.reason,
        message=decision.message,
        subject=decision.subject,
        workload=decision.workload,
        node=decision.node,
        until=decision.until,
        warning=decision.warning,
        forced=decision.forced,
        write="" if decision.write is None else type(decision.write).__name__.lower(),
    )


class DecisionLog:
    """A Recorder that writes decisions as JSON lines, and leaves all else out."""

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

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Nothing: a count is no decision."""

    def noted(self, message: str, **details: object) -> None:
        """Nothing: a note is no decision."""

    def flush(self) -> None:
        """Hand on what the stream holds back."""
        self._stream.flush()
