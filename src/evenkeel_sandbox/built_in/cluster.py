"""Bringing the built-in cluster up: its pods run before anything happens to its nodes."""

from datetime import timedelta
from typing import Final

from evenkeel_sandbox.built_in import fleet, placing, workloads
from evenkeel_sandbox.simulator.api.objects import Obj
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions

SEED: Final = 20
SETTLING: Final = timedelta(seconds=1)
PATIENCE: Final = timedelta(minutes=5)
JOINING: Final = timedelta(seconds=30)

OPTIONS: Final = SimulatorOptions(seed=SEED, start_seconds=(3.0, 12.0), stop_seconds=(1.0, 5.0))
"""A pod takes 3 to 12 s to start, as with images that are not large and mostly cached."""


def build(clock: SimulatedClock) -> SimulatedCluster:
    """A cluster of 60 nodes at rest; about a minute passes on the clock.

    The pods come while there are only spot nodes, so that these are well used; then the
    on-demand nodes join, for the floors that wait for them, and with room for what has to move.
    """
    cluster = SimulatedCluster(clock, OPTIONS)
    placing.install(cluster)
    cluster.apply(*fleet.spot(), *workloads.all_manifests())
    deadline = clock.now() + PATIENCE
    clock.advance(SETTLING)
    while not _all_run_that_can(cluster) and clock.now() < deadline:
        clock.advance(SETTLING)
    cluster.apply(*fleet.on_demand())
    clock.advance(JOINING)
    while not at_rest(cluster) and clock.now() < deadline:
        clock.advance(SETTLING)
    return cluster


def _all_run_that_can(cluster: SimulatedCluster) -> bool:
    """Whether every pod runs, or has been found no node for."""
    return all(
        pod.get("status", {}).get("phase") == "Running" or _is_unschedulable(pod)
        for pod in cluster.objects("Pod")
    )


def _is_unschedulable(pod: Obj) -> bool:
    conditions = pod.get("status", {}).get("conditions", ())
    return any(each.get("reason") == "Unschedulable" for each in conditions)


def at_rest(cluster: SimulatedCluster) -> bool:
    """Whether every workload has all its pods, ready."""
    complete = all(
        workload.get("status", {}).get("readyReplicas", 0) == workload["spec"]["replicas"]
        for kind in ("Deployment", "StatefulSet")
        for workload in cluster.objects(kind)
    )
    return complete and all(
        pod.get("status", {}).get("phase") == "Running" for pod in cluster.objects("Pod")
    )
