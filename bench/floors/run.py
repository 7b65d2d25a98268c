"""All spot nodes of a cluster noticed at once, whose on-demand nodes the floors have filled."""

from pathlib import Path
from typing import Final

from bench import conditions
from bench.floors.figures import overdue, stands, wanted
from bench.floors.results import Floors, Run
from bench.placement.site import used
from bench.say import Say
from bench.storm import aws, worker
from bench.storm.feed import evenly
from bench.storm.results import summary
from bench.storm.scenario import Scenario
from bench.storm.site import Site, launched
from bench.storm.storm import LEAD, Storm
from bench.storm.webhook import asking

SCENARIO: Final = Scenario(
    "floors",
    "floors fill the on-demand nodes, and nothing has room for a replacement",
    size=57,
    ordinals=3,
    percent=20,
    idle=50,
    per_idle=14,
)
"""12 of 57 and 2 of 3 replicas, 50 times: 700 pods on on-demand nodes with room for 700."""


def run(nodes: int, runs: int, log: Path, say: Say) -> Floors:
    """Measure so many storms of so many spot nodes, and all else in proportion."""
    scenario = SCENARIO.of(nodes)
    assert sum(scenario.floors.values()) == scenario.idle * scenario.per_idle
    return Floors(
        worker=worker.how_held(),
        pods=scenario.pods,
        spot=scenario.spot,
        on_demand=scenario.idle,
        percent=scenario.percent,
        runs=[_storm(scenario, log, say) for _ in range(runs)],
    )


def _storm(scenario: Scenario, log: Path, say: Say) -> Run:
    """One storm, on a cluster of its own."""
    say(f"{scenario.pods} pods, {scenario.title}")
    with (
        launched() as control_plane,
        aws.started() as stand_in,
        asking(control_plane) as webhook,
    ):
        site = Site(control_plane, scenario, stand_in.nodes(scenario.spot))
        site.add_idle_nodes()
        fill = site.fill()
        say(f"fill: all of them Ready from nothing in {fill:.1f} s")
        storm = Storm(site, stand_in, fill, say)
        with worker.started(stand_in, storm.kubeconfig, log) as process:
            cpu_before = process.cpu_seconds
            endured = storm.endure(evenly(list(site.spot), 0.0))
            cpu = process.cpu_seconds - cpu_before
            process.end()
        say(summary(endured.outcome, fill))
        noticed = endured.noticed
        return Run(
            conditions=conditions.look(),
            fill=fill,
            stands=stands(endured.sights, wanted(scenario), set(noticed), min(noticed.values())),
            outcome=endured.outcome,
            overdue=overdue(endured.sights, noticed, LEAD),
            cpu_seconds=cpu,
            peak_mb=process.peak_mb,
            webhook=used(control_plane, webhook),
        )
