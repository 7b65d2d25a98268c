"""The built-in cluster out of balance: its pods are not where their floors want them.

Half of its spot nodes went without a word, and what was on them came up where room was left, some
of it on on-demand nodes. Then as many new spot nodes came, and owners gave workloads other floors.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, NamedTuple

from evenkeel.model import names
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.built_in import fleet
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster

GONE: Final = timedelta(minutes=1)
"""Until the pods of a node that is gone are gone, too."""

LONGEST: Final = timedelta(minutes=5)
LOOK: Final = timedelta(seconds=10)


class Owned(NamedTuple):
    """A workload whose owner asks for another floor."""

    kind: str
    namespace: str
    name: str


FLOORS: Final[Mapping[Owned, str]] = {
    Owned("Deployment", "shop", "search"): "6",
    Owned("Deployment", "shop", "checkout"): "majority",
    Owned("StatefulSet", "data", "postgres"): "all",
}


def build(clock: SimulatedClock) -> SimulatedCluster:
    """The cluster, at rest in its way; a few minutes pass on the clock."""
    cluster = built_in.build(clock)
    lost = [
        node["metadata"]["name"]
        for node in fleet.spot()
        if node["metadata"]["labels"]["node.kubernetes.io/instance-type"] != fleet.GPU_TYPE
    ][::2]
    for name in lost:
        cluster.kill_node(name, timedelta())
    end = clock.now() + LONGEST
    clock.advance(GONE)
    while not built_in.at_rest(cluster) and clock.now() < end:
        clock.advance(LOOK)
    cluster.apply(*fleet.replacements(lost))
    for owned, floor in FLOORS.items():
        annotations = {"metadata": {"annotations": {names.ON_DEMAND: floor}}}
        cluster.server.patch(owned.kind, (owned.namespace, owned.name), annotations)
    clock.advance(built_in.JOINING)
    return cluster
