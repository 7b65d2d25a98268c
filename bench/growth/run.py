"""Storms of several sizes in one cluster, and the largest in one with much else in it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench import conditions
from bench.growth.results import Growth, Point
from bench.say import Say
from bench.storm import worker
from bench.storm.feed import evenly
from bench.storm.results import summary
from bench.storm.scenario import SCENARIOS, Scenario
from bench.storm.storm import Storm, prepared

PARTS: Final = (1, 2, 4)
"""All nodes are doomed, half of them, a quarter.

All of them first: as beside bystanders, it is the first storm that its cluster and its worker see.
"""

ALONE: Final = replace(SCENARIOS["A"], name="growth", title="all nodes doomed, half, a quarter")
BESIDE: Final = replace(
    ALONE, title="all nodes doomed beside 10,000 idle pods", bystanders=10_000, further=300
)


def run(nodes: int, log: Path, say: Say) -> Growth:
    """Measure with so many spot nodes, and all else in proportion."""
    points = _measure(ALONE.of(nodes), [nodes // part for part in PARTS], log, say)
    points += _measure(BESIDE.of(nodes), [nodes], log, say)
    return Growth(conditions=conditions.look(), worker=worker.how_held(), points=points)


def _measure(scenario: Scenario, sizes: Sequence[int], log: Path, say: Say) -> list[Point]:
    points: list[Point] = []
    with (
        prepared(scenario, say) as storm,
        worker.started(storm.aws, storm.kubeconfig, log) as process,
    ):
        gone: Sequence[str] = ()
        for doomed in sizes:
            if gone:
                storm.refill(gone)
            gone = list(storm.site.spot)[:doomed]
            points.append(_storm(storm, scenario, gone))
            say(f"{doomed} doomed: {summary(points[-1].outcome, storm.fill)}")
        process.end()
    return points


def _storm(storm: Storm, scenario: Scenario, doomed: Sequence[str]) -> Point:
    return Point(
        doomed=len(doomed),
        pods=scenario.pods * len(doomed) // scenario.spot,
        total=scenario.pods,
        nodes=scenario.spot + scenario.idle + scenario.further,
        bystanders=scenario.bystanders,
        fill=storm.fill,
        outcome=storm.endure(evenly(doomed, 0.0)).outcome,
    )
