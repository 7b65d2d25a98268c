"""The table of pods on a rebalance recommendation: nothing is broken for a hint."""

from collections.abc import Callable

import pytest

from evenkeel.model import names
from tests.kit.manifests import (
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
from tests.kit.scene import BEGUN, Scene
from tests.stories.handover.hands import SETTLED


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
        ([deployment("app", notes={names.SAFE_TO_EVICT: "false"})], "Protected"),
        ([stateful_set("app", pod={"annotations": {names.DO_NOT_DISRUPT: "true"}})], "Protected"),
    ],
)
def test_what_would_break_or_is_protected_is_left_until_the_hint_is_over(
    scene: Scene, manifests: list[Manifest], reason: str
) -> None:
    scene.given(*manifests, spare="o1")
    scene.recommend("s1")
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
    (pod,) = scene.given(
        deployment("app", pod={"annotations": {names.DO_NOT_DISRUPT: word}}), spare="o1", settle=15
    )
    scene.recommend("s1").run(until=100)

    told = [" ".join(each.split()[: 3 if "leave" in each else 2]) for each in scene.story(pod)]
    assert told == story
    assert scene.lowest("app") == 1


@pytest.mark.parametrize("word", ["true", "4h"])
def test_a_protected_pod_is_handed_over_when_a_warning_follows(scene: Scene, word: str) -> None:
    kept = {"annotations": {names.DO_NOT_DISRUPT: word, names.SAFE_TO_EVICT: "false"}}
    (pod,) = scene.given(deployment("app", pod=kept), spare="o1")
    scene.recommend("s1")
    scene.later(20, lambda: scene.interrupt("s1"))
    scene.run(until=60)

    assert scene.story(pod).order() == ["leave Protected", *BEGUN, "evict ReplacementAvailable"]
    assert scene.lowest("app") == 1


def test_a_stateful_set_moves_one_ordinal_at_a_time_within_its_budget(scene: Scene) -> None:
    whole = (stateful_set("db", 3), budget("db", maxUnavailable=1))
    scene.given(*whole, spare="o1", settle=SETTLED)
    scene.recommend("s1").run(until=30)

    known_at_once = ["wait StatefulSet", "evict StatefulSet"]
    assert scene.story("db-2").order() == ["evict StatefulSet"]
    assert scene.story("db-1").order() == known_at_once
    assert scene.story("db-0").order() == known_at_once
    assert scene.lowest("db") == 2


@pytest.mark.parametrize("make", [deployment, stateful_set])
def test_no_pod_moves_under_a_budget_that_leaves_no_room(
    scene: Scene, make: Callable[..., Manifest]
) -> None:
    held = (make("app", 3), budget("app", maxUnavailable=0))
    pods = scene.given(*held, spare="o1", settle=SETTLED)
    scene.recommend("s1").run(until=1000)

    assert [pod.name for pod in scene.pods("app", "s1")] == pods
    assert all(scene.written(pod) == [] for pod in pods)


def test_a_workload_in_trouble_moves_once_it_is_well_again(scene: Scene) -> None:
    slow = {"annotations": {"evenkeel.test/ready-after": "60s"}}
    pods = scene.given(
        deployment("app", 2, pod=slow), budget("app", minAvailable=2), spare="o1", settle=5
    )

    scene.recommend("s1").run(until=200)

    for pod in pods:
        assert scene.story(pod).order()[:2] == ["leave BudgetHolds", "release NodeDoomed"]
    assert scene.lowest("app") == 0  # until the first pods were Ready at all
    assert len(scene.pods("app", "o1")) == 2
