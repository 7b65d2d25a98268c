"""Nodes are there, and none takes a pod: that is not for want of room, and nothing moves."""

from typing import Any

import pytest

from evenkeel.model import names
from tests.kit.autoscaler import Autoscaler
from tests.kit.manifests import Manifest, deployment, stateful_set
from tests.kit.restoring import RestoreScene
from tests.stories.restore.test_rules_of_pods import taint
from tests.stories.restore.test_what_waits import counting

HOUR = 3600
NO_FLOOR = {names.ON_DEMAND: "none"}


def messages(scene: RestoreScene) -> set[str]:
    """What is said of pods that no node takes."""
    return {each.message for _, each in scene.told("NoNodeTakesIt")}


@pytest.mark.parametrize("make", [deployment, stateful_set])
@pytest.mark.parametrize(
    ("pod", "named"),
    [
        ({}, "the taint spot=true:NoSchedule (3 nodes)"),
        ({"nodeSelector": {"kubernetes.io/arch": "arm64"}}, "kubernetes.io/arch=arm64"),
    ],
    ids=["taint", "architecture"],
)
def test_it_is_named_what_keeps_the_pod_off_and_nothing_moves(
    scene: RestoreScene, make: Any, pod: Manifest, named: str
) -> None:
    scene.add_node("o0", spot=False, **{"kubernetes.io/arch": "arm64"})
    scene.given(make("web", 3, notes=NO_FLOOR, pod=pod), on="")
    scene.add_nodes("s", 3, spot=True)
    for number in range(3 * (not pod)):
        taint(scene, f"s{number}", "spot", "true")
    nodes = Autoscaler(scene, supply=False)
    made = counting(scene, "web")
    scene.run(until=HOUR)
    assert made() == 0
    assert scene.moves() == []
    assert nodes.most_at_once == 0
    (message,) = messages(scene)
    assert named in message


def test_it_goes_once_a_node_takes_it(scene: RestoreScene) -> None:
    scene.given(deployment("web", 3, notes=NO_FLOOR), on="o0")
    scene.add_node("s0")
    taint(scene, "s0", "spot", "true")
    scene.run(until=600)
    assert scene.split("web") == {"on-demand": 3}
    scene.add_node("s1")
    scene.run(until=1200)
    assert scene.split("web") == {"spot": 3}
    assert scene.lowest("web") == 3


def test_a_full_node_that_takes_it_is_a_reason_to_ask_for_another(scene: RestoreScene) -> None:
    scene.given(deployment("web", 3, notes=NO_FLOOR), on="o0")
    scene.add_node("s0")
    taint(scene, "s0", "spot", "true")
    scene.add_node("s1", room="0.01")
    nodes = Autoscaler(scene)
    scene.run(until=HOUR)
    assert nodes.made == ["a0"]
    assert scene.split("web") == {"spot": 3}


def test_without_any_spot_node_that_cannot_be_told_and_one_is_asked_for(
    scene: RestoreScene,
) -> None:
    scene.given(deployment("web", 3, notes=NO_FLOOR), on="o0")
    nodes = Autoscaler(scene)
    scene.run(until=HOUR)
    assert nodes.made == ["a0"]
    begun = [each.message for each in scene.moves() if "waits for one" in each.message]
    assert ["there is no spot node" in each for each in begun] == [True]


def test_a_floor_asks_once_for_an_on_demand_node_that_would_take_its_pod(
    scene: RestoreScene,
) -> None:
    """Where pools are behind taints an autoscaler may make another all the same."""
    scene.webhook.down = True
    scene.given(deployment("web", 3, notes={names.ON_DEMAND: "1"}), on="s0")
    scene.webhook.down = False
    scene.add_node("o0", spot=False)
    taint(scene, "o0", "CriticalAddonsOnly", "true")
    made = counting(scene, "web")
    scene.run(until=HOUR)
    assert made() == 1
    (message,) = messages(scene)
    assert "the taint CriticalAddonsOnly=true:NoSchedule (1 node)" in message
