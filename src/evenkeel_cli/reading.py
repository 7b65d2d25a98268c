"""The cluster that a command only reads: a real one, a snapshot, or the built-in one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from evenkeel.adapters.clock import SystemClock
from evenkeel.ports import Cluster
from evenkeel_cli import snapshot as snapshots
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.guards import Guard, GuardedCluster
from evenkeel_cli.targets import Target
from evenkeel_sandbox.built_in import cluster as built_in_cluster
from evenkeel_sandbox.collecting import uncollected
from evenkeel_sandbox.recorded_cluster import RecordedCluster
from evenkeel_sandbox.simulator.api.webhooks import configuration
from evenkeel_sandbox.simulator.clock import SimulatedClock

PLACED: Final = configuration([{}])
"""Says that a webhook places all new pods, as one is taken to do in the cluster of a snapshot: a
snapshot that had its configuration would show the secret in its URL."""


@contextmanager
def reading(target: Target, snapshot: str | None, *, built_in: bool) -> Iterator[Cluster]:
    """The cluster that was named; the kubeconfig's current context if none was.

    Nothing is written, whatever asks. Raises BadInputError.
    """
    if (target.is_named, snapshot is not None, built_in).count(True) > 1:
        raise BadInputError("more than one cluster is named: keep one of them")
    if built_in:
        yield built_in_cluster.build(SimulatedClock(SystemClock().now()))
    elif snapshot is not None:
        with uncollected():
            yield RecordedCluster([*snapshots.read(snapshot).objects, PLACED])
    else:
        with target.connect() as cluster:
            yield GuardedCluster(cluster, Guard(writes=False))
