"""What became of a drain, from what an observer wrote down."""

from collections.abc import Collection, Iterable, Mapping

import msgspec

from bench.storm.figures import Sight
from evenkeel_sandbox.observer.serving import Serving


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How the workloads stood, and how long the nodes took.

    ``lowest``: the fewest Ready pods, not told to go, that each workload ever had. The times are
    seconds since the first pod of the nodes was released or told to go; None: it never was.
    ``empty``: until the last of their pods was gone, ``gone``: until the nodes were. ``left``: so
    many pods stayed.
    """

    lowest: Mapping[str, int]
    empty: float | None
    gone: float | None
    left: int


def judge(sights: Iterable[Sight], replicas: Mapping[str, int], nodes: Collection[str]) -> Outcome:
    """What became of it. ``nodes`` are those that were to be drained, full when it began."""
    serving = {name: Serving(lowest=wanted) for name, wanted in replicas.items()}
    waiting = sum(replicas.values())
    there: set[str] = set()
    standing = set(nodes)
    touched = empty = gone = None
    for sight in sights:
        if sight.kind == "node":
            if sight.gone and sight.name in standing:
                standing.remove(sight.name)
                gone = sight.at if not standing else None
        elif sight.app in replicas:
            count = serving[sight.app]
            count.see(sight.uid, sight.node, serves=sight.serves)
            # Until all are listed there are fewer only because the observer has not read on.
            waiting -= sight.serves and waiting > 0
            if not waiting:
                count.look()
            if sight.node not in nodes:
                continue
            if touched is None and (sight.released or sight.leaving or sight.gone):
                touched = sight.at
            if sight.gone:
                there.discard(sight.uid)
            else:
                there.add(sight.uid)
            empty = None if there else sight.at
    return Outcome(
        lowest={name: each.lowest for name, each in serving.items()},
        empty=_since(touched, empty),
        gone=_since(touched, gone),
        left=len(there),
    )


def _since(began: float | None, at: float | None) -> float | None:
    return None if began is None or at is None else at - began
