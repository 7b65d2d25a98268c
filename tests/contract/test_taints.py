"""Pods on nodes whose NoExecute taints they do not tolerate, or not for long."""

from collections.abc import Mapping
from typing import Any

import pytest

from evenkeel.model.pod import Pod
from tests.contract.ground import Ground
from tests.contract.manifests import QUICK, SLOW_STOP, pod

TAINT = {"key": "example.org/broken", "effect": "NoExecute"}
OTHER = {"key": "example.org/slow", "effect": "NoExecute"}
ALWAYS = {"key": TAINT["key"], "operator": "Exists", "effect": "NoExecute"}
FOR_FOUR_SECONDS = {**ALWAYS, "tolerationSeconds": 4}


def run(ground: Ground, *tolerations: Mapping[str, Any]) -> str:
    """A node with one Ready pod on it, that tolerates so much; answers the node's name."""
    node = ground.add_node("n")
    ground.apply(pod("p", annotations=SLOW_STOP, tolerations=[dict(each) for each in tolerations]))
    ground.ready_pods(1)
    return node


def is_leaving(ground: Ground) -> bool:
    return ground.get(Pod, "p").leaving


def test_a_pod_goes_at_once_when_it_does_not_tolerate_its_nodes_taint(ground: Ground) -> None:
    node = run(ground)
    ground.taint(node, TAINT)
    ground.eventually(lambda: is_leaving(ground), seconds=3)
    assert ("DisruptionTarget", "True", "DeletionByTaintManager") in [
        (each.type, each.status, each.reason) for each in ground.get(Pod, "p").status.conditions
    ]


@pytest.mark.parametrize(
    ("taint", "tolerations"),
    [
        ({**TAINT, "effect": "NoSchedule"}, []),
        ({**TAINT, "effect": "PreferNoSchedule"}, []),
        (TAINT, [ALWAYS]),
        (TAINT, [{"operator": "Exists"}]),
        ({**TAINT, "value": "yes"}, [{**TAINT, "operator": "Equal", "value": "yes"}]),
    ],
    ids=[
        "it is NoSchedule",
        "it is PreferNoSchedule",
        "tolerated",
        "all are tolerated",
        "its value is tolerated",
    ],
)
def test_a_pod_stays_when_the_taint_does_not_concern_it(
    ground: Ground, taint: dict[str, str], tolerations: list[dict[str, Any]]
) -> None:
    node = run(ground, *tolerations)
    ground.taint(node, taint)
    ground.never(lambda: is_leaving(ground))


def test_a_pod_goes_when_the_taint_has_another_value_than_it_tolerates(ground: Ground) -> None:
    node = run(ground, {**TAINT, "operator": "Equal", "value": "yes"})
    ground.taint(node, {**TAINT, "value": "no"})
    ground.eventually(lambda: is_leaving(ground), seconds=3)


def test_a_pod_stays_for_as_long_as_it_tolerates_the_taint(ground: Ground) -> None:
    node = run(ground, FOR_FOUR_SECONDS)
    ground.taint(node, TAINT)
    ground.never(lambda: is_leaving(ground), seconds=3)
    ground.eventually(lambda: is_leaving(ground), seconds=5)


def test_the_shortest_toleration_counts(ground: Ground) -> None:
    node = run(ground, FOR_FOUR_SECONDS, {**ALWAYS, "key": OTHER["key"], "tolerationSeconds": 60})
    ground.taint(node, OTHER, TAINT)
    ground.never(lambda: is_leaving(ground), seconds=3)
    ground.eventually(lambda: is_leaving(ground), seconds=5)


def test_a_pod_stays_when_the_taint_goes_in_time(ground: Ground) -> None:
    node = run(ground, FOR_FOUR_SECONDS)
    ground.taint(node, TAINT)
    ground.never(lambda: is_leaving(ground), seconds=2)
    ground.taint(node)
    ground.never(lambda: is_leaving(ground), seconds=4)


def test_a_pod_that_comes_to_a_tainted_node_goes_too(ground: Ground) -> None:
    node = ground.add_node("n")
    ground.taint(node, TAINT)
    ground.apply(pod("p", nodeName=node))
    ground.eventually(lambda: not ground.pods(), seconds=10)


def test_a_pod_that_has_succeeded_goes_too(ground: Ground) -> None:
    node = ground.add_node("n")
    ground.apply(pod("p", annotations={**QUICK, "evenkeel.test/complete-after": "100ms"}))
    ground.eventually(lambda: ground.get(Pod, "p").status.phase == "Succeeded")
    ground.taint(node, TAINT)
    ground.eventually(lambda: not ground.pods(), seconds=5)


def test_a_new_pod_tolerates_a_silent_node_for_five_minutes_unless_it_says_otherwise(
    ground: Ground,
) -> None:
    own = {**ALWAYS, "key": "node.kubernetes.io/unreachable", "tolerationSeconds": 7}
    ground.apply(pod("usual"), pod("own", tolerations=[own]))

    def tolerated(name: str) -> dict[str, int]:
        found = ground.whole("Pod", name)["spec"]["tolerations"]
        return {each["key"]: each["tolerationSeconds"] for each in found}

    not_ready = "node.kubernetes.io/not-ready"
    assert tolerated("usual") == {own["key"]: 300, not_ready: 300}
    assert tolerated("own") == {own["key"]: 7, not_ready: 300}
