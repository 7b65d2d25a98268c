"""What an observer wrote down, and what it amounts to."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from bench.figure import Figure, percentiles
from evenkeel.model.decoding import decoded
from evenkeel_sandbox.observer.serving import Serving

STEP: Final = 2
"""Seconds between two points of a curve."""


class Sight(msgspec.Struct, frozen=True, array_like=True):
    """One change of a pod or a node, as it was seen. ``at`` is in seconds since 1970."""

    at: float
    kind: str
    uid: str
    name: str
    app: str
    node: str
    ready: bool
    leaving: bool
    released: bool
    cordoned: bool
    gone: bool

    @property
    def serves(self) -> bool:
        """Ready and not told to go: a workload's selector matches its pods, released or not."""
        return self.ready and not self.leaving and not self.gone


def decode(lines: bytes) -> Sequence[Sight]:
    """What an observer wrote."""
    return [decoded(Sight, line) for line in lines.splitlines()]


def fewest(
    sights: Iterable[Sight],
    apps: Collection[str],
    since: float,
    on: Collection[str] | None = None,
) -> Mapping[str, int]:
    """The fewest pods of each workload that served at any time since a moment.

    With ``on``, those on these nodes alone. A pod whose node is gone serves no more.
    """
    serving = {app: Serving() for app in apps}
    found = list(sights)
    begins = next((n for n, sight in enumerate(found) if sight.at >= since), len(found))
    for number, sight in enumerate(found):
        if number == begins:
            _begin(serving)
        _see(serving, sight, on)
    if begins == len(found):
        _begin(serving)
    return {app: each.lowest for app, each in serving.items()}


def ready_seconds_lost(
    sights: Iterable[Sight], replicas: Mapping[str, int], since: float, until: float
) -> float:
    """How many pods were missing of all workloads, times for how long.

    A pod is missing while fewer serve than a workload's ``replicas``; more of one workload's make
    up for none of another's. Both moments are in seconds since 1970.
    """
    serving = {app: Serving() for app in replicas}
    lost, latest = 0.0, since

    def missing() -> int:
        return sum(max(0, wanted - serving[app].ready) for app, wanted in replicas.items())

    for sight in sights:
        if sight.at > latest:
            lost += missing() * (sight.at - latest)
            latest = sight.at
        _see(serving, sight, None)
    return lost + missing() * (until - latest)


def _begin(serving: Mapping[str, Serving]) -> None:
    for each in serving.values():
        each.begin()


def _see(serving: Mapping[str, Serving], sight: Sight, on: Collection[str] | None) -> None:
    if sight.kind == "node":
        for each in serving.values() if sight.gone else ():
            each.lose(sight.name)
            each.look()
    elif sight.app in serving:
        serves = sight.serves and (on is None or sight.node in on)
        serving[sight.app].see(sight.uid, sight.node, serves=serves)
        serving[sight.app].look()


@dataclass(slots=True)
class _Workload:
    replicas: int
    serving: Serving
    safe: Serving = field(default_factory=Serving)
    replaced: dict[str, float] = field(default_factory=dict)
    told: dict[str, float] = field(default_factory=dict)


def judge(
    sights: Iterable[Sight],
    replicas: Mapping[str, int],
    noticed: Mapping[str, float],
    lead: float,
    grace: float,
) -> Sequence[Figure]:
    """What became of a storm.

    ``replicas`` wanted of each workload, ``noticed``: when each node's notice was sent, in
    seconds since 1970; its deadline is ``lead`` seconds later. Times are seconds since the first.
    """
    account = _Account(replicas, noticed, lead, grace)
    for sight in sights:
        account.end_nodes(sight.at)
        if sight.kind == "node":
            account.see_node(sight)
        elif sight.app in replicas:
            account.see_pod(sight)
    return account.figures()


class _Account:
    def __init__(
        self,
        replicas: Mapping[str, int],
        noticed: Mapping[str, float],
        lead: float,
        grace: float,
    ) -> None:
        self.noticed = noticed
        self.lead = lead - min(grace, 45.0)  # from a notice to its pods' last moment
        self.ends = deque(sorted((at + lead, node) for node, at in noticed.items()))
        self.ended: set[str] = set()
        self.began = min(noticed.values())
        self.workloads = {
            app: _Workload(wanted, Serving(lowest=wanted)) for app, wanted in replicas.items()
        }
        self.cordons: dict[str, float] = {}
        self.going: dict[str, float] = {}
        self.on_noticed: dict[str, str] = {}
        self.known: set[str] = set()
        self.made: set[str] = set()
        self.touched: float | None = None
        self.released: float | None = None
        self.whole: float | None = None
        self.late = 0
        self.missing = sum(replicas.values())
        self.ready = 0
        self.curve: list[int] = []

    def end_nodes(self, now: float) -> None:
        """What still ran on a node serves no more once that has ended, whatever its object says."""
        while self.ends and self.ends[0][0] <= now:
            at, node = self.ends.popleft()
            self.ended.add(node)
            for workload in self.workloads.values():
                before = workload.serving.ready
                workload.serving.lose(node)
                workload.serving.look()
                self._draw(at, workload, before)

    def see_node(self, sight: Sight) -> None:
        if sight.name in self.noticed and sight.cordoned:
            self.cordons.setdefault(sight.name, sight.at - self.noticed[sight.name])

    def see_pod(self, sight: Sight) -> None:
        doomed = sight.node in self.noticed
        if doomed:
            self._see_doomed(sight)
        self._see_made(sight, doomed=doomed)
        self._count(sight, doomed=doomed)
        since = sight.at - self.began
        if since < 0:
            return
        if sight.released:
            self.released = since
        if self.touched is None and (sight.released or (sight.leaving and doomed)):
            self.touched = since
        if self.missing == 0 and self.whole is None:
            self.whole = since

    def _see_doomed(self, sight: Sight) -> None:
        self.on_noticed.setdefault(sight.uid, sight.node)
        if (sight.leaving or sight.gone) and sight.uid not in self.going:
            self.going[sight.uid] = sight.at
            self.workloads[sight.app].told[sight.uid] = sight.at
            self.late += sight.at > self.noticed[sight.node] + self.lead

    def _see_made(self, sight: Sight, *, doomed: bool) -> None:
        if sight.at < self.began:
            self.known.add(sight.uid)
        elif sight.uid not in self.known:
            if sight.serves and not doomed:
                self.workloads[sight.app].replaced.setdefault(sight.uid, sight.at)
            if sight.at <= self.began + self.lead:
                self.made.add(sight.uid)

    def _count(self, sight: Sight, *, doomed: bool) -> None:
        workload = self.workloads[sight.app]
        serving, safe = workload.serving, workload.safe
        before, safe_before = serving.ready, safe.ready
        runs = sight.serves and sight.node not in self.ended
        serving.see(sight.uid, sight.node, serves=runs)
        safe.see(sight.uid, sight.node, serves=sight.serves and not doomed)
        self.missing -= min(safe.ready, workload.replicas)
        self.missing += min(safe_before, workload.replicas)
        self._draw(sight.at, workload, before)
        if sight.at >= self.began:
            serving.look()

    def _draw(self, at: float, workload: _Workload, before: int) -> None:
        """The fewest Ready pods in each step; of a workload no more than its replicas count."""
        latest = self.ready
        self.ready += min(workload.serving.ready, workload.replicas)
        self.ready -= min(before, workload.replicas)
        if at >= self.began:
            step = int(at - self.began) // STEP
            self.curve += [latest] * (step + 1 - len(self.curve))
            self.curve[step] = min(self.curve[step], self.ready)

    def figures(self) -> Sequence[Figure]:
        workloads = self.workloads.values()
        lowest = [(each.serving.lowest, each.replicas) for each in workloads]
        stays = len(self.on_noticed.keys() - self.going.keys())
        empty = max(self.going.values()) - self.began if self.going and not stays else None
        done = None if self.whole is None or empty is None else max(self.whole, empty)
        cordons = max(self.cordons.values(), default=None)
        overlap = percentiles(
            seconds
            for each in workloads
            for seconds in overlaps(each.replaced.values(), each.told.values())
        )
        return [
            Figure("workloads below wanted", sum(low < wanted for low, wanted in lowest)),
            Figure("workloads at zero", sum(low == 0 for low, _ in lowest)),
            Figure("lowest ready share", min(low / wanted for low, wanted in lowest)),
            Figure("pods too late", self.late),
            Figure("pods never told to go", stays),
            Figure("replaced in time", len(self.made)),
            Figure("nodes cordoned", len(self.cordons), shown=False),
            Figure("last node cordoned", cordons, "s"),
            Figure("first pod touched", self.touched, "s"),
            Figure("releases done", self.released, "s"),
            Figure("all off", empty, "s"),
            Figure("all Ready", self.whole, "s"),
            Figure("all off and Ready", done, "s"),
            Figure("overlap, median", overlap and overlap[0], "s"),
            Figure("overlap, worst", overlap and overlap[2], "s"),
            Figure("Ready pods", self.curve),
        ]


def overlaps(replaced: Iterable[float], told: Iterable[float]) -> Sequence[float]:
    """How long each old pod of one workload ran beside its replacement, in seconds.

    From when the k-th replacement was Ready until the k-th old pod was told to go; 0 where that
    was told first. A replacement without an old pod, or the reverse, is left out.
    """
    return [
        max(0.0, gone - ready) for ready, gone in zip(sorted(replaced), sorted(told), strict=False)
    ]
