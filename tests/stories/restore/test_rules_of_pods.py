"""Policies add rules to pods alone: restore judges by the pods, as the webhook does."""

from typing import Any

import pytest

from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import Obj
from tests.kit.manifests import deployment, stateful_set
from tests.kit.others import mutate_pods
from tests.kit.restoring import RestoreScene
from tests.stories.restore.test_what_waits import counting

HOUR = 3600
NO_FLOOR = {names.ON_DEMAND: "none"}
ON_SSD: Obj = {"op": "add", "path": "/spec/nodeSelector", "value": {"disk": "ssd"}}
BEARS: Obj = {
    "op": "add",
    "path": "/spec/tolerations/-",
    "value": {"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"},
}
AVOIDS_SPOT: Obj = {
    "op": "add",
    "path": "/spec/affinity",
    "value": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {
                                "key": "karpenter.sh/capacity-type",
                                "operator": "In",
                                "values": ["on-demand"],
                            }
                        ]
                    }
                ]
            }
        }
    },
}


def reasons(scene: RestoreScene) -> set[str]:
    """Why restore leaves workloads."""
    return {each.reason for _, each in scene.told() if each.write is None}


@pytest.mark.parametrize("comes_first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("make", [deployment, stateful_set])
@pytest.mark.parametrize(
    ("patch", "reason"),
    [(ON_SSD, "NoNodeTakesIt"), (AVOIDS_SPOT, "OwnRules")],
    ids=["selector", "affinity"],
)
def test_pods_that_cannot_go_to_spot_are_not_released(
    scene: RestoreScene, make: Any, patch: Obj, reason: str, *, comes_first: bool
) -> None:
    scene.add_node("o0", spot=False, disk="ssd")
    mutate_pods(scene.cluster, patch, app="web", comes_first=comes_first)
    made = counting(scene, "web")
    scene.given(make("web", 3, notes=NO_FLOOR), on="")
    scene.add_nodes("s", 3, spot=True)
    scene.run(until=HOUR)
    assert made() == 3
    assert scene.moves("web") == []
    assert reason in reasons(scene)


@pytest.mark.parametrize("make", [deployment, stateful_set])
def test_what_a_policy_lets_pods_tolerate_is_room(scene: RestoreScene, make: Any) -> None:
    mutate_pods(scene.cluster, BEARS, app="web")
    made = counting(scene, "web")
    scene.given(make("web", 3, notes=NO_FLOOR), on="o0")
    scene.add_nodes("s", 2, spot=True)
    for name in ("s0", "s1"):
        taint(scene, name, "team", "a")
    scene.run(until=HOUR)
    assert scene.split("web") == {"spot": 3}
    assert made() == 6


@pytest.mark.parametrize("make", [deployment, stateful_set])
def test_a_floor_comes_back_to_the_nodes_that_its_pods_may_go_to(
    scene: RestoreScene, make: Any
) -> None:
    """What placement added to them, to be on spot or on on-demand, is no rule of their owner's."""
    scene.add_node("s0", disk="ssd")
    mutate_pods(scene.cluster, ON_SSD, app="web")
    scene.webhook.down = True
    scene.given(make("web", 3, notes={names.ON_DEMAND: "2"}), on="")
    scene.webhook.down = False
    scene.add_node("o0", spot=False, disk="ssd")
    scene.run(until=HOUR)
    assert scene.split("web") == {"spot": 1, "on-demand": 2}
    scene.apply(make("web", 3, notes=NO_FLOOR))
    scene.run(until=2 * HOUR)
    assert scene.split("web") == {"spot": 3}
    scene.apply(make("web", 3, notes={names.ON_DEMAND: "all"}))
    scene.run(until=3 * HOUR)
    assert scene.split("web") == {"on-demand": 3}


def test_of_pods_that_differ_one_goes_that_may(scene: RestoreScene) -> None:
    scene.add_node("o0", spot=False, disk="ssd")
    scene.given(deployment("web", 2, notes={names.ON_DEMAND: "all"}), on="")
    mutate_pods(scene.cluster, ON_SSD, app="web")
    scene.apply(deployment("web", 4, notes=NO_FLOOR))
    scene.settle()
    scene.add_nodes("s", 2, spot=True)
    made = counting(scene, "web")
    scene.run(until=HOUR)
    assert made() <= 2
    assert scene.split("web")["on-demand"] >= 2


def taint(scene: RestoreScene, node: str, key: str, value: str) -> None:
    """Keep pods off a node that do not tolerate this."""
    scene.apply(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": node},
            "spec": {"taints": [{"key": key, "value": value, "effect": "NoSchedule"}]},
        }
    )
