"""The time line: how many of the wanted pods serve, beside a plain eviction, and who moved pods."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from evenkeel.model.interruption import Key, key_of
from evenkeel.model.pod_count import PodCount
from evenkeel.model.reasons import Reason
from evenkeel_cli.history.counts import Cause, Count
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.workloads import WorkloadAccount
from evenkeel_cli.screen.known import Known
from evenkeel_cli.screen.views import Counted, Course, Minute, Moves, Point

MINUTE: Final = 60

HINTS: Final = frozenset({Reason.REBALANCE_RECOMMENDATION, Reason.DRAIN_ASKED})
"""The reasons of marks after which a node may well live on."""


def ends(account: Incident) -> datetime:
    """When the last pod that had to move was decided about, and the last dip was over.

    The last node had to be gone by then. A hint that expires much later is no part of the storm,
    for the node lives on, nor are moves of restore, nor how long somebody went on counting a
    workload that stayed low.
    """
    times = [step.time for pod in account.to_move for step in pod.steps]
    times += [
        count.until or count.at
        for each in account.workloads
        for count in each.counts[:-1]
        if count.cause is Cause.STORM
    ]
    times += _deadlines(account)
    times += [node.noticed_at for node in account.nodes if node.noticed_at is not None]
    return max(times, default=account.ends)


def seconds(account: Incident, at: datetime) -> float:
    """How long after the beginning that was, in milliseconds at the closest."""
    return round((at - account.begins).total_seconds(), 3)


def counts(known: Known, account: Incident, workload: WorkloadAccount) -> Sequence[Counted]:
    """What was counted of a workload up to now, and at least the first of it.

    Once all is told it is not known how it went on after a low count that ends the log.
    """
    shown = [c for n, c in enumerate(workload.counts) if n == 0 or c.at <= known.at]
    found = [_counted(account, each) for each in shown]
    if known.over and shown and shown[-1].is_low and shown[-1].until is None:
        found.append(Counted(found[-1].at, None, found[-1].wanted, by_others=False))
    return found


def of(known: Known, account: Incident, counts: Mapping[Key, Sequence[Counted]]) -> Course:
    """The time line of the workloads whose ``counts`` are all known."""
    shown = {
        key: each
        for key, each in counts.items()
        if each and all(count.available is not None for count in each)
    }
    beside = defaultdict[Key, list[Counted]](list)
    for count in known.plain:
        key = key_of(count.workload)
        if key in shown and not (known.over and count.at > known.at):
            beside[key].append(_counted(account, count))
    plain = _sum(beside.values())
    now = seconds(account, known.at)
    later = [*(seconds(account, each) for each in _deadlines(account)), *(p.at for p in plain)]
    return Course(
        now=now,
        lasts=max(1.0, now, *(() if known.over else later)),
        points=_sum(shown.values()),
        plain=plain,
        moves=_moves(account),
        minutes=_minutes(account, now),
    )


def _counted(account: Incident, count: PodCount) -> Counted:
    by_others = isinstance(count, Count) and count.is_others
    return Counted(seconds(account, count.at), count.available, count.wanted, by_others)


def _deadlines(account: Incident) -> Sequence[datetime]:
    """Those that are their nodes' ends; that of a hint is when the hint expires."""
    dying = (node for node in account.nodes if node.kind not in HINTS)
    return [node.deadline for node in dying if node.deadline is not None]


def _sum(all_counts: Iterable[Sequence[Counted]]) -> Sequence[Point]:
    """All of them together. A workload counts from the beginning with its first count."""
    serving = wanted = 0
    changes = list[tuple[float, int, int]]()
    for each in all_counts:
        before = (0, 0)
        for number, (at, available, its, _) in enumerate(each):
            now = (min(available or 0, its), its)
            change = (now[0] - before[0], now[1] - before[1])
            changes.append((0.0 if number == 0 else max(0.0, at), *change))
            before = now
    found = dict[float, Point]()
    for at, more, more_wanted in sorted(changes):
        serving, wanted = serving + more, wanted + more_wanted
        found[at] = Point(at, serving, wanted)
    return list(found.values())


def _moves(account: Incident) -> Sequence[Moves]:
    """Those of pods that Evenkeel told to go."""
    own = Counter(
        (int(seconds(account, pod.went_at)), pod.cause is Cause.RESTORE)
        for pod in account.pods
        if pod.went_at is not None and pod.cause in {Cause.STORM, Cause.RESTORE}
    )
    return [Moves(at, pods, restoring) for (at, restoring), pods in sorted(own.items())]


def _minutes(account: Incident, now: float) -> Sequence[Minute]:
    """One for each that has begun."""
    deadlines = {node.name: node.deadline for node in account.nodes}
    pods = account.to_move
    times: Mapping[str, Iterable[datetime | None]] = {
        "noticed": (node.noticed_at for node in account.nodes),
        "deadlines": _deadlines(account),
        "released": (pod.released_at for pod in pods),
        "went": (pod.went_at for pod in pods),
        "late": (pod.went_at or deadlines.get(pod.node) for pod in pods if pod.is_late),
    }
    happened = {
        what: Counter(_minute(account, at) for at in all_of_it if at is not None)
        for what, all_of_it in times.items()
    }
    below = Counter(
        minute for each in account.workloads for minute in _minutes_below(account, each)
    )
    return [
        Minute(
            at=minute * MINUTE,
            below=below[minute],
            **{what: numbers[minute] for what, numbers in happened.items()},
        )
        for minute in range(int(now) // MINUTE + 1)
    ]


def _minutes_below(account: Incident, workload: WorkloadAccount) -> set[int]:
    """In which minutes the interruption left a workload too few pods."""
    return {
        minute
        for count in workload.counts
        if count.cause is Cause.STORM
        for minute in range(
            _minute(account, count.at), _minute(account, count.until or count.at) + 1
        )
    }


def _minute(account: Incident, at: datetime) -> int:
    return int(seconds(account, at)) // MINUTE
