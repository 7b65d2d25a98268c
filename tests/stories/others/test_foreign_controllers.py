"""Pods of kinds that Evenkeel does not know: one is missing at a time, until the last moment."""

from collections import Counter
from typing import Any

import pytest

from evenkeel.model.request import Evict
from tests.kit.manifests import budget, deployment, resource, template
from tests.kit.others import DatabaseOperator, Outsider
from tests.kit.scene import Scene, Sent

EVERYTHING = {"tolerations": [{"operator": "Exists"}]}


def begin(scene: Scene, pods: int, **spec: Any) -> Outsider:
    """An operator's pods run on s1, and there is room on o1."""
    scene.place()
    DatabaseOperator(scene.cluster, "db", pods, **spec)
    scene.settle(20)
    scene.given(on="", spare="o1")
    return Outsider(scene.cluster, "db")


def is_eviction(sent: Sent) -> bool:
    return isinstance(sent.write, Evict)


def test_one_is_missing_at_a_time_without_a_budget(scene: Scene) -> None:
    outside = begin(scene, 3)

    scene.interrupt("s1").run(until=118)

    assert outside.lowest == 2
    assert len(scene.pods("db", "o1")) == 3


def test_the_first_goes_at_once(scene: Scene) -> None:
    begin(scene, 3)

    scene.interrupt("s1").run(until=3)

    assert len(scene.pods("db", "s1")) == 2 or any(pod.leaving for pod in scene.pods("db", "s1"))


def test_all_that_are_left_go_at_their_last_moment(scene: Scene) -> None:
    """The operator makes no pod again: the others wait for it.

    That the first one is gone shows in a list only, so the others get that much time to stop.
    """
    scene.place()
    scene.cluster.server.store.assume("uid-of-db")
    scene.apply(*(pod_of_nobody(f"db-{number}") for number in range(3)))
    scene.settle(20)
    scene.given(on="", spare="o1")

    scene.interrupt("s1").run(until=118)

    gone = sorted(scene.gone_at(f"db-{number}") for number in range(3))
    assert gone[0] < 5
    assert [108 < at < 110 for at in gone] == [False, True, True]


def pod_of_nobody(name: str) -> dict[str, Any]:
    """A pod whose controller makes none again."""
    made = template("db")
    owner = {
        "apiVersion": "example.com/v1",
        "kind": "Database",
        "name": "db",
        "uid": "uid-of-db",
        "controller": True,
    }
    pod = resource("Pod", name, "default", spec=made["spec"])
    pod["metadata"] |= {**made["metadata"], "ownerReferences": [owner]}
    return pod


def test_a_budget_says_how_many_may_be_missing(scene: Scene) -> None:
    scene.place()
    DatabaseOperator(scene.cluster, "db", 4)
    scene.settle(20)
    scene.given(budget("db", minAvailable=2), on="", spare="o1")
    outside = Outsider(scene.cluster, "db")

    scene.interrupt("s1").run(until=118)

    assert outside.lowest == 2


def test_a_hint_takes_none(scene: Scene) -> None:
    outside = begin(scene, 3)

    scene.recommend("s1").run(until=1000)

    assert outside.lowest == 3
    assert not [sent for sent in scene.writes if isinstance(sent.write, Evict)]


def gone_from(scene: Scene, pods: int, **spec: Any) -> Counter[tuple[str, str]]:
    """How often pods of an operator were evicted from s1, which dies, and when.

    A pod beside them cannot leave before its last moment, so that an invocation goes on.
    """
    beside = deployment("beside", 1)
    scene.place(
        beside, budget("one", "beside", minAvailable=1), budget("two", "beside", minAvailable=1)
    )
    DatabaseOperator(scene.cluster, "db", pods, **spec)
    scene.settle(20)
    scene.given(on="", spare="o1")
    scene.interrupt("s1").run(until=118)
    gone = [sent for sent in scene.written() if is_eviction(sent) and sent.name.startswith("db-")]
    return Counter((sent.name, when(sent.at)) for sent in gone)


def when(at: float) -> str:
    """When an eviction is sent to a pod that takes 30 s to stop on a node with two minutes left."""
    return "early" if at < 85 else "in time" if at < 89.5 else "too late"


def test_pods_that_tolerate_what_keeps_others_off_go_once_at_their_last_moment(
    scene: Scene,
) -> None:
    assert gone_from(scene, 2, **EVERYTHING) == {
        ("db-0", "in time"): 1,
        ("db-1", "in time"): 1,
    }


@pytest.mark.parametrize("pods", [1, 2])
def test_pods_that_came_back_to_the_node_go_at_their_last_moment(scene: Scene, pods: int) -> None:
    """What the operator's template says is not known: that one came back shows it."""
    found = gone_from(scene, pods, nodeName="s1")
    assert found == {(f"db-{n}", time): 1 for n in range(pods) for time in ("early", "in time")}


@pytest.mark.parametrize("spec", [EVERYTHING, {"nodeName": "s1"}], ids=["tolerates", "bound"])
def test_a_hint_leaves_pods_that_would_come_back(scene: Scene, spec: dict[str, Any]) -> None:
    scene.place()
    DatabaseOperator(scene.cluster, "db", 2, **spec)
    scene.settle(20)
    scene.given(budget("db", maxUnavailable=1), on="", spare="o1")

    scene.recommend("s1").run(until=1000)

    assert not [sent for sent in scene.writes if isinstance(sent.write, Evict)]
