"""One plan of restore for a synthetic cluster: ``python -m bench.placement.planning NODES``.

A process of its own, so that its memory is this plan's. Writes a ``Planned`` as JSON.
"""

import sys
import time

import msgspec

from bench import conditions
from bench.placement.planned import Planned
from bench.placement.synthetic import SyntheticServer
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.restore.reading import Scope, read


def measure(nodes: int) -> Planned:
    """Read the cluster and plan, as a run of restore does before it writes."""
    server = SyntheticServer(nodes)
    before = conditions.peak_megabytes()
    began, cpu = time.monotonic(), time.process_time()
    with RestCluster(server) as cluster:
        snapshot = read(cluster, SystemClock(), Terms(), Scope())
    was_read = time.monotonic()
    made = plan(snapshot)
    return Planned(
        nodes=nodes,
        pods=sum(len(case.pods) for case in snapshot.cases),
        workloads=len(snapshot.cases),
        megabytes=server.served_bytes / 1e6,
        read=was_read - began - server.served_seconds,
        plan=time.monotonic() - was_read,
        cpu=time.process_time() - cpu - server.served_seconds,
        served=server.served_seconds,
        steps=len(made.steps),
        left=len(made.left),
        before_mb=before,
        peak_mb=conditions.peak_megabytes(),
    )


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(measure(int(sys.argv[1]))))
