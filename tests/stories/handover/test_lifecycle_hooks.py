"""An Auto Scaling group ends a node, and waits for its pods as long as its hook allows."""

import itertools
from dataclasses import replace
from datetime import timedelta
from functools import partial

import msgspec
import pytest

from evenkeel.decisions.notice import mark
from evenkeel.errors import LifecycleError, UnavailableError
from evenkeel.model import names
from evenkeel.model.hook import Hook, HookTimes, Termination, noted, waiting_in
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict, Get, Patch
from evenkeel.settings import Mode
from tests.kit import builders
from tests.kit.asking import asks
from tests.kit.manifests import (
    PAUSED,
    bare_pod,
    budget,
    daemon_set,
    deployment,
    job,
    resource,
    stateful_set,
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


def test_a_pod_that_takes_all_of_its_grace_period_is_gone_before_its_node_ends(
    scene: Scene,
) -> None:
    """Else it stays in the API until the garbage collector comes, and with it its ordinal."""
    stops_late = {"annotations": {"evenkeel.test/stop-after": "5s"}, "grace": 5}
    on_the_last_node(scene, stateful_set("db", 1, pod=stops_late))
    scene.scale_in("n1").run(until=20)
    assert len(scene.told_group("complete")) == 1
    assert [pod.spec.node_name for pod in scene.pods("db") if pod.ready] == ["o1"]


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


# A mark goes with its node, so the reconciler's Lease keeps what waits.


def kept(scene: Scene) -> list[Termination]:
    """What the Lease says that is waited for."""
    (lease,) = scene.cluster.objects("Lease", names.SYSTEM_NAMESPACE)
    return list(waiting_in(lease["metadata"]["annotations"].get(names.WAITING_HOOKS)).values())


def note(scene: Scene, *terminations: Termination) -> None:
    """Write on the Lease that these are waited for, as a holder does."""
    notes = {names.WAITING_HOOKS: noted(terminations)}
    scene.apply(resource("Lease", names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE, notes=notes))


def waiting(scene: Scene, instance_id: str, node: str, name: str = "evenkeel") -> Termination:
    """A termination that a group has begun, and what is said to be its node."""
    hook = Hook(group="workers", name=name, token="87654321-4321-4321-4321-210987654321")
    times = HookTimes(timedelta(seconds=HOUR), timedelta(seconds=HOUR))
    scene.auto_scaling.put_hook("workers", name, times)
    scene.auto_scaling.begin(Termination(hook, instance_id))
    return Termination(hook, instance_id, node)


GONE = "i-00000000000000bad"


@pytest.mark.parametrize("environments_kept", [True, False])
def test_the_group_goes_on_when_its_node_is_deleted(
    make_scene: MakeScene, *, environments_kept: bool
) -> None:
    """Also where the invocation that knew the node has died."""
    scene = make_scene(environments_kept=environments_kept)
    on_the_last_node(scene, job("sums"))
    instance_id = scene.node("n1").instance_id
    scene.scale_in("n1").run(until=30)
    assert [(each.node, each.instance_id) for each in kept(scene)] == [("n1", instance_id)]
    assert scene.told_group("complete") == []

    scene.cluster.delete("Node", "n1")
    scene.run(until=300)

    (completed,) = scene.told_group("complete")
    assert completed <= 95
    (told,) = [each for _, each in scene.told("LifecycleActionCompleted")]
    assert (told.subject.kind, told.subject.name) == ("Instance", instance_id)
    assert told.message == "node n1 is gone: the group workers may go on"
    assert kept(scene) == []
    assert scene.is_quiet


@pytest.mark.parametrize("waits", [True, False])
def test_who_comes_later_lets_the_group_of_a_node_that_is_gone_go_on(
    scene: Scene, *, waits: bool
) -> None:
    """No node is marked any more, nor any wake-up in the queue."""
    scene.given(on="s1")
    termination = waiting(scene, GONE, "gone")
    note(scene, termination)
    if not waits:
        scene.auto_scaling.forget()
    scene.run(until=200)
    assert len(scene.told_group("complete")) == 1
    assert len(scene.told("LifecycleActionCompleted" if waits else "LifecycleActionGone")) == 1
    assert kept(scene) == []


def test_a_name_that_another_instance_has_now_keeps_no_group_waiting(scene: Scene) -> None:
    scene.given(on="s1")
    note(scene, waiting(scene, GONE, "s1"))
    scene.run(until=100)
    assert len(scene.told_group("complete")) == 1
    assert mark.read(scene.node("s1")) is None


def test_the_group_of_a_node_that_is_gone_is_told_again_until_it_answers(scene: Scene) -> None:
    scene.given(on="s1")
    note(scene, waiting(scene, GONE, "gone"))
    scene.auto_scaling.fail(LifecycleError("away"))
    scene.run(until=100)
    tries = len(scene.told_group("complete"))
    assert 2 <= tries <= 20
    assert len(kept(scene)) == 1
    scene.auto_scaling.fail(None)
    scene.run(until=200)
    assert len(scene.told_group("complete")) == tries + 1
    assert kept(scene) == []


def test_no_group_is_told_while_nobody_knows_whether_the_node_is_gone(scene: Scene) -> None:
    scene.given(on="s1")
    note(scene, waiting(scene, GONE, "gone"))
    asked = asks(Get, of=Node, name="gone")
    scene.fail(UnavailableError("away"), asked)
    scene.run(until=150)
    assert scene.told_group("complete") == []
    assert len(kept(scene)) == 1
    assert 2 <= sum(asked(request) for _, request in scene.requests) <= 150 / 5 + 1


@pytest.mark.parametrize("why", ["observe", "paused"])
def test_the_group_of_a_node_that_is_gone_is_told_nothing_where_evenkeel_does_not_act(
    make_scene: MakeScene, why: str
) -> None:
    scene = make_scene(mode=Mode.OBSERVE if why == "observe" else Mode.ACT)
    scene.given(on="s1")
    note(scene, waiting(scene, GONE, "gone"))
    if why == "paused":
        scene.apply(PAUSED)
    scene.run(until=200)
    assert scene.auto_scaling.calls == []
    assert len(kept(scene)) == 1


@pytest.mark.parametrize("where", ["under its own name", "under another", "of another hook"])
def test_what_the_lease_says_ends_no_termination_of_a_node_that_is_there(
    scene: Scene, where: str
) -> None:
    """Somebody wrote it there who knows the token."""
    on_the_last_node(scene, job("sums"))
    name = "other" if where == "of another hook" else "evenkeel"
    scene.scale_in("n1", name=name)
    hook = Hook(group="workers", name=name, token="87654321-4321-4321-4321-000000000000")
    node = "n1" if where == "under its own name" else "ghost"
    forged = Termination(hook, scene.node("n1").instance_id, node)
    for seconds in range(20, 200, 7):
        scene.later(seconds, partial(note, scene, forged))
    scene.run(until=250)
    assert scene.told_group("complete") == []
    assert len(scene.pods("sums", "n1")) == 1


def test_a_mark_that_is_lifted_takes_its_termination_from_the_lease(scene: Scene) -> None:
    """Evenkeel waits for it no more; the group goes on by its own timeout."""
    scene.given(on="s1")
    note(scene, waiting(scene, scene.node("s1").instance_id, "s1"))
    scene.run(until=100)
    assert scene.told_group("complete") == []
    assert kept(scene) == []


def test_where_no_hook_is_heeded_the_lease_keeps_what_others_wait_for(
    make_scene: MakeScene,
) -> None:
    scene = make_scene(lifecycle_hook="")
    scene.given(deployment("web", 1), on="s1", spare="o1")
    note(scene, waiting(scene, GONE, "gone"))
    scene.interrupt("s1").run(until=60)
    assert scene.told_group("complete") == []
    assert [each.node for each in kept(scene)] == ["gone"]
