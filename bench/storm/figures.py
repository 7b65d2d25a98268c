"""What an observer wrote down, as figures."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec


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
    Ready, ``lowest_share_in_time`` of those before the first last moment.
    ``made`` replacements were there at the first last moment, ``made_ready`` of them Ready.
    ``whole`` is when every workload had all its replicas Ready off the noticed nodes, and
    ``empty`` when the last pod of those nodes was told to go.
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


@dataclass(slots=True)
class _Workload:
    replicas: int
    serving: set[str] = field(default_factory=set)
    safe: set[str] = field(default_factory=set)
    lowest: int = 0
    below_early: bool = False


def read(path: Path) -> Sequence[Sight]:
    """An observer's file."""
    decoder = msgspec.json.Decoder(Sight)
    return [decoder.decode(line) for line in path.read_bytes().splitlines()]


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
    began = min(noticed.values())
    last_moment = began + lead - min(grace, 45.0)
    workloads = {app: _Workload(wanted, lowest=wanted) for app, wanted in replicas.items()}
    cordons: dict[str, float] = {}
    going: dict[str, float] = {}
    on_noticed: dict[str, str] = {}
    touched: float | None = None
    late = 0
    known: set[str] = set()
    made: set[str] = set()
    made_ready: set[str] = set()
    missing = sum(replicas.values())
    whole: float | None = None
    serving_now = 0
    fewest: int | None = None
    for sight in sights:
        if sight.kind == "node":
            if sight.name in noticed and sight.cordoned and sight.name not in cordons:
                cordons[sight.name] = sight.at - noticed[sight.name]
            continue
        workload = workloads.get(sight.app)
        if workload is None:
            continue
        doomed = sight.node in noticed
        if sight.at < began:
            known.add(sight.uid)
        elif sight.uid not in known and sight.at <= last_moment:
            made.add(sight.uid)
            if sight.serves and not doomed:
                made_ready.add(sight.uid)
        if doomed and sight.uid not in on_noticed:
            on_noticed[sight.uid] = sight.node
        if (sight.leaving or sight.gone) and doomed and sight.uid not in going:
            going[sight.uid] = sight.at
            late += sight.at > noticed[sight.node] + lead - min(grace, 45.0)
        if sight.at >= began and touched is None and (sight.released or sight.leaving):
            touched = sight.at - began
        before, safe_before = len(workload.serving), len(workload.safe)
        _put(workload.serving, sight.uid, sight.serves)
        _put(workload.safe, sight.uid, sight.serves and not doomed)
        serving_now += len(workload.serving) - before
        missing -= min(len(workload.safe), workload.replicas) - min(safe_before, workload.replicas)
        if sight.at >= began:
            fewest = serving_now if fewest is None else min(fewest, serving_now)
            if len(workload.serving) < workload.lowest:
                workload.lowest = len(workload.serving)
            if len(workload.serving) < workload.replicas and sight.at < last_moment:
                workload.below_early = True
            if missing == 0 and whole is None:
                whole = sight.at - began
    stays = [uid for uid in on_noticed if uid not in going]
    return Outcome(
        cordons=percentiles(cordons.values()),
        touched=touched,
        off=percentiles(at - noticed[on_noticed[uid]] for uid, at in going.items()),
        left=len(stays),
        late=late,
        lowest_share=min(each.lowest / each.replicas for each in workloads.values()),
        below_wanted=sum(each.lowest < each.replicas for each in workloads.values()),
        below_before_last_moment=sum(each.below_early for each in workloads.values()),
        at_zero=sum(each.lowest == 0 for each in workloads.values()),
        singles_dipped=sum(each.lowest < 1 for each in workloads.values() if each.replicas == 1),
        made=len(made),
        made_ready=len(made_ready),
        whole=whole,
        empty=max(going.values()) - began if going and not stays else None,
        fewest_ready=fewest or 0,
    )


def percentiles(durations: Iterable[float]) -> Percentiles | None:
    """The median, the 99th percentile and the worst; None of nothing."""
    ordered = sorted(durations)
    if not ordered:
        return None
    rank = max(0, -(-99 * len(ordered) // 100) - 1)
    return Percentiles(len(ordered), statistics.median(ordered), ordered[rank], ordered[-1])


def _put(group: set[str], uid: str, belongs: bool) -> None:  # noqa: FBT001 - a set's own two states
    (group.add if belongs else group.discard)(uid)
