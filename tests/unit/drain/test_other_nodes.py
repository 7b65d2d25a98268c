"""How often it is looked which nodes load balancers would keep."""

from typing import Any

import pytest

from evenkeel.adapters.telemetry.memory import InMemoryRecorder
from evenkeel.flows.drain.cloud import OtherNodes
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.builders import NOW, seconds
from tests.unit.drain.later import Later


def others(*ready: bool) -> OtherNodes:
    """Of a cluster with so many nodes, n0 and so on."""
    cluster = SimulatedCluster(SimulatedClock(NOW))
    for number, is_ready in enumerate(ready):
        condition = {"type": "Ready", "status": str(is_ready)}
        node: dict[str, Any] = {"apiVersion": "v1", "kind": "Node"}
        node |= {"metadata": {"name": f"n{number}"}, "status": {"conditions": [condition]}}
        cluster.load(node)
    return OtherNodes(cluster, InMemoryRecorder())


def test_a_ready_node_remains_when_it_is_the_last_of_many_pages() -> None:
    look, background = others(*[False] * 3 * OtherNodes.PAGE, *[True]), Later()
    assert look.remain([], NOW, background) is None
    background.finish()
    assert look.remain([], NOW + seconds(1), background) is True


@pytest.mark.parametrize(("ready", "again_after"), [(True, 5), (False, 24)])
def test_a_look_in_vain_is_repeated_the_later_the_longer_it_took(
    *, ready: bool, again_after: int
) -> None:
    look, background = others(ready), Later()
    assert look.remain([], NOW, background) is None
    background.finish()
    heard_at = NOW + seconds(3)
    assert look.remain([], heard_at, background) is ready

    for after, asked in ((again_after - 1, 1), (again_after, 2)):
        look.remain([], heard_at + seconds(after), background)
        assert background.asked == asked
