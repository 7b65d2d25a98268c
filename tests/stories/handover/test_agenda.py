"""The agenda in whole stories; one eviction a second, so that each pod stands for 60.

Without others a pod that finds no new place goes 31 s before its deadline: 30 s of grace, and
one for the eviction itself.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.drain import agenda
from evenkeel.flows.drain.dispatch.forced_evictions import Answers
from evenkeel.model import names
from evenkeel.model.request import Evict
from tests.kit.manifests import bare_pod, budget, daemon_set, deployment, job, on_node
from tests.kit.scene import CALM, Scene
from tests.stories.handover.conftest import MakeScene

ALONE = 88.0


FULL: dict[str, Any] = {"annotations": {names.GRACE_PERIOD: "full"}}
KEPT: dict[str, Any] = {"annotations": {names.AT_DEADLINE: "leave"}}


@pytest.fixture
def scene(make_scene: MakeScene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(agenda, "RESERVE", 0)
    monkeypatch.setattr(Answers, "fastest", 0)  # as if the API server had never shown more
    return make_scene(evictions_per_second=1)


def test_a_pod_that_waits_does_not_go_early_when_an_invocation_begins(scene: Scene) -> None:
    """Others have theirs and are still there: here a budget refuses them."""
    scene.given(
        deployment("stuck", pod=on_node("s1")),
        deployment("others", 25, pod=KEPT),
        budget("others", minAvailable=1000),
        spare="o1",
    )
    old = scene.pod("stuck")
    scene.interrupt("s1").run(until=118)
    assert scene.gone_at(old) == pytest.approx(ALONE, abs=0.2)


def test_a_pod_that_is_not_evicted_makes_no_other_go_early(scene: Scene) -> None:
    """DaemonSets' pods, and what is left on nodes that stopped long ago."""
    stopped = [f"stopped-{number}" for number in range(3)]
    agents = [daemon_set(f"agent-{number}") for number in range(20)]
    scene.given(*agents, deployment("stuck", pod=on_node("s1")), on=" ".join([*stopped, "s1"]))
    scene.interrupt(*stopped, action="stop").run(until=400)
    old = scene.pod("stuck")
    scene.interrupt("s1").run(until=525)
    assert scene.gone_at(old) - 400 == pytest.approx(ALONE, abs=0.5)


def test_a_node_that_dies_first_does_not_queue_behind_one_that_dies_later(scene: Scene) -> None:
    scene.place(deployment("web", 20), on="a", room={"a": "2"})
    scene.given(deployment("web", 40), on="b", room={"b": "2"})
    on_a = scene.pods("web", "a")
    assert len(on_a) == 20
    scene.interrupt("a").run(until=50)
    scene.interrupt("b").run(until=175)
    first = min(scene.gone_at(pod.name) for pod in on_a)
    assert first == pytest.approx(ALONE + 1 - 20, abs=0.5)


def test_where_nothing_can_be_replaced_what_leaves_most_behind_goes_first(scene: Scene) -> None:
    """So no workload loses much early, and its last pod goes at the very end."""
    scene.place(deployment("half", 5, pod=FULL), on="o1", room={"o1": "500m"})
    scene.add_node("s1", room="2")
    scene.cluster.scale("Deployment", "half", "default", 10)
    scene.given(deployment("none", 5, pod=FULL), deployment("one"), on="")
    going = {app: [pod.name for pod in scene.pods(app, "s1")] for app in ("half", "none", "one")}
    assert {app: len(pods) for app, pods in going.items()} == {"half": 5, "none": 5, "one": 1}
    scene.interrupt("s1").run(until=118)

    last = ALONE + 1
    before = {
        app: [round(last - at) for at in sorted(map(scene.gone_at, pods))]
        for app, pods in going.items()
    }
    half, none, one = before["half"], before["none"], before["one"]
    assert (half[0], {half[1], none[0]}, half[2]) == (11, {10, 9}, 8)  # 0.9, 0.8, 0.7 of it left
    assert ({half[3], none[1]}, half[4]) == ({7, 6}, 5)  # 0.6, 0.5
    assert (none[2], none[3], {none[4], one[0]}) == (4, 3, {2, 1})  # 0.4, 0.2, nothing


@pytest.mark.parametrize("grace", [30, 10])
def test_pods_that_nothing_replaces_make_no_single_replica_go_early(
    scene: Scene, grace: int
) -> None:
    """They take the slots before its own, also where they could go later than it can."""
    scene.given(
        deployment("one", pod=on_node("s1")),
        *(bare_pod(f"bare-{number}", grace=grace) for number in range(15)),
        job("run", pod={"grace": grace}, parallelism=15, completions=15),
    )
    (old,) = scene.pods("one", "s1")
    scene.interrupt("s1").run(until=118)
    assert scene.gone_at(old.name) == pytest.approx(ALONE, abs=0.2)
    others = sorted(scene.gone_at(f"bare-{number}") for number in range(15))
    assert others[0] < others[-1] <= 118 - grace + 1.5, "each in time"


def test_a_single_replica_goes_by_its_deadline_where_more_is_due_than_can_be_sent(
    make_scene: MakeScene,
) -> None:
    """What was due before and may go later goes later: here four evictions at a time take 8 s."""
    scene = make_scene(options=replace(CALM, capacity=4), evictions_per_second=4)
    others = [bare_pod(f"bare-{number}", grace=2, cpu="10m") for number in range(130)]
    scene.given(
        deployment("one", pod=on_node("s1")), *others, on="s1 s2", settle=60, room={"s": "8"}
    )
    (old,) = scene.pods("one", "s1")
    scene.delay(timedelta(seconds=8), lambda request: isinstance(request, Evict))
    scene.interrupt("s1", "s2").run(until=121)
    (gone,) = [sent.at for sent in scene.written(old.name) if isinstance(sent.write, Evict)]
    told = [sent for sent in scene.written() if isinstance(sent.write, Evict)]
    assert len(told) < len(others), "not so many that it matters"
    assert gone == pytest.approx(ALONE, abs=5)
