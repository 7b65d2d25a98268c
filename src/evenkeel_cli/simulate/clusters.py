"""The cluster that storms come over: a snapshot, a made-up one, or the built-in one."""

import re
from typing import Final

from evenkeel_cli import snapshot as snapshots
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.simulate.trial import Objects
from evenkeel_cli.source import MORE_THAN_ONE
from evenkeel_sandbox import synthetic
from evenkeel_sandbox.built_in import cluster as built_in_cluster
from evenkeel_sandbox.simulator.clock import SimulatedClock

SIZE: Final = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]{0,5})")
MOST_PODS: Final = 150_000


def read(snapshot: str | None, size: str | None = None, *, built_in: bool = False) -> Objects:
    """The cluster's objects; of the built-in one where none is named. Raises BadInputError."""
    if (snapshot is not None, size is not None, built_in).count(True) > 1:
        raise BadInputError(MORE_THAN_ONE)
    if snapshot is not None:
        return snapshots.read(snapshot)
    if size is not None:
        found = SIZE.fullmatch(size)
        if found is None:
            raise BadInputError(f"--synthetic {size}: is no size such as 200x6000")
        nodes, pods = int(found[1]), int(found[2])
        if pods > min(nodes * synthetic.MOST_ON_A_NODE, MOST_PODS):
            raise BadInputError(
                f"--synthetic {size}: a node takes {synthetic.MOST_ON_A_NODE} pods at most, and"
                f" {MOST_PODS:,} are enough"
            )
        return synthetic.objects(nodes, pods)
    cluster = built_in_cluster.build(SimulatedClock())
    return [item for kind in snapshots.KINDS for item in cluster.objects(kind)]
