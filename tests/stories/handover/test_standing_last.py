"""Pods whose nodes die before their replacements run: the last ones of a workload stand longest."""

from typing import Any

import pytest

from evenkeel.model import names
from tests.kit.manifests import Manifest, budget, deployment, stateful_set
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene

LATE: dict[str, Any] = {"annotations": {"evenkeel.test/ready-after": "20s"}}
"""What a pod template says whose pods need 20 s to get Ready."""


@pytest.fixture
def scene(make_scene: MakeScene) -> Scene:
    """Without seats: these stories are of turns, and not of what turns wait for."""
    return make_scene(seats=0)


def begin(scene: Scene, *manifests: Manifest, node_at: float) -> list[str]:
    """All runs on s1, which is interrupted; the node o1 comes that late. The names of the pods."""
    pods = scene.given(*manifests, settle=40)
    scene.interrupt("s1")
    scene.later(node_at, lambda: scene.add_node("o1", spot=False))
    scene.run(until=150)
    return pods


def told_at(scene: Scene, pods: list[str]) -> list[float]:
    """When each was told to go, in order, in whole seconds."""
    return sorted(int(scene.gone_at(pod)) for pod in pods)


def test_a_majority_stands_until_its_replacements_run(scene: Scene) -> None:
    """They have a node since 80 s, and are Ready at 100 s."""
    pods = begin(scene, deployment("web", 6, pod=LATE), node_at=80)
    assert scene.lowest("web") == 4
    at = told_at(scene, pods)
    assert at[:2] == [83, 88]
    assert all(100 <= each <= 102 for each in at[2:])


@pytest.mark.parametrize(
    ("bound", "lowest"), [({"minAvailable": 5}, 5), ({"maxUnavailable": 4}, 2)]
)
def test_as_many_stand_as_a_budget_says(scene: Scene, bound: Manifest, lowest: int) -> None:
    begin(scene, deployment("web", 6, pod=LATE), budget("web", **bound), node_at=80)
    assert scene.lowest("web") == lowest


def test_a_single_pod_stands_while_its_replacement_starts(scene: Scene) -> None:
    begin(scene, deployment("web", 1, pod=LATE), node_at=80)
    assert scene.lowest("web") == 1


def test_what_was_seen_to_stop_fast_stands_although_no_node_has_come(scene: Scene) -> None:
    """The first shows how long the others take; they are told to go 6 s before their node ends."""
    pods = begin(scene, deployment("web", 3, pod=LATE), node_at=110)
    assert told_at(scene, pods) == [83, 113, 113]


def test_what_takes_long_to_stop_is_told_in_time(scene: Scene) -> None:
    slow = LATE["annotations"] | {"evenkeel.test/stop-after": "15s"}
    pods = begin(scene, deployment("web", 3, pod={"annotations": slow}), node_at=200)
    assert told_at(scene, pods) == [83, 88, 88]


def test_it_is_said_what_does_not_fit(scene: Scene) -> None:
    begin(scene, deployment("web", 3, pod=LATE), node_at=110)
    last = [decision.message for _, decision in scene.told("LastMoment")]
    assert len(last) == 3
    assert sum("it stood last" in each and "25 s of its grace period" in each for each in last) == 2


def test_who_asks_for_all_of_the_grace_period_gets_it(scene: Scene) -> None:
    asks = {"annotations": {names.GRACE_PERIOD: "full", **LATE["annotations"]}}
    pods = begin(scene, deployment("web", 3, pod=asks), node_at=80)
    assert scene.lowest("web") == 0
    assert told_at(scene, pods)[-2:] == [88, 88]


def test_ordinals_stand_once_one_was_seen_to_stop(scene: Scene) -> None:
    """The first goes in its turn, at once. The others keep what it took, not all of 30 s."""
    pods = begin(scene, stateful_set("db", 3, pod=LATE), node_at=80)
    assert scene.lowest("db") == 1
    assert told_at(scene, pods) == [1, 102, 113]


def test_a_single_ordinal_keeps_its_grace_period(scene: Scene) -> None:
    begin(scene, stateful_set("db", 1, pod=LATE), node_at=80)
    assert scene.gone_at("db-0") == 1.0
