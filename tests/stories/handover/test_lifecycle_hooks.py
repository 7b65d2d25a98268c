"""An Auto Scaling group ends a node, and waits for its pods as long as its hook allows."""

import itertools
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from evenkeel.decisions.notice import mark
from evenkeel.errors import LifecycleError
from evenkeel.model import names
from evenkeel.model.hook import Hook
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict, Patch
from evenkeel.settings import Mode
from tests.kit import builders
from tests.kit.manifests import (
    PAUSED,
    bare_pod,
    budget,
    daemon_set,
    deployment,
    job,
)
from tests.kit.scene import CALM, Scene
from tests.stories.handover.conftest import MakeScene

HOUR = 3_600


def on_the_last_node(scene: Scene, *manifests: dict[str, object], spot: bool = False) -> None:
    """Everything runs on n1, which the group is going to end; o1 has room."""
    scene.add_node("n1", spot=spot)
    scene.given(*manifests, on="", spare="o1")


def hook_of(scene: Scene) -> Hook:
    notice = scene.notice("n1")
    assert notice.hook is not None
    return notice.hook


@pytest.mark.parametrize("spot", [True, False])
def test_the_group_goes_on_when_the_last_pod_has_left(scene: Scene, *, spot: bool) -> None:
    manifests = (deployment("web", 2), budget("web", minAvailable=2), daemon_set("agent"))
    on_the_last_node(scene, *manifests, spot=spot)
    scene.scale_in("n1").run(until=800)

    (completed,) = scene.told_group("complete")
    assert 3 < completed < 60
    assert scene.pods("web", "n1") == []
    assert scene.lowest("web") == 2
    assert scene.is_quiet
    assert any(reason.reason == "LifecycleActionCompleted" for _, reason in scene.told())


def test_the_group_goes_on_though_watches_show_evictions_late(make_scene: MakeScene) -> None:
    """No invocation ends between the reply to an eviction and what the watch shows of it."""
    late = timedelta(seconds=0.5)
    scene = make_scene(options=replace(CALM, watch_latency=late))
    on_the_last_node(scene, deployment("web", 2, pod={"terminationGracePeriodSeconds": 2}))
    scene.scale_in("n1").run(until=120)

    (completed,) = scene.told_group("complete")
    evicted = [sent.at for sent in scene.written() if isinstance(sent.write, Evict)]
    assert len(evicted) == 2
    assert completed - max(evicted) < 2


def test_no_pod_is_cut_short_by_the_group(scene: Scene) -> None:
    """The machine would be off before its grace period is over."""
    on_the_last_node(scene, deployment("web", 1))
    scene.scale_in("n1")
    left = list[list[Pod]]()
    scene.on_take = lambda: left.append(scene.pods("web", "n1"))
    scene.run(until=120)
    assert left == [[]]


def test_heartbeats_are_sent_while_pods_are_there_then_the_group_goes_on(scene: Scene) -> None:
    on_the_last_node(scene, job("sums"))
    scene.scale_in("n1", heartbeat=120, longest=900).run(until=1_000)

    beats = scene.told_group("heartbeat")
    assert beats[0] < 5
    assert all(later - sooner < 120 for sooner, later in itertools.pairwise(beats))
    assert beats[-1] > 800
    assert 840 < scene.gone_at(next(s.name for s in scene.written() if "sums" in s.name)) < 900
    (completed,) = scene.told_group("complete")
    assert completed <= 905


def test_a_group_that_heard_nothing_would_have_gone_on(scene: Scene) -> None:
    """So the heartbeats of the story above are needed."""
    on_the_last_node(scene, job("sums"))
    scene.scale_in("n1", heartbeat=120, longest=900)
    scene.later(2, lambda: scene.auto_scaling.fail(LifecycleError("away")))
    scene.run(until=300)
    assert "n1" not in scene.observer.nodes


@pytest.mark.parametrize(("longest", "deadline"), [(600, 600), (100_000, HOUR)])
def test_a_hook_is_waited_for_as_long_as_its_limit_says_and_an_hour_at_most(
    scene: Scene, longest: int, deadline: int
) -> None:
    on_the_last_node(scene, job("sums"))
    scene.scale_in("n1", heartbeat=60, longest=longest).run(until=5)
    notice = scene.notice("n1")
    assert notice.deadline == scene.at(deadline)
    assert (notice.name, notice.kind.value) == ("lifecycle-action", "interruption")
    assert hook_of(scene).heartbeat == 60


def test_no_invocation_waits_for_the_end(scene: Scene) -> None:
    on_the_last_node(scene, job("sums"))
    scene.scale_in("n1", heartbeat=3_600).run(until=600)
    assert scene.moving.running == []
    assert scene.schedule.running == []


def test_an_event_that_comes_again_changes_nothing(scene: Scene) -> None:
    on_the_last_node(scene, job("sums"))
    scene.scale_in("n1").run(until=30)
    version = scene.node("n1").metadata.resource_version
    for _ in range(3):
        scene.redeliver()
    scene.run(until=45)
    assert scene.node("n1").metadata.resource_version == version


def test_a_hook_that_is_gone_is_acknowledged(scene: Scene) -> None:
    on_the_last_node(scene, job("sums"))
    scene.scale_in("n1")
    scene.auto_scaling.delete_hook("workers", "evenkeel")
    scene.run(until=10)
    assert mark.read(scene.node("n1")) is None
    assert [d.reason for _, d in scene.told()] == ["NoLifecycleHook"]
    assert scene.is_quiet


def test_a_hook_of_somebody_else_is_left_to_him(scene: Scene) -> None:
    on_the_last_node(scene, job("sums"))
    scene.scale_in("n1", name="Terminate-LC-Hook").run(until=60)
    assert mark.read(scene.node("n1")) is None
    assert scene.auto_scaling.calls == []
    assert scene.is_quiet


def test_an_event_waits_for_an_answer_of_auto_scaling(scene: Scene) -> None:
    on_the_last_node(scene, deployment("web", 1))
    scene.auto_scaling.fail(LifecycleError("away"))
    scene.scale_in("n1").run(until=20)
    assert {d.reason for _, d in scene.told()} == {"NoAnswerFromAutoScaling"}
    scene.auto_scaling.fail(None)
    scene.run(until=120)
    assert scene.pods("web", "n1") == []
    assert len(scene.told_group("complete")) == 1


def test_a_token_that_is_refused_is_told_once_and_never_tried_again(scene: Scene) -> None:
    on_the_last_node(scene, job("sums"))
    scene.scale_in("n1").run(until=5)
    scene.auto_scaling.forget()
    scene.run(until=400)
    assert hook_of(scene).is_over
    assert len([1 for _, d in scene.told() if d.reason == "LifecycleActionGone"]) == 1
    calls = len(scene.auto_scaling.calls)
    scene.run(until=900)
    assert len(scene.auto_scaling.calls) == calls
    assert scene.told_group("complete") == []


@pytest.mark.parametrize("trouble", ["an outage", "slow answers"])
def test_trouble_of_auto_scaling_delays_no_last_moment(scene: Scene, trouble: str) -> None:
    def begin() -> None:
        if trouble == "an outage":
            scene.auto_scaling.fail(LifecycleError("away"))
        else:
            scene.auto_scaling.answer_after(timedelta(seconds=9))

    on_the_last_node(scene, bare_pod("alone"), deployment("web", 1))
    scene.scale_in("n1", longest=300)
    scene.later(3, begin)
    scene.run(until=340)
    assert 240 < scene.gone_at("alone") < 300
    assert scene.lowest("web") == 1


def test_the_group_goes_on_at_the_deadline_whatever_is_left(scene: Scene) -> None:
    """The owner of the pod keeps it to the end, and the hook would be waited for longer."""
    kept = deployment("web", 1, pod={"annotations": {names.AT_DEADLINE: "leave"}})
    scene.given(kept, budget("web", minAvailable=1), on="n1")
    scene.scale_in("n1").run(until=HOUR - 1)
    assert scene.told_group("complete") == []
    assert len(scene.pods("web", "n1")) == 1
    scene.run(until=HOUR + 30)
    (completed,) = scene.told_group("complete")
    assert HOUR <= completed < HOUR + 15


def test_in_observe_mode_the_group_is_told_nothing(make_scene: MakeScene) -> None:
    """Not even of a node that was marked while Evenkeel acted."""
    scene = make_scene(mode=Mode.OBSERVE)
    on_the_last_node(scene, deployment("web", 1))
    hook = Hook(group="workers", name="evenkeel", token="t", heartbeat=300)
    at, end = scene.at(0), scene.at(HOUR)
    notice = builders.notice(deadline=end, since=at, cause="lifecycle-action", hook=hook)
    metadata = {
        "labels": {names.DOOMED: notice.name},
        "annotations": {names.NOTICE: msgspec.json.encode(notice).decode()},
    }
    scene.cluster.server.patch("Node", ("", "n1"), {"metadata": metadata})
    scene.scale_in("n1").run(until=120)
    assert scene.outcomes() != []
    assert scene.told_group("heartbeat") == scene.told_group("complete") == []
    assert [s for s in scene.writes if isinstance(s.write, Patch)] == []


def test_while_paused_the_group_is_told_nothing(scene: Scene) -> None:
    on_the_last_node(scene, job("sums"))
    scene.scale_in("n1").run(until=5)
    scene.apply(PAUSED)
    scene.run(until=7)
    told = len(scene.auto_scaling.calls)
    scene.run(until=250)
    assert len(scene.auto_scaling.calls) == told


@pytest.mark.parametrize("name", ["", "Terminate-LC-Hook"])
def test_a_hook_in_an_annotation_counts_only_where_it_is_the_deployments(
    make_scene: MakeScene, name: str
) -> None:
    """A kubelet may write its node's annotation."""
    scene = make_scene(lifecycle_hook=name)
    on_the_last_node(scene, job("sums"))
    scene.scale_in("n1").run(until=60)
    assert hook_of(scene).name == "evenkeel"
    assert scene.told_group("heartbeat") == scene.told_group("complete") == []


def test_no_warning_of_the_same_batch_waits_for_more_than_one_question(scene: Scene) -> None:
    nodes = [f"o{number}" for number in range(9)]
    scene.given(on=" ".join([*nodes, "s1"]))
    scene.auto_scaling.fail(LifecycleError("away"))
    scene.auto_scaling.answer_after(timedelta(seconds=3))
    scene.scale_in(*nodes)
    scene.interrupt("s1", carried_out=False).run(until=8)
    assert mark.read(scene.node("s1")) is not None
