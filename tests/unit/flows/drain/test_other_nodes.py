"""How often it is looked which nodes load balancers would keep."""

from typing import Any

import pytest

from evenkeel.flows.drain.memory import ListedNodes, other_nodes
from evenkeel.flows.selections import PAGE
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.builders import NOW, seconds
from tests.unit.flows.drain.later import Later, questions


def others(*ready: bool) -> ListedNodes:
    """Of a cluster with so many nodes, n0 and so on."""
    cluster = SimulatedCluster(SimulatedClock(NOW))
    for number, is_ready in enumerate(ready):
        condition = {"type": "Ready", "status": str(is_ready)}
        node: dict[str, Any] = {"apiVersion": "v1", "kind": "Node"}
        node |= {"metadata": {"name": f"n{number}"}, "status": {"conditions": [condition]}}
        cluster.load(node)
    return other_nodes(cluster, InMemoryRecorder())


def test_a_ready_node_remains_when_it_is_the_last_of_many_pages() -> None:
    look, background = others(*[False] * 3 * PAGE, *[True]), Later()
    asking = questions(NOW + seconds(1), background)
    assert look.known(NOW, asking) is None
    background.finish()
    assert look.known(NOW + seconds(1), asking) == frozenset(["n150"])


@pytest.mark.parametrize(("ready", "again_after"), [(True, 5), (False, 24)])
def test_a_look_in_vain_is_repeated_the_later_the_longer_it_took(
    *, ready: bool, again_after: int
) -> None:
    look, background = others(ready), Later()
    heard_at = NOW + seconds(3)
    asking = questions(heard_at, background)
    assert look.known(NOW, asking) is None
    background.finish()
    assert look.known(heard_at, asking) == frozenset(["n0"] if ready else [])

    for after, asked in ((again_after - 1, 1), (again_after, 2)):
        look.known(heard_at + seconds(after), asking)
        assert background.asked == asked


def test_it_is_looked_again_once_all_nodes_that_were_found_are_marked() -> None:
    look, background = others(*[True]), Later()
    asking = questions(NOW, background)
    look.known(NOW, asking)
    background.finish()
    assert look.known(NOW, asking, but=["n0"]) is None
    assert background.asked == 2
