"""Pods whose owner spreads them hard over a label of nodes, and of whose nodes some go."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from evenkeel.model import names
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene

HOSTNAME = "kubernetes.io/hostname"


def hard(key: str) -> dict[str, Any]:
    """At most one more in a domain than in another one."""
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"maxSkew": 1, "topologyKey": key, "labelSelector": selector}
    return {"topologySpreadConstraints": [{**constraint, "whenUnsatisfiable": "DoNotSchedule"}]}


def by_zone(scene: RestoreScene) -> dict[str, int]:
    """How many of the pods are in each zone."""
    return Counter(pod.spec.node_name[:1] for pod in scene.pods("web"))


@pytest.mark.parametrize(
    ("key", "nodes", "left"),
    [
        pytest.param(names.ZONE, "a1 a2 b1 b2 c1 c2", [3, 3, 3], id="its zone has another node"),
        pytest.param(names.ZONE, "a1 b1 c1", [4, 5], id="its zone has no other node"),
        pytest.param(HOSTNAME, "a1 b1 c1", [4, 5], id="it is over nodes"),
    ],
)
def test_all_are_replaced_and_no_zone_has_more_than_its_share(
    scene: RestoreScene, key: str, nodes: str, left: Sequence[int]
) -> None:
    for name in nodes.split():
        zone: Any = {names.ZONE: name[0]}
        scene.add_node(name, **zone)
    scene.apply(deployment("web", 9, pod=hard(key)))
    scene.settle(30)
    assert list(by_zone(scene).values()) == [3, 3, 3]
    scene.begin()
    scene.interrupt("a1")
    scene.run(until=118)
    assert scene.lowest("web") == 9
    assert sorted(by_zone(scene).values()) == left
