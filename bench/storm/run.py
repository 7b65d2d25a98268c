"""One scenario from its beginning to its end, and what was measured."""

from collections.abc import Mapping
from pathlib import Path

from bench import machine
from bench.storm import aws, site, worker
from bench.storm.aws import Aws
from bench.storm.results import Result, Round, summary
from bench.storm.scenario import Scenario
from bench.storm.site import Site
from bench.storm.storm import Say, Storm


def run(scenario: Scenario, rounds: int, say: Say, log: Path, *, beside: bool = False) -> Result:
    """Run a scenario, so many storms on one cluster.

    ``beside``: then a bare deletion of the same pods and `kubectl drain`, on the same cluster.
    """
    with site.launched() as control_plane, aws.started() as stand_in:
        cluster = Site(control_plane, scenario, _launch(stand_in, scenario.spot))
        storm = Storm(scenario, cluster, stand_in, say)
        say(f"{scenario.name}: {scenario.title}")
        fill = cluster.fill()
        say(f"fill: {scenario.pods} pods Ready from nothing in {fill:.1f} s")
        if not scenario.late:
            cluster.add_idle_nodes()
        cluster.limit_controllers()
        done: list[Round] = []
        with worker.started(stand_in, control_plane.kubeconfig, log) as process:
            for number in range(rounds):
                if number:
                    _refill(cluster, stand_in, say)
                done.append(storm.round(fill, process))
                say(summary(done[-1].outcome, fill))
            code = process.end()
            assert code == 0, f"the worker ended with {code}: {process.lines[-3:]}"
            peak = process.peak_mb
        deletion = drain = None
        if beside:
            _refill(cluster, stand_in, say)
            say("beside it: every pod deleted at once")
            deletion = storm.delete_all()
            say(summary(deletion.outcome, fill))
            _refill(cluster, stand_in, say)
            say("beside it: kubectl drain on every node at once")
            drain = storm.drain()
            say(summary(drain.outcome, fill))
        return Result(
            scenario=scenario.name,
            title=scenario.title,
            condition=scenario.limit.value,
            pods=scenario.pods,
            machine=machine.look(),
            worker=worker.how_held(),
            rounds=done,
            deletion=deletion,
            drain=drain,
            peak_mb=peak,
            messages_left=stand_in.left(),
        )


def _refill(cluster: Site, stand_in: Aws, say: Say) -> None:
    """New spot nodes, and all pods on them again."""
    cluster.replace_spot_nodes(_launch(stand_in, cluster.scenario.spot))
    say(f"all pods are on spot nodes again after {cluster.refill():.1f} s")


def _launch(stand_in: Aws, count: int) -> Mapping[str, str]:
    instances = stand_in.launch(count)
    return stand_in.dns_names(instances)
