"""No second pod comes beside the first: by its rules, or because it is gated till one is gone."""

from functools import partial
from typing import Any

import pytest

from tests.kit.manifests import Manifest, apart, budget, deployment, stateful_set
from tests.kit.queueing import GATED, opens_gates
from tests.kit.scene import NO_PLACE, Scene

ZONE = "topology.kubernetes.io/zone"


def in_zones(scene: Scene, *manifests: Manifest) -> None:
    """One pod in each of three zones, whose spot nodes die. Each zone has room on another node."""
    for zone in "abc":
        scene.add_node(f"s{zone}", spot=True, room="", **{ZONE: zone})
    scene.given(*manifests, on="")
    for zone in "abc":
        scene.add_node(f"o{zone}", spot=False, room="", **{ZONE: zone})
    scene.interrupt("sa", "sb", "sc").run(until=150)


def one_a_zone(replicas: int = 3, **more: Any) -> Manifest:
    return deployment("web", replicas, pod=apart("web", ZONE), **more)


def test_pods_that_are_kept_one_a_zone_go_in_turns(scene: Scene) -> None:
    in_zones(scene, one_a_zone(), budget("web", maxUnavailable=1))
    assert scene.lowest("web") == 2
    assert {pod.spec.node_name for pod in scene.pods("web")} == {"oa", "ob", "oc"}
    turns = [at for at, each in scene.told("NoPlace") if each.verb == "evict"]
    assert len(turns) == 3
    assert max(turns) < 30


def test_without_a_budget_a_majority_stays(scene: Scene) -> None:
    in_zones(scene, one_a_zone())
    assert scene.lowest("web") == 2


def test_it_is_said_what_is_in_the_way(scene: Scene) -> None:
    in_zones(scene, one_a_zone())
    (said, *_) = [each for _, each in scene.told("NoPlace") if each.verb == "evict"]
    assert "no place for a second pod beside it" in said.message
    assert "anti-affinity" in said.message
    assert said.why is not None
    assert said.why.remedy == "let its rules take more nodes, or have nodes that they take"


def test_pods_that_are_kept_one_a_node_wait_for_a_node(scene: Scene) -> None:
    """Their own nodes die: to leave one makes no room."""
    scene.add_node("s1")
    scene.add_node("s2")
    rule = apart("web")
    one, two = scene.given(deployment("web", 2, pod=rule), on="")
    scene.interrupt("s1", "s2")
    for name in ("o1", "o2"):
        scene.later(60, partial(scene.add_node, name, spot=False))
    scene.run(until=100)
    assert scene.lowest("web") == 2
    assert scene.story(one).order() == [*NO_PLACE, "evict ReplacementAvailable"]
    assert scene.story(two).order() == [*NO_PLACE, "evict ReplacementAvailable"]


def test_gated_pods_come_in_the_place_of_those_before(scene: Scene) -> None:
    """A queue such as Kueue's is full: it opens a gate when a pod is gone."""
    opens_gates(scene.clock, scene.cluster, 3)
    scene.given(deployment("web", 3, pod=GATED), spare="o1")
    scene.interrupt("s1").run(until=150)
    assert scene.lowest("web") == 2
    assert {pod.spec.node_name for pod in scene.pods("web")} == {"o1"}
    waits = [each.message for _, each in scene.told("NoPlace")]
    assert any("SchedulingGated" in each for each in waits)


@pytest.mark.parametrize("zone", "abc")
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_the_pod_goes_first_whose_zone_has_another_node(scene: Scene, kind: str, zone: str) -> None:
    for each in "abc":
        scene.add_node(f"s{each}", spot=True, room="", **{ZONE: each})
    pod = apart("web", ZONE)
    made = one_a_zone() if kind == "Deployment" else stateful_set("web", 3, pod=pod)
    scene.given(made, budget("web", maxUnavailable=1), on="")
    scene.add_node("open", spot=False, room="", **{ZONE: zone})
    (first,) = scene.pods("web", f"s{zone}")
    scene.interrupt("sa", "sb", "sc").run(until=100)
    evicted = [each.subject.name for _, each in scene.told() if each.verb == "evict"]
    assert evicted[0] == first.name
    assert scene.pods("web", "open")
    assert scene.lowest("web") == 2
