"""The time line: how many of the wanted pods serve, beside a plain eviction, and who moved pods."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from evenkeel.adapters.telemetry.decision_log import CountRecord
from evenkeel.model.interruption import Key, key_of
from evenkeel_cli.history.counts import Cause
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.output import Item
from evenkeel_cli.page.data import HINTS


class Point(NamedTuple):
    """From so many seconds on so many of the wanted pods serve."""

    at: float
    serving: int
    wanted: int


class Moves(NamedTuple):
    """So many pods went in this second on Evenkeel's part; ``restoring``: not for a notice."""

    at: int
    pods: int
    restoring: bool


class Course(Item, frozen=True, kw_only=True):
    """How it went, in seconds from the beginning: up to ``now``; ``lasts`` is where the line ends.

    ``plain`` is empty where no plain eviction was simulated. A pod beyond those that its workload
    wants serves nobody here: it does not make up for one that another workload lacks.
    """

    begins: datetime
    now: float
    lasts: float
    points: Sequence[Point] = ()
    plain: Sequence[Point] = ()
    moves: Sequence[Moves] = ()


type _Counted = tuple[datetime, int, int]
"""When, how many pods were available, and how many wanted."""


def of(incident: Incident, plain: Iterable[CountRecord], now: datetime) -> Course:
    """The time line of the workloads whose counts are all known."""
    begins = incident.begins
    counts = {
        key_of(each.subject): [
            (c.at, c.available, c.wanted) for c in each.counts if c.available is not None
        ]
        for each in incident.workloads
        if each.counts and all(c.available is not None for c in each.counts)
    }
    beside = defaultdict[Key, list[_Counted]](list)
    for record in plain:
        key = key_of(record.workload)
        if key in counts and record.available is not None:
            beside[key].append((record.time, record.available, record.wanted))
    points, plain_points = _sum(counts, begins), _sum(beside, begins)
    deadlines = (
        n.deadline for n in incident.nodes if n.deadline is not None and n.kind not in HINTS
    )
    ends = [(at - begins).total_seconds() for at in (now, *deadlines)]
    return Course(
        begins=begins,
        now=ends[0],
        lasts=max(1.0, *ends, *(each.at for each in plain_points)),
        points=points,
        plain=plain_points,
        moves=_moves(incident),
    )


def _sum(counts: Mapping[Key, Sequence[_Counted]], begins: datetime) -> Sequence[Point]:
    """All of them together. A workload counts from the beginning with its first count."""
    serving = wanted = 0
    changes = list[tuple[float, int, int]]()
    for each in counts.values():
        before = (0, 0)
        for number, (at, available, its) in enumerate(each):
            now = (min(available, its), its)
            change = (now[0] - before[0], now[1] - before[1])
            seconds = 0.0 if number == 0 else max(0.0, (at - begins).total_seconds())
            changes.append((seconds, *change))
            before = now
    found = dict[float, Point]()
    for seconds, more, more_wanted in sorted(changes):
        serving, wanted = serving + more, wanted + more_wanted
        found[seconds] = Point(seconds, serving, wanted)
    return list(found.values())


def _moves(incident: Incident) -> Sequence[Moves]:
    """Those of pods that Evenkeel told to go."""
    own = Counter(
        (int((pod.went_at - incident.begins).total_seconds()), pod.cause is Cause.RESTORE)
        for pod in incident.pods
        if pod.went_at is not None and pod.cause in {Cause.STORM, Cause.RESTORE}
    )
    return [Moves(at, pods, restoring) for (at, restoring), pods in sorted(own.items())]
