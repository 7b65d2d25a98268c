"""Pods whose owner spreads them hard over a label of nodes, and of whose nodes some go."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from evenkeel.model import names
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene

HOSTNAME = "kubernetes.io/hostname"


def hard(key: str, **fields: int) -> dict[str, Any]:
    """At most one more in a domain than in another one, if ``fields`` say nothing else."""
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"maxSkew": 1, "topologyKey": key, "labelSelector": selector, **fields}
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


@pytest.mark.parametrize("is_managed", [True, False], ids=["managed", "not managed"])
@pytest.mark.parametrize(
    ("key", "fields", "nodes", "doomed", "replicas", "stay"),
    [
        pytest.param(
            "karpenter.sh/capacity-type",
            {"maxSkew": 6, "minDomains": 2},
            "s1 s2 o1 o2",
            "s1 s2",
            10,
            10,
            id="spot goes",
        ),
        pytest.param(names.ZONE, {"minDomains": 3}, "a1 b1 c1", "a1", 9, 8, id="a zone goes"),
    ],
)
def test_pods_that_want_so_many_domains_have_as_many_places_as_without_the_webhook(
    scene: RestoreScene,
    key: str,
    fields: dict[str, int],
    nodes: str,
    doomed: str,
    replicas: int,
    stay: int,
    *,
    is_managed: bool,
) -> None:
    """A domain that went counts as an empty one then, so that none may have more than maxSkew."""
    if not is_managed:
        scene.end_webhook()
    for name in nodes.split():
        zone: Any = {names.ZONE: name[0]}
        scene.add_node(name, spot=name[0] != "o", **zone)
    scene.apply(deployment("web", replicas, pod=hard(key, **fields)))
    scene.settle(30)
    scene.begin()
    scene.interrupt(*doomed.split())
    scene.run(until=600)
    assert sum(pod.ready for pod in scene.pods("web")) == stay
    assert scene.lowest("web") == stay
