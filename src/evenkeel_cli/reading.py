"""The cluster that a command only reads: a real one, a snapshot, or the built-in one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from evenkeel.adapters.clock import SystemClock
from evenkeel.flows.restore.reading import POLICY
from evenkeel.ports import Cluster
from evenkeel_cli import namespaces
from evenkeel_cli import snapshot as snapshots
from evenkeel_cli.guards import Guard, GuardedCluster
from evenkeel_cli.source import Source
from evenkeel_sandbox.built_in import cluster as built_in_cluster
from evenkeel_sandbox.collecting import uncollected
from evenkeel_sandbox.recorded_cluster import RecordedCluster
from evenkeel_sandbox.simulator.api.webhooks import configuration
from evenkeel_sandbox.simulator.clock import SimulatedClock

PLACED: Final = configuration([{}])
"""Says that a webhook places all new pods, as one is taken to do in the cluster of a snapshot that
has no policy for it: a snapshot that had its configuration would show the secret in its URL."""


@contextmanager
def reading(source: Source, namespace: str = "") -> Iterator[Cluster]:
    """The cluster that was named. ``namespace`` is the one that is looked at, if it is one.

    It refuses writes. Raises BadInputError, also where there is no such namespace,
    and ClusterError.
    """
    source.check()
    with _opened(source) as cluster:
        namespaces.check(cluster, namespace)
        yield cluster


def recorded(objects: Sequence[dict[str, Any]]) -> Cluster:
    """The cluster that a snapshot's objects are of; it refuses writes."""
    by_policy = any(each["kind"] == POLICY.kind.resource.kind for each in objects)
    return RecordedCluster(objects if by_policy else [*objects, PLACED])


@contextmanager
def _opened(source: Source) -> Iterator[Cluster]:
    if source.built_in:
        yield built_in_cluster.build(SimulatedClock(SystemClock().now()))
    elif source.snapshot is not None:
        with uncollected():
            yield recorded(snapshots.read(source.snapshot))
    else:
        with source.target.connect() as cluster:
            yield GuardedCluster(cluster, Guard(writes=False))
