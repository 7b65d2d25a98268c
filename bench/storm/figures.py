"""What an observer wrote down, as figures."""

import statistics
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from evenkeel.model.decoding import decoded
from evenkeel_sandbox.observer.serving import Serving


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


class Percentiles(msgspec.Struct, frozen=True):
    """Of several durations, in seconds; ``count`` of them."""

    count: int
    median: float
    p99: float
    worst: float


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a storm. Times are seconds since the first notice; None: it never was.

    ``touched`` is when the first pod was released or told to go. ``off`` are the pods of the
    noticed nodes that were told to go. ``late`` were accepted later than their deadline less
    min(grace, 45 s). ``lowest_share`` is the lowest share of a workload's replicas that were
    Ready, on nodes that had not ended.
    ``made`` replacements were there at the first last moment, ``made_ready`` of them Ready.
    ``released`` is when the last release was seen, ``whole`` when every workload had all its
    replicas Ready off the noticed nodes, and ``empty`` when the last pod of those nodes was told
    to go. ``overlap`` is how long old and new pods ran side by side.
    """

    cordons: Percentiles | None
    touched: float | None
    off: Percentiles | None
    left: int
    late: int
    lowest_share: float
    below_wanted: int
    below_before_last_moment: int
    at_zero: int
    singles_dipped: int
    made: int
    made_ready: int
    whole: float | None
    empty: float | None
    fewest_ready: int
    released: float | None = None
    overlap: Percentiles | None = None

    @property
    def done(self) -> float | None:
        """When all pods were off the noticed nodes and all replicas Ready; None: never."""
        if self.whole is None or self.empty is None:
            return None
        return max(self.whole, self.empty)


@dataclass(slots=True)
class _Workload:
    replicas: int
    serving: Serving
    safe: Serving = field(default_factory=Serving)
    replaced: dict[str, float] = field(default_factory=dict)
    told: dict[str, float] = field(default_factory=dict)
    below_early: bool = False


def decode(lines: bytes) -> Sequence[Sight]:
    """What an observer wrote."""
    return [decoded(Sight, line) for line in lines.splitlines()]


def judge(
    sights: Iterable[Sight],
    replicas: Mapping[str, int],
    noticed: Mapping[str, float],
    lead: float,
    grace: float,
) -> Outcome:
    """What became of it.

    ``replicas`` wanted of each workload, ``noticed``: when each node's notice was sent, in
    seconds since 1970; its deadline is ``lead`` seconds later.
    """
    account = _Account(replicas, noticed, lead, grace)
    for sight in sights:
        account.end_nodes(sight.at)
        if sight.kind == "node":
            account.see_node(sight)
        elif sight.app in replicas:
            account.see_pod(sight)
    return account.outcome()


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
        self.made_ready: set[str] = set()
        self.touched: float | None = None
        self.released: dict[str, float] = {}
        self.whole: float | None = None
        self.late = 0
        self.missing = sum(replicas.values())
        self.serving = 0
        self.fewest: int | None = None

    def end_nodes(self, now: float) -> None:
        """What still ran on a node serves no more once that has ended, whatever its object says."""
        while self.ends and self.ends[0][0] <= now:
            _, node = self.ends.popleft()
            self.ended.add(node)
            for workload in self.workloads.values():
                self.serving -= workload.serving.lose(node)
                workload.serving.look()

    def see_node(self, sight: Sight) -> None:
        if sight.name in self.noticed and sight.cordoned:
            self.cordons.setdefault(sight.name, sight.at - self.noticed[sight.name])

    def see_pod(self, sight: Sight) -> None:
        doomed = sight.node in self.noticed
        if doomed:
            self._see_doomed(sight)
        self._see_made(sight, doomed=doomed)
        self._count(sight, doomed=doomed)
        if sight.at < self.began:
            return
        if sight.released:
            self.released.setdefault(sight.uid, sight.at - self.began)
        if self.touched is None and (sight.released or (sight.leaving and doomed)):
            self.touched = sight.at - self.began
        self.fewest = self.serving if self.fewest is None else min(self.fewest, self.serving)
        if self.missing == 0 and self.whole is None:
            self.whole = sight.at - self.began

    def _see_doomed(self, sight: Sight) -> None:
        self.on_noticed.setdefault(sight.uid, sight.node)
        if (sight.leaving or sight.gone) and sight.uid not in self.going:
            self.going[sight.uid] = sight.at
            self.workloads[sight.app].told[sight.uid] = sight.at
            self.late += sight.at > self.noticed[sight.node] + self.lead

    def _see_made(self, sight: Sight, *, doomed: bool) -> None:
        if sight.at < self.began:
            self.known.add(sight.uid)
            return
        if sight.uid in self.known:
            return
        replaces = sight.serves and not doomed
        if replaces:
            self.workloads[sight.app].replaced.setdefault(sight.uid, sight.at)
        if sight.at <= self.began + self.lead:
            self.made.add(sight.uid)
            if replaces:
                self.made_ready.add(sight.uid)

    def _count(self, sight: Sight, *, doomed: bool) -> None:
        workload = self.workloads[sight.app]
        serving, safe = workload.serving, workload.safe
        before, safe_before = serving.ready, safe.ready
        runs = sight.serves and sight.node not in self.ended
        serving.see(sight.uid, sight.node, serves=runs)
        safe.see(sight.uid, sight.node, serves=sight.serves and not doomed)
        self.serving += serving.ready - before
        self.missing -= min(safe.ready, workload.replicas)
        self.missing += min(safe_before, workload.replicas)
        if sight.at >= self.began:
            serving.look()
            if serving.ready < workload.replicas and sight.at < self.began + self.lead:
                workload.below_early = True

    def outcome(self) -> Outcome:
        workloads = self.workloads.values()
        lowest = [(each.serving.lowest, each.replicas) for each in workloads]
        going, noticed = self.going, self.noticed
        stays = [uid for uid in self.on_noticed if uid not in going]
        return Outcome(
            cordons=percentiles(self.cordons.values()),
            touched=self.touched,
            off=percentiles(at - noticed[self.on_noticed[uid]] for uid, at in going.items()),
            left=len(stays),
            late=self.late,
            lowest_share=min(fewest / wanted for fewest, wanted in lowest),
            below_wanted=sum(fewest < wanted for fewest, wanted in lowest),
            below_before_last_moment=sum(each.below_early for each in workloads),
            at_zero=sum(fewest == 0 for fewest, _ in lowest),
            singles_dipped=sum(fewest < 1 for fewest, wanted in lowest if wanted == 1),
            made=len(self.made),
            made_ready=len(self.made_ready),
            whole=self.whole,
            empty=max(going.values()) - self.began if going and not stays else None,
            fewest_ready=self.fewest or 0,
            released=max(self.released.values(), default=None),
            overlap=percentiles(
                seconds
                for each in workloads
                for seconds in overlaps(each.replaced.values(), each.told.values())
            ),
        )


def overlaps(replaced: Iterable[float], told: Iterable[float]) -> Sequence[float]:
    """How long each old pod of one workload ran beside its replacement, in seconds.

    From when the k-th replacement was Ready until the k-th old pod was told to go; 0 where that
    was told first. A replacement without an old pod, or the reverse, is left out.
    """
    return [
        max(0.0, gone - ready) for ready, gone in zip(sorted(replaced), sorted(told), strict=False)
    ]


def percentiles(durations: Iterable[float]) -> Percentiles | None:
    """The median, the 99th percentile and the worst; None of nothing."""
    ordered = sorted(durations)
    if not ordered:
        return None
    rank = max(0, -(-99 * len(ordered) // 100) - 1)
    return Percentiles(len(ordered), statistics.median(ordered), ordered[rank], ordered[-1])
