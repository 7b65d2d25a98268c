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
| way | of a pod that a node's notice concerns: how it goes, see evenkeel.model.way.Way |
| cause, remedy | why that way; what its owner can change to get a better one |

Between them are the counts of the workloads whose pods go, when they change, and at most one a
second for each. The last one has the time at which the workload was whole again; the schedule's
next run may write it. In Lambda's log a count is the field ``count``. ``evenkeel history`` reads
both.

| field | what |
|---|---|
| v, time, cluster | as above |
| workload | as above |
| available | so many of its pods are available, also released ones and those on doomed nodes |
| wanted | so many its owner asks for |

From the beginning of a rollout on ``available`` is null: its pods are not counted then.
"""

from datetime import datetime
from typing import Final

import msgspec

from evenkeel.model.decision import Decision
from evenkeel.model.meta import Reference
from evenkeel.model.pod_count import PodCount

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
    way: str = ""
    cause: str = ""
    remedy: str = ""


class CountRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One count in the decision log; the module's docstring has its fields."""

    v: int
    time: datetime
    cluster: str
    workload: Reference
    available: int | None
    wanted: int


def record(decision: Decision, time: datetime, cluster: str, mode: str) -> DecisionRecord:
    """The log's entry for a decision."""
    why = decision.why
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
        way="" if why is None else why.way.value,
        cause="" if why is None else why.cause,
        remedy="" if why is None else why.remedy,
    )


def count_record(count: PodCount, cluster: str) -> CountRecord:
    """The log's entry for a count."""
    return CountRecord(
        v=VERSION,
        time=count.at,
        cluster=cluster,
        workload=count.workload,
        available=count.available,
        wanted=count.wanted,
    )


def pod_count(logged: CountRecord) -> PodCount:
    """The count that the log's entry is of."""
    return PodCount(
        at=logged.time,
        workload=logged.workload,
        available=logged.available,
        wanted=logged.wanted,
    )
