"""The table of pods on a rebalance recommendation, row by row: nothing is broken for a hint."""

from collections.abc import Callable

import pytest

from evenkeel.model import names
from tests.fixtures.scene import Scene
from tests.unit.drain.manifests import (
    NO_SURGE,
    RECREATE,
    Manifest,
    bare_pod,
    budget,
    claim,
    daemon_set,
    deployment,
    job,
    replica_set,
    stateful_set,
    volume,
)


def hinted(scene: Scene, *manifests: Manifest, seconds: float = 15) -> None:
    """Everything runs on s1, which is recommended for replacement; o1 has room."""
    scene.add_node("s1")
    scene.apply(*manifests)
    scene.settle(seconds)
    scene.add_node("o1", spot=False)
    scene.begin()
    scene.recommend("s1")


def test_a_deployment_s_pods_are_handed_over(scene: Scene) -> None:
    hinted(scene, deployment("web", 3))
    pods = [pod.name for pod in scene.pods("web")]
    scene.run(until=20)

    for pod in pods:
        assert [line.split(" ", 1)[1] for line in scene.story(pod)] == [
            "release NodeDoomed",
            "wait ReplacementPending",
            "evict ReplacementAvailable",
        ]
    assert max(scene.gone_at(pod) for pod in pods) < 4
    assert scene.lowest("web") == 3
    assert len(scene.pods("web", "o1")) == 3
    assert scene.story("s1") == [
        "0.0 mark RebalanceRecommendation",
        "1.0 cordon RebalanceRecommendation",
    ]


@pytest.mark.parametrize(
    ("manifests", "reason"),
    [
        ([deployment("app", **RECREATE)], "Recreate"),
        ([deployment("app", 3, notes={names.HANDOVER: "never"})], "HandoverNever"),
        ([deployment("app", 2, **NO_SURGE)], "NoSurge"),
        ([claim("disk"), deployment("app", pod=volume("disk"))], "SingleNodeVolume"),
        ([replica_set("app", 2)], "NoTemplateHash"),
        ([job("app")], "JobMayFinish"),
        ([bare_pod("app")], "BarePod"),
        ([daemon_set("app")], "DaemonSet"),
        ([deployment("app", pod={"annotations": {names.SAFE_TO_EVICT: "false"}})], "Protected"),
        ([deployment("app", notes={names.SAFE_TO_EVICT: "false"})], "Protected"),
        ([deployment("app", pod={"annotations": {names.DO_NOT_DISRUPT: "true"}})], "Protected"),
        ([stateful_set("app", pod={"annotations": {names.DO_NOT_DISRUPT: "true"}})], "Protected"),
    ],
)
def test_what_would_break_or_is_protected_is_left_until_the_hint_is_over(
    scene: Scene, manifests: list[Manifest], reason: str
) -> None:
    hinted(scene, *manifests)
    pods = [pod.name for pod in scene.pods("app", "s1")]
    scene.run(until=1000)

    assert pods
    assert [pod.name for pod in scene.pods("app", "s1")] == pods
    for pod in pods:
        assert scene.story(pod) == [f"1.0 leave {reason}"]
        assert scene.written(pod) == []


@pytest.mark.parametrize(
    ("word", "story"),
    [
        ("4h", ["1.0 leave Protected"]),
        ("80s", ["1.0 leave Protected", "25.0 release", "25.0 wait", "27.0 evict"]),
        ("10s", ["1.0 release", "1.0 wait", "3.0 evict"]),
    ],
)
def test_a_pod_that_is_not_to_be_disrupted_for_a_while_is_handed_over_after_it(
    scene: Scene, word: str, story: list[str]
) -> None:
    hinted(scene, deployment("app", pod={"annotations": {names.DO_NOT_DISRUPT: word}}))
    pod = scene.pod("app")
    scene.run(until=100)

    told = [" ".join(each.split()[: 3 if "leave" in each else 2]) for each in scene.story(pod)]
    assert told == story
    assert scene.lowest("app") == 1


@pytest.mark.parametrize("word", ["true", "4h"])
def test_a_protected_pod_is_handed_over_when_a_warning_follows(scene: Scene, word: str) -> None:
    kept = {"annotations": {names.DO_NOT_DISRUPT: word, names.SAFE_TO_EVICT: "false"}}
    hinted(scene, deployment("app", pod=kept))
    pod = scene.pod("app")
    scene.later(20, lambda: scene.interrupt("s1"))
    scene.run(until=60)

    assert scene.story(pod) == [
        "1.0 leave Protected",
        "21.0 release NodeDoomed",
        "21.0 wait ReplacementPending",
        "23.0 evict ReplacementAvailable",
    ]
    assert scene.lowest("app") == 1


def test_a_stateful_set_moves_one_ordinal_at_a_time_within_its_budget(scene: Scene) -> None:
    hinted(scene, stateful_set("db", 3), budget("db", maxUnavailable=1), seconds=20)
    scene.run(until=30)

    assert scene.story("db-2") == ["1.0 evict StatefulSet"]
    assert scene.story("db-1") == ["1.0 wait StatefulSet", "4.0 evict StatefulSet"]
    assert scene.story("db-0") == ["1.0 wait StatefulSet", "7.2 evict StatefulSet"]
    assert scene.lowest("db") == 2


@pytest.mark.parametrize(
    "bound",
    [
        {"maxUnavailable": 0},
        {"maxUnavailable": "0%"},
        {"minAvailable": "100%"},
        {"minAvailable": 4},
    ],
)
@pytest.mark.parametrize("make", [deployment, stateful_set])
def test_no_pod_moves_under_a_budget_that_leaves_no_room(
    scene: Scene, make: Callable[..., Manifest], bound: Manifest
) -> None:
    hinted(scene, make("app", 3), budget("app", **bound), seconds=20)
    pods = [pod.name for pod in scene.pods("app")]
    scene.run(until=1000)

    assert [pod.name for pod in scene.pods("app", "s1")] == pods
    assert all(scene.written(pod) == [] for pod in pods)


def test_no_pod_moves_under_two_budgets_whose_eviction_could_never_succeed(scene: Scene) -> None:
    first, second = (budget(name, "app", minAvailable=1) for name in ("first", "second"))
    hinted(scene, deployment("app", 3), first, second)
    pods = [pod.name for pod in scene.pods("app")]
    scene.run(until=1000)

    for pod in pods:
        assert scene.story(pod) == ["1.0 leave BudgetHolds", "870.0 leave TooLateForHandover"]
    assert len(scene.told("BudgetHolds")) == len(pods)


def test_a_workload_in_trouble_moves_once_it_is_well_again(scene: Scene) -> None:
    scene.add_node("s1")
    slow = {"annotations": {"evenkeel.test/ready-after": "60s"}}
    scene.apply(deployment("app", 2, pod=slow), budget("app", minAvailable=2))
    scene.settle(5)
    scene.add_node("o1", spot=False)
    scene.begin()
    pods = [pod.name for pod in scene.pods("app")]

    scene.recommend("s1")
    scene.run(until=200)

    for pod in pods:
        assert scene.story(pod)[:2] == ["1.0 leave BudgetHolds", "30.0 release NodeDoomed"]
    assert scene.lowest("app") == 0  # until the first pods were Ready at all
    assert len(scene.pods("app", "o1")) == 2
