"""Pods that go one for one: as many at a time as it takes for all to be in time, and no more."""

from collections.abc import Sequence
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.request import Delete
from tests.kit.manifests import NO_SURGE, Manifest, budget, deployment, on_node, stateful_set
from tests.kit.others import mutate_pods
from tests.kit.scene import Scene
from tests.stories.handover.hands import set_unready

PARALLEL = {"podManagementPolicy": "Parallel"}


def ready_after(seconds: int, **more: Any) -> Manifest:
    """What a pod template says whose pods take so long to get Ready."""
    return {"annotations": {"evenkeel.test/ready-after": f"{seconds}s"}, **more}


def deleted(scene: Scene) -> list[str]:
    """The pods that were deleted over a budget: a seat's deletion is none."""
    writes = (sent.write for sent in scene.written())
    return [
        each.name
        for each in writes
        if isinstance(each, Delete) and each.namespace != names.SYSTEM_NAMESPACE
    ]


@pytest.mark.parametrize(
    ("replicas", "takes", "most", "lowest"), [(9, 25, 3, 6), (5, 40, 2, 3), (3, 10, 1, 2)]
)
def test_ordinals_go_as_fast_as_their_budget_allows_where_one_by_one_is_too_slow(
    scene: Scene, replicas: int, takes: int, most: int, lowest: int
) -> None:
    scene.given(
        stateful_set("db", replicas, pod=ready_after(takes), **PARALLEL),
        budget("db", maxUnavailable=most),
        spare="o1",
        room={"s": "8", "o": "8"},
        settle=60,
    )
    scene.interrupt("s1").run(until=118)
    assert not scene.pods("db", "s1")
    assert scene.lowest("db") == lowest
    assert not deleted(scene)


NEVER = [
    [budget("db", minAvailable=3)],
    [budget("db", maxUnavailable=1), budget("two", "db", maxUnavailable=1)],
]


@pytest.mark.parametrize("budgets", NEVER, ids=["all are demanded", "two budgets"])
def test_they_go_in_turns_by_force_where_no_eviction_is_ever_allowed(
    scene: Scene, budgets: Sequence[Manifest]
) -> None:
    scene.given(stateful_set("db", 3, **PARALLEL), *budgets, spare="o1")
    scene.interrupt("s1").run(until=118)
    assert scene.lowest("db") == 2
    first = next(each for _, each in scene.told("LastMoment"))
    assert "others of its workload go after it: evicted ahead" in first.message


def test_ordinals_that_take_long_to_stop_do_not_wait_until_the_first_has_stopped(
    scene: Scene,
) -> None:
    """Brokers that take a minute: in turns of a minute each all but two would be cut off."""
    pod = {"annotations": {"evenkeel.test/stop-after": "60s"}, "grace": 90}
    scene.given(
        stateful_set("db", 5, pod=pod, **PARALLEL),
        budget("db", maxUnavailable=2),
        spare="o1",
        settle=60,
    )
    scene.interrupt("s1").run(until=70)
    assert scene.lowest("db") == 3
    assert not deleted(scene)
    turns = [at for at, each in scene.told("StatefulSet") if each.verb == "evict"]
    assert sum(at < 30 for at in turns) == 2


def test_without_a_budget_a_majority_stays(scene: Scene) -> None:
    scene.given(
        deployment("web", 9, pod=ready_after(25), **NO_SURGE),
        spare="o1",
        room={"s": "8", "o": "8"},
        settle=60,
    )
    scene.interrupt("s1").run(until=200)
    assert scene.lowest("web") >= 5
    assert {pod.spec.node_name for pod in scene.pods("web")} == {"o1"}


def test_one_goes_at_a_time_where_that_is_in_time(scene: Scene) -> None:
    scene.given(stateful_set("db", 9, **PARALLEL), spare="o1", settle=60)
    scene.interrupt("s1").run(until=118)
    assert scene.lowest("db") == 8


def test_a_long_grace_period_overrules_no_budget_that_allows_an_eviction_in_time(
    scene: Scene,
) -> None:
    """ECK's default is 180 s: three of five nodes die, and each pod stops in a few seconds."""
    for number in range(5):
        scene.add_node(f"s{number}", room="0.1")
    es = stateful_set("es", 5, pod=ready_after(15, grace=180))
    scene.given(es, budget("es", maxUnavailable=1), on="", settle=120)
    scene.add_node("o1", spot=False)
    scene.interrupt("s0", "s2", "s4").run(until=118)
    assert scene.lowest("es") == 4
    assert not deleted(scene)
    assert not [pod for node in ("s0", "s2", "s4") for pod in scene.pods("es", node)]


def test_one_without_a_place_holds_nobody_up(scene: Scene) -> None:
    """Nothing takes the highest ordinal, because its volume is in a zone without room, say."""
    scene.given(
        stateful_set("db", 5, pod=ready_after(5), **PARALLEL),
        budget("db", maxUnavailable=2),
        spare="o1",
        settle=40,
    )
    nowhere = {"op": "add", "path": "/spec/nodeSelector", "value": {"disk": "gone"}}
    end = mutate_pods(scene.cluster, nowhere, app="db")
    scene.interrupt("s1").run(until=2.1)
    end()
    scene.run(until=118)
    assert scene.lowest("db") == 3
    assert len(scene.pods("db", "o1")) == 4


def test_one_that_is_broken_elsewhere_holds_nobody_up(scene: Scene) -> None:
    scene.place(stateful_set("db", 4, **PARALLEL), on="s1 s2", room={"s1": "0.3", "s2": "0.1"})
    scene.given(budget("db", maxUnavailable=2), on="", spare="o1", settle=40)
    (broken,) = scene.pods("db", "s2")
    set_unready(scene, broken.name)
    scene.interrupt("s1").run(until=118)
    assert not scene.pods("db", "s1")
    assert scene.lowest("db") >= 2


def test_pods_of_other_nodes_are_left(scene: Scene) -> None:
    scene.given(deployment("web", 2, pod=on_node("s2"), **NO_SURGE), on="s1 s2", spare="o1")
    scene.interrupt("s1").run(until=60)
    assert scene.lowest("web") == 2
