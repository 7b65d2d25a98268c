"""Runs of restore one after the other, until every workload is as wanted."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench import conditions
from bench.floors.figures import stands, wanted
from bench.placement.site import used
from bench.restoring.results import Restored, Run
from bench.say import Say
from bench.storm import aws, worker
from bench.storm.aws import CLUSTER, REGION, Aws
from bench.storm.beside import observed
from bench.storm.scenario import Scenario
from bench.storm.site import Site, launched
from bench.storm.webhook import asking
from bench.storm.workloads import NAMESPACE
from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.adapters.clock import SystemClock
from evenkeel.handlers import Handler
from evenkeel.settings import Mode, RestoreSettings
from evenkeel_hosting import functions
from evenkeel_hosting.events import schedule_event
from evenkeel_hosting.functions import Ports
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.kubeconfig import from_kubeconfig

SCENARIO: Final = Scenario("restore", "all pods on on-demand nodes, then spot comes", percent=20)

THROUGH: Final = 120.0
"""Seconds until a run's moves are through, or are left to the next one."""

RELEASED: Final = "labelSelector=evenkeel.dev%2Freleased-from"


def run(nodes: int, longest: float, log: Path, say: Say) -> Restored:
    """Measure with so many spot nodes, and all else in proportion, for so many seconds at most."""
    scenario = SCENARIO.of(nodes)
    say(f"{scenario.pods} pods, {scenario.title}")
    with (
        launched() as control_plane,
        aws.started() as stand_in,
        asking(control_plane) as webhook,
    ):
        site = Site(control_plane, scenario, {})
        site.add_idle_nodes()
        fill = site.fill()
        say(f"fill: all of them Ready on on-demand nodes in {fill:.1f} s")
        site.replace_spot_nodes((), stand_in.nodes(scenario.spot))
        say(f"{scenario.spot} spot nodes are there")
        with (
            worker.started(stand_in, control_plane.kubeconfig, log) as process,
            _restore(control_plane.kubeconfig, stand_in) as restore,
        ):
            cpu_before = process.cpu_seconds
            with observed(site.control_plane) as seen:
                since = time.time()  # noqa: TID251 - the observer's clock
                seconds = restore.act(site, longest, say)
                time.sleep(1)  # noqa: TID251 - for the observer to see the last of it
            cpu = process.cpu_seconds - cpu_before
            process.end()
        return Restored(
            conditions=conditions.look(),
            worker=worker.how_held(),
            pods=scenario.pods,
            spot=scenario.spot,
            on_demand=scenario.idle,
            percent=scenario.percent,
            budget=restore.budget,
            surplus=scenario.pods - sum(scenario.floors.values()),
            runs=restore.runs,
            seconds=seconds,
            stands=stands(seen.sights, wanted(scenario), set(site.spot.values()), since),
            restore_cpu=restore.cpu_seconds,
            handover_cpu=cpu,
            peak_mb=process.peak_mb,
            webhook=used(control_plane, webhook),
        )


@dataclass(slots=True)
class _Restore:
    """The function, invoked as its schedule does; what came of each run."""

    handler: Handler
    recorder: InMemoryRecorder
    clock: SystemClock
    budget: int
    runs: list[Run] = field(default_factory=list)
    cpu_seconds: float = 0.0

    def act(self, site: Site, longest: float, say: Say) -> float:
        """Run until all workloads are as wanted, or so many seconds are over.

        Each run begins when the moves of the one before it are through. The seconds until the last
        moves were; the run that finds nothing to be done any more is not counted.
        """
        began = time.monotonic()
        seconds = 0.0
        while time.monotonic() - began < longest:
            latest = self._run(site)
            as_wanted = (self.recorder.values["WorkloadsAsWanted"] or [0])[-1]
            if as_wanted == len(site.scenario.replicas):
                break
            self.runs.append(latest)
            say(
                f"run {len(self.runs)}: {latest.moves} moves in {latest.own:.1f} s, through after"
                f" {latest.through:.1f} s; {as_wanted:.0f} workloads were as wanted"
            )
            if latest.moves:
                seconds = time.monotonic() - began
            else:
                time.sleep(1)  # noqa: TID251 - what it waits for passes by itself
        return seconds

    def _run(self, site: Site) -> Run:
        before = self.recorder.total("MovesBegun")
        began, cpu = time.monotonic(), time.process_time()
        self.handler(schedule_event(self.clock.now()), None)
        own = time.monotonic() - began
        self.cpu_seconds += time.process_time() - cpu
        while _moving(site) and time.monotonic() - began < THROUGH:
            time.sleep(0.2)  # noqa: TID251 - a real cluster has its own clock
        moves = round(self.recorder.total("MovesBegun") - before)
        return Run(moves=moves, own=own, through=time.monotonic() - began)


def _moving(site: Site) -> bool:
    """Whether a pod is released that was not told to go yet."""
    pods = site.control_plane.items("v1", "Pod", NAMESPACE, RELEASED)
    return any("deletionTimestamp" not in pod["metadata"] for pod in pods)


@contextmanager
def _restore(kubeconfig: Path, stand_in: Aws) -> Iterator[_Restore]:
    """The restore function, bound to the cluster and to the queue of the wake-ups."""
    settings = RestoreSettings(mode=Mode.ACT, cluster_name=CLUSTER)
    recorder, clock = InMemoryRecorder(), SystemClock()
    with from_kubeconfig(kubeconfig=str(kubeconfig)) as cluster:
        instances = Ec2Instances(REGION, stand_in.ec2)
        wake_ups = SqsQueue(stand_in.wake_up_queue, REGION, stand_in.sqs)
        handler = functions.restore(settings, Ports(cluster, instances, clock, recorder), wake_ups)
        yield _Restore(handler, recorder, clock, settings.moves)
