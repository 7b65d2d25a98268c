"""Nodes that somebody drains on purpose: as for a recommendation, and the cordon stays."""

from datetime import timedelta
from functools import partial

import pytest

from evenkeel.decisions.notice.which_notice import decide
from evenkeel.errors import NotFoundError
from evenkeel.flows.selections import pods_on
from evenkeel.model import names
from evenkeel.model.decision import Decision
from evenkeel.model.metrics import Metric
from evenkeel.model.notice import Concern, Notice, NoticeKind
from evenkeel.model.release import ReleaseReason
from evenkeel_cli.cancelling import cancel
from evenkeel_cli.decisions import draining
from evenkeel_cli.draining.pods import Pods
from evenkeel_cli.retry_on_conflict import change
from evenkeel_cli.ways import situations
from tests.kit.builders import release_on
from tests.kit.manifests import bare_pod, deployment, job, stateful_set
from tests.kit.nodes import is_marked
from tests.kit.scene import Scene
from tests.stories.handover.hands import drain


def ended(scene: Scene, node: str, drain_id: str = "drain-1") -> Decision | None:
    """Do as the command does when nothing is left."""
    decide = partial(draining.end, drain_id=drain_id)
    return change(scene.cluster, node, decide, act=True)


@pytest.fixture
def running(scene: Scene) -> Scene:
    """Three pods of a Deployment on s1, and room for them on o1."""
    scene.given(deployment("web", 3), spare="o1")
    return scene


def test_pods_are_handed_over_and_the_cordon_stays(running: Scene) -> None:
    drain(running, "s1")
    running.run(until=200)

    assert len(running.pods("web", "o1")) == 3
    assert running.pods("web", "s1") == []
    assert running.lowest("web") == 3
    assert running.recorder.total(Metric.PODS_HANDED_OVER) == 3
    assert running.recorder.total(Metric.PODS_UNREPLACED) == 0
    assert is_marked(running.node("s1"))

    running.run(until=400)
    assert running.story("s1")[-1] == "300.0 lift DrainOver"
    assert not is_marked(running.node("s1"))
    assert running.node("s1").spec.unschedulable
    assert running.is_quiet


def test_all_nodes_are_drained_at_once_whatever_the_share_of_hints(scene: Scene) -> None:
    scene.given(deployment("web", 6), on="s1 s2 s3", spare="o1")
    drain(scene, "s1", "s2", "s3")
    scene.run(until=200)
    assert len(scene.pods("web", "o1")) == 6
    assert scene.lowest("web") == 6


def test_what_cannot_be_replaced_goes_back_when_time_is_up(scene: Scene) -> None:
    scene.given(deployment("web", 2))

    drain(scene, "s1")
    scene.run(until=100)
    (first, *_) = (each for each in scene.pods("web", "s1") if each.released)
    assert release_on(first).reason is ReleaseReason.DRAIN

    scene.run(until=400)
    pods = scene.pods("web", "s1")
    assert [(each.released, each.active) for each in pods] == [(False, True)] * 2
    assert scene.lowest("web") == 2
    assert scene.node("s1").spec.unschedulable
    assert scene.is_quiet


def test_what_a_hint_leaves_stays(scene: Scene) -> None:
    scene.given(bare_pod("bare"), job("batch"), stateful_set("db", 1), spare="o1")

    drain(scene, "s1")
    scene.run(until=400)

    assert [len(scene.pods(app, "s1")) for app in ("bare", "batch", "db")] == [1, 1, 0]
    assert scene.recorder.total(Metric.PODS_UNREPLACED) == 1


def test_a_warning_counts_before_a_drain_and_the_cordon_stays_all_the_same(
    running: Scene,
) -> None:
    drain(running, "s1")
    running.later(1, lambda: running.interrupt("s1", carried_out=False))
    running.run(until=20)
    notice = running.notice("s1")
    assert notice.kind is NoticeKind.INTERRUPTION

    running.run(until=400)
    assert not is_marked(running.node("s1"))
    assert running.node("s1").spec.unschedulable


@pytest.mark.parametrize("before", [False, True])
def test_cancelling_a_drain_lifts_its_cordon_and_no_other(running: Scene, *, before: bool) -> None:
    if before:
        running.cluster.server.patch("Node", ("", "s1"), {"spec": {"unschedulable": True}})
    drain(running, "s1")
    cancel(running.cluster, "s1", running.recorder, act=True)

    assert not is_marked(running.node("s1"))
    assert running.node("s1").spec.unschedulable is before


def scheduled(scene: Scene, node: str, ahead: timedelta = timedelta(days=9)) -> None:
    """AWS Health announces that the node's instance will be retired."""
    start = scene.clock.now() + ahead
    notice = Notice(
        kind=NoticeKind.REBALANCE,
        cause="scheduled-change",
        concerns=Concern.ANY,
        event_id="arn:aws:health:1",
        instance_id=scene.node(node).instance_id,
        time=scene.clock.now(),
        deadline=start - timedelta(minutes=15),
        ends_at=start,
    )
    decision = decide(scene.node(node), notice, scene.clock.now())
    assert decision.write is not None
    scene.cluster.perform([decision.write])


@pytest.mark.parametrize("first", ["drain", "change"])
def test_a_node_with_a_scheduled_change_is_drained_now_and_its_change_stays_noted(
    running: Scene, first: str
) -> None:
    if first == "drain":
        drain(running, "s1")
    scheduled(running, "s1")
    if first == "change":
        drain(running, "s1")
    running.run(until=200)

    assert len(running.pods("web", "o1")) == 3
    assert running.lowest("web") == 3
    notice = running.notice("s1")
    assert (notice.name, notice.keep_cordon) == ("scheduled-change", True)
    assert notice.ends_at is not None
    assert ended(running, "s1") is None


def test_without_leave_to_act_nothing_is_written(running: Scene) -> None:
    before = running.node("s1")
    drain(running, "s1", act=False)
    assert running.node("s1") == before


def test_a_node_that_is_not_there_is_said_to_be_so(running: Scene) -> None:
    with pytest.raises(NotFoundError):
        drain(running, "s9")


SCRATCH = {"name": "scratch", "emptyDir": {}}


def test_a_young_ordinal_goes_and_the_command_asks_about_its_local_data_first(scene: Scene) -> None:
    manifest = stateful_set("db", 1)
    manifest["spec"]["template"]["spec"]["volumes"] = [SCRATCH]
    (old,) = scene.given(manifest, spare="o1")
    said = Pods.of(situations(scene.cluster, [pods_on("s1")], scene.clock))
    assert [each.pod.name for each in said.going] == ["db-0"]
    assert [pod.name for pod in said.losing_data] == ["db-0"]

    drain(scene, "s1")
    scene.run(until=200)
    assert "evict StatefulSet" in scene.story(old).order()
    assert [pod.name for pod in scene.pods("db", "o1")] == ["db-0"]


def test_the_command_waits_for_a_pod_that_tolerates_the_mark_alone(scene: Scene) -> None:
    manifest = deployment("web", 1)
    tolerations = [{"key": names.DOOMED, "operator": "Exists"}]
    manifest["spec"]["template"]["spec"]["tolerations"] = tolerations
    scene.given(manifest, spare="o1")
    drain(scene, "s1")
    said = Pods.of(situations(scene.cluster, [pods_on("s1")], scene.clock))
    assert len(said.going) == 1

    scene.run(until=200)
    assert len(scene.pods("web", "o1")) == 1
