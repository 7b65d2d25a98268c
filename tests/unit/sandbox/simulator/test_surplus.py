"""Which pods a ReplicaSet deletes first: each rule of the order, and which rule comes first."""

from datetime import timedelta
from typing import Any

import pytest

from evenkeel_sandbox.simulator.api.objects import Obj, stamp
from evenkeel_sandbox.simulator.controllers.surplus import surplus
from tests.kit.clocks import NOW


def pod(name: str, **traits: Any) -> Obj:
    """A ready pod on node n, an hour old, but for its traits."""
    age = timedelta(seconds=traits.get("age", 3600))
    ready_for = timedelta(seconds=traits.get("ready_for", 3600))
    cost = traits.get("cost")
    ready = {
        "type": "Ready",
        "status": "True" if traits.get("ready", True) else "False",
        "lastTransitionTime": stamp(NOW - ready_for),
    }
    node = traits.get("node", "n")
    return {
        "metadata": {
            "name": name,
            "uid": traits.get("uid", name),
            "creationTimestamp": stamp(NOW - age),
            "annotations": {"controller.kubernetes.io/pod-deletion-cost": cost} if cost else {},
        },
        "spec": {"nodeName": node} if node else {},
        "status": {
            "phase": traits.get("phase", "Running"),
            "conditions": [ready],
            "containerStatuses": [{"restartCount": traits.get("restarts", 0)}],
        },
    }


RULES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"node": ""}, {}),
    ({"phase": "Pending"}, {}),
    ({"ready": False}, {}),
    ({"cost": "-1"}, {}),
    ({}, {"cost": "5"}),
    ({"ready_for": 60}, {}),
    ({"restarts": 3}, {}),
    ({"age": 60}, {}),
    # An earlier rule decides, whatever the later ones say.
    ({"node": "", "cost": "5"}, {"phase": "Pending", "ready": False, "cost": "-5"}),
    ({"phase": "Pending", "cost": "5"}, {"ready": False, "cost": "-5"}),
    ({"ready": False, "cost": "5"}, {"cost": "-5"}),
    ({"cost": "-5"}, {"ready_for": 1, "restarts": 9, "age": 1}),
    ({"ready_for": 60}, {"restarts": 9, "age": 60}),
    ({"restarts": 3, "age": 9999}, {"age": 60}),
    # Ages are compared on a logarithmic scale; within one magnitude the uid decides.
    ({"ready_for": 3000, "uid": "b"}, {"ready_for": 2400, "uid": "c"}),
    ({"age": 3000, "uid": "b"}, {"age": 2400, "uid": "c"}),
    # What is no number counts as 0.
    ({"cost": "-1"}, {"cost": "cheap"}),
]


@pytest.mark.parametrize(("goes", "stays"), RULES)
def test_the_pod_that_matters_less_goes_first(goes: dict[str, Any], stays: dict[str, Any]) -> None:
    first, second = pod("goes", **{"uid": "y", **goes}), pod("stays", **{"uid": "z", **stays})
    for order in ([first, second], [second, first]):
        (chosen,) = surplus(order, order, 1, NOW)
        assert chosen["metadata"]["name"] == "goes"


def test_a_pod_on_a_node_with_more_of_the_workload_goes_first() -> None:
    pods = [pod("alone", node="a"), pod("one", node="b"), pod("two", node="b")]
    assert [p["metadata"]["name"] for p in surplus(pods, pods, 2, NOW)] != ["alone", "one"]
    assert "alone" not in [p["metadata"]["name"] for p in surplus(pods, pods, 2, NOW)]


def test_pods_of_sibling_replica_sets_crowd_a_node_too() -> None:
    pods = [pod("alone", node="a"), pod("beside-old-ones", node="b")]
    related = [*pods, pod("old", node="b")]
    (chosen,) = surplus(pods, related, 1, NOW)
    assert chosen["metadata"]["name"] == "beside-old-ones"


def test_all_go_when_all_are_surplus() -> None:
    pods = [pod("a"), pod("b")]
    assert surplus(pods, pods, 2, NOW) == pods
