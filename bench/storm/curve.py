"""How many pods were Ready in the course of a storm, for the picture of it."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from bench.storm.figures import Sight
from evenkeel_sandbox.observer.serving import Serving

STEP: Final = 2
"""Seconds between two points."""


def ready(
    sights: Iterable[Sight],
    replicas: Mapping[str, int],
    noticed: Mapping[str, float],
    lead: float,
) -> Sequence[int]:
    """The fewest Ready pods in each step from the first notice on.

    Of a workload no more than its ``replicas`` count. A pod that was told to go does not count,
    and neither does one whose node has ended, ``lead`` seconds after its notice.
    """
    began = min(noticed.values())
    points: list[int] = []
    latest = 0
    for at, count in _counts(sights, replicas, noticed, lead):
        if at >= began:
            step = int(at - began) // STEP
            points += [latest] * (step + 1 - len(points))
            points[step] = min(points[step], count)
        latest = count
    return points


def _counts(
    sights: Iterable[Sight],
    replicas: Mapping[str, int],
    noticed: Mapping[str, float],
    lead: float,
) -> Iterator[tuple[float, int]]:
    """How many pods are Ready after each change, and when that was."""
    workloads = {app: Serving() for app in replicas}
    ends = deque(sorted((at + lead, node) for node, at in noticed.items()))
    ended: set[str] = set()

    def count() -> int:
        return sum(min(each.ready, replicas[app]) for app, each in workloads.items())

    for sight in sights:
        while ends and ends[0][0] <= sight.at:
            at, node = ends.popleft()
            ended.add(node)
            for each in workloads.values():
                each.lose(node)
            yield at, count()
        if sight.app in workloads:
            serves = sight.serves and sight.node not in ended
            workloads[sight.app].see(sight.uid, sight.node, serves=serves)
            yield sight.at, count()
