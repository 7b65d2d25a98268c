"""Restore.

All 3,000 pods of the storm are on on-demand nodes; the 50 Deployments of 59 have a floor of a
fifth, those of one have none. Then 100 spot nodes come, and the restore function is invoked again
and again, each time when the moves of the run before are through. With one move at a time per
workload and 50 in a run it takes 48 runs at least. A number is that of the spot nodes, with all
else in proportion.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from bench.figure import NONE, Figure, Mark
from bench.lab import webhook, worker
from bench.lab.beside import observed
from bench.lab.cluster import Cluster, launched
from bench.lab.lab import Lab
from bench.lab.manifests import NAMESPACE
from bench.lab.scenario import Scenario
from bench.lab.sights import fewest
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
from tests.kit import moto_server
from tests.kit.control_plane import ControlPlane
from tests.kit.moto_server import CLUSTER, REGION, Aws

NOTES: Final = """\
- `evenkeel poll`, which finishes the moves, has the same schedule and begins some of its own.
"""
SIZES: Final = ("20", "100")
SCENARIO: Final = Scenario("all pods on on-demand nodes, then spot comes", percent=20)
LONGEST: Final = 900.0
THROUGH: Final = 120.0
"""Seconds until a run's moves are through, or are left to the next one."""
RELEASED: Final = "labelSelector=evenkeel.dev%2Freleased-from"


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """Runs of restore until every workload is as wanted."""
    scenario = SCENARIO.of(int(size))
    replicas, floors = scenario.replicas, scenario.floors
    with (
        launched() as control_plane,
        moto_server.started() as stand_in,
        webhook.asking(control_plane, NAMESPACE) as asked,
    ):
        cluster = Cluster(control_plane, scenario, {})
        cluster.add_idle_nodes()
        lab.say(f"{scenario.pods} pods Ready on on-demand nodes in {cluster.fill():.1f} s")
        cluster.add_spot_nodes(stand_in.nodes(scenario.spot))
        with (
            worker.started(stand_in, control_plane.kubeconfig, lab.log("poll")) as process,
            _restore(control_plane, stand_in) as (handler, recorder),
            observed(control_plane) as seen,
        ):
            since, began = time.time(), time.monotonic()  # noqa: TID251 - the observer's clock
            runs, cpu, seconds = 0, process.cpu_seconds, 0.0
            while time.monotonic() - began < LONGEST:
                before = recorder.total("MovesBegun")
                handler(schedule_event(SystemClock().now()), None)
                _wait(control_plane)
                if recorder.values["WorkloadsAsWanted"][-1:] == [len(replicas)]:
                    break
                runs, seconds = runs + 1, time.monotonic() - began
                moves = recorder.total("MovesBegun") - before
                lab.say(f"run {runs}: {moves:.0f} moves, through after {seconds:.0f} s in all")
            cpu = process.cpu_seconds - cpu
            time.sleep(1)  # noqa: TID251 - for the observer to see the last of it
        used = webhook.used(control_plane, asked)
        pods = control_plane.items("v1", "Pod", NAMESPACE)
    on_demand = [pod for pod in pods if pod["spec"].get("nodeName") in cluster.idle]
    ready = fewest(seen.sights, replicas, since)
    kept = fewest(seen.sights, replicas, since, on=cluster.idle)
    wanted, surplus = sum(floors.values()), scenario.pods - sum(floors.values())
    return [
        Figure("pods above their floors", surplus),
        Figure("moves of these runs", recorder.total("MovesBegun")),
        Figure("runs", runs),
        Figure("until all are through", seconds, "s"),
        Figure("on on-demand at the end", len(on_demand), mark=Mark(most=wanted, least=wanted)),
        Figure("workloads below wanted", _below(ready, replicas), mark=NONE),
        Figure("workloads below their floor", _below(kept, floors), mark=NONE),
        Figure("CPU of the handovers", cpu, "s"),
        *used,
    ]


def _below(lowest: Mapping[str, int], wanted: Mapping[str, int]) -> int:
    return sum(lowest[name] < least for name, least in wanted.items())


def _wait(control_plane: ControlPlane) -> None:
    """Until no pod is released that was not told to go yet, or for so long."""
    give_up = time.monotonic() + THROUGH
    while time.monotonic() < give_up:
        pods = control_plane.items("v1", "Pod", NAMESPACE, RELEASED)
        if all("deletionTimestamp" in pod["metadata"] for pod in pods):
            return
        time.sleep(0.2)  # noqa: TID251 - a real cluster has its own clock


@contextmanager
def _restore(
    control_plane: ControlPlane, stand_in: Aws
) -> Iterator[tuple[Handler, InMemoryRecorder]]:
    """The restore function, bound to the cluster and to the queue of the wake-ups."""
    settings = RestoreSettings(mode=Mode.ACT, cluster_name=CLUSTER)
    recorder = InMemoryRecorder()
    with from_kubeconfig(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        ports = Ports(cluster, Ec2Instances(REGION, stand_in.ec2), SystemClock(), recorder)
        wake_ups = SqsQueue(stand_in.wake_up_queue, REGION, stand_in.sqs)
        yield functions.restore(settings, ports, wake_ups), recorder
