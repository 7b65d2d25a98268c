"""`kubectl drain` through the gate on a real API server: it makes before it breaks."""

import pytest

from evenkeel.adapters.clock import SystemClock
from tests.e2e.manifests import budget, deployment, selector
from tests.e2e.placement.webhook import Ground
from tests.e2e.witness import Witness

pytestmark = pytest.mark.controlplane

SINGLES = 10


def test_single_replicas_never_reach_zero(ground: Ground) -> None:
    with Witness(ground.control_plane, ground.namespace, SystemClock()) as witness:
        ground.add_nodes(spot=1, on_demand=0)
        names = [f"single-{number}" for number in range(SINGLES)]
        for number, name in enumerate(names):
            ground.apply(deployment(name, 1, start="2s"))
            if number % 2:
                ground.apply(budget(name, minAvailable=1))
        ground.wait_for(
            "all pods to be Ready", lambda: all(witness.count(n, selector(n)) for n in names)
        )
        other = f"{ground.namespace}-other"
        ground.control_plane.add_node(other, spot=False, cpu="64", pods=200)
        ground.serve()
        ground.gate()
        options = ("--ignore-daemonsets", "--delete-emptydir-data", "--timeout=120s")
        node = f"{ground.namespace}-spot-0"
        ground.control_plane.kubectl("drain", node, *options, seconds=150)
        lowest = {name: witness.lowest(name) for name in names}
    assert set(lowest.values()) == {1}, lowest
