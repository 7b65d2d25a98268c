"""What becomes of a doomed node itself: excluded, completed, out of service, or alive after all."""

from datetime import timedelta

import pytest

from evenkeel.errors import InstancesError, UnavailableError
from evenkeel.flows import selections
from evenkeel.flows.selections import PAGE
from evenkeel.model import names
from evenkeel.model.node import Node
from evenkeel.model.request import List
from tests.kit.asking import asks
from tests.kit.manifests import (
    Manifest,
    bare_pod,
    budget,
    claim,
    daemon_set,
    deployment,
    on_node,
    stateful_set,
    volume,
)
from tests.kit.nodes import is_marked
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene

HANGING: Manifest = {"grace": 300, "annotations": {"evenkeel.test/stop-after": "290s"}}
"""A pod that is still ending when its node goes."""

KEPT: Manifest = {"annotations": {names.AT_DEADLINE: "leave"}}
"""A pod that its owner keeps to the end."""


def is_excluded(node: Node) -> bool:
    """Whether load balancers are told to leave the node."""
    return names.EXCLUDE_FROM_LOAD_BALANCERS in node.metadata.labels


def is_untouched(node: Node) -> bool:
    """Whether nothing is left of a mark."""
    return not (is_marked(node) or node.spec.unschedulable or is_excluded(node))


def test_load_balancers_leave_a_node_with_its_last_pod(scene: Scene) -> None:
    scene.given(deployment("web", 2), spare="o1")

    scene.interrupt("s1").run(until=3)
    assert not is_excluded(scene.node("s1"))
    scene.run(until=10)

    assert is_excluded(scene.node("s1"))
    assert scene.story("s1").order() == [
        "mark SpotInterruption",
        "exclude-from-load-balancers NodeDying",
    ]
    assert scene.recorder.total("NodesExcluded") == 1


def test_load_balancers_leave_a_node_a_minute_before_its_deadline(scene: Scene) -> None:
    scene.given(deployment("stuck"), spare="o1", room={"o1": "0.01"})

    scene.interrupt("s1").run(until=110)

    assert scene.story("s1")[1:] == ["60.0 exclude-from-load-balancers NodeDying"]


def without_a_target(scene: Scene, app: str, until: float) -> int:
    """For how many seconds no Ready pod is on a node that load balancers send to."""
    lacking = 0
    for _ in range(int(until - scene.seconds)):
        scene.run(until=scene.seconds + 1)
        reached = [each for each in scene.pods(app) if each.ready and not each.leaving]
        lacking += all(is_excluded(scene.node(each.spec.node_name)) for each in reached)
    return lacking


SLOW: Manifest = {"annotations": {"evenkeel.test/ready-after": "24s"}}


@pytest.mark.parametrize(
    ("manifests", "room", "lacking"),
    [
        pytest.param([stateful_set("app", 3, pod=SLOW)], "4", 0, id="ordinals"),
        pytest.param([stateful_set("app", 3, pod=SLOW)], "0.01", 60, id="ordinals without room"),
        pytest.param([bare_pod("app")], "4", 60, id="a bare pod"),
    ],
)
def test_load_balancers_keep_a_node_while_pods_serve_there_that_go_in_another_way(
    scene: Scene, manifests: list[Manifest], room: str, lacking: int
) -> None:
    """But for the last minute. With externalTrafficPolicy Local no other node has these pods."""
    scene.given(*manifests, daemon_set("agent"), spare="o1", room={"o1": room}, settle=100)
    scene.interrupt("s1")
    assert without_a_target(scene, "app", 120) == pytest.approx(lacking, abs=1)


def test_load_balancers_keep_a_node_whose_group_waits_for_an_hour(scene: Scene) -> None:
    scene.add_node("n1", spot=False)
    scene.given(stateful_set("db", 2), on="", spare="o1", room={"o1": "0.01"})
    scene.scale_in("n1").run(until=3_500)
    assert not is_excluded(scene.node("n1"))
    scene.run(until=3_560)
    assert is_excluded(scene.node("n1"))


def test_load_balancers_leave_a_node_that_only_its_own_pods_are_on(scene: Scene) -> None:
    scene.given(daemon_set("agent"), spare="o1")
    scene.interrupt("s1").run(until=10)
    assert is_excluded(scene.node("s1"))


def test_load_balancers_leave_a_node_whose_pods_others_have_moved(scene: Scene) -> None:
    """No watch shows a bare pod; it is looked for every ten seconds."""
    (pod,) = scene.given(bare_pod("app"), spare="o1")
    scene.later(15, lambda: scene.cluster.delete("Pod", pod, "default"))
    scene.interrupt("s1").run(until=14)
    assert not is_excluded(scene.node("s1"))
    scene.run(until=40)
    assert is_excluded(scene.node("s1"))


@pytest.mark.parametrize("taken", [False, True], ids=["it lives on", "it is taken"])
def test_a_node_without_a_provider_id_comes_to_its_end_as_others_do(
    scene: Scene, *, taken: bool
) -> None:
    scene.given(deployment("web", 2), spare="o1")
    instance_id = scene.node("s1").instance_id
    scene.cluster.server.patch("Node", ("", "s1"), {"spec": {"providerID": None}})
    warned = {"instance-id": instance_id, "instance-action": "terminate"}
    scene.put("aws.ec2", "EC2 Spot Instance Interruption Warning", warned)
    if taken:
        scene.later(120, lambda: scene.instances.set_state(instance_id, "terminated"))
    scene.run(until=200)
    assert scene.pods("web", "s1") == []
    assert scene.lowest("web") == 2
    assert is_untouched(scene.node("s1")) is not taken
    assert scene.is_quiet


def test_the_last_node_stays_behind_its_load_balancers(scene: Scene) -> None:
    scene.given(deployment("stuck"))

    scene.interrupt("s1").run(until=110)

    assert scene.story("s1").order()[1:] == ["leave NoOtherNode"]
    assert not is_excluded(scene.node("s1"))


def test_of_nodes_that_go_one_after_the_other_the_last_stays(scene: Scene) -> None:
    """All in one invocation, which a pod without a place keeps busy."""
    scene.given(deployment("stuck"), spare="s2 s3", room={"s2": "0.01", "s3": "0.01"})

    scene.interrupt("s1")
    scene.later(2, lambda: scene.interrupt("s2"))
    scene.later(4, lambda: scene.interrupt("s3"))
    scene.run(until=15)

    assert scene.story("s2").order()[1:] == ["exclude-from-load-balancers NodeDying"]
    assert scene.story("s3").order()[1:] == ["leave NoOtherNode"]


def test_it_is_not_asked_again_and_again_what_load_balancers_would_keep(scene: Scene) -> None:
    """The API server fails just that question while everything else goes on."""
    scene.given(deployment("web", 10), spare="s2 o1")
    for_others = asks(List, selection=selections.OTHER_NODES)
    scene.fail(UnavailableError("reset"), lambda r: for_others(r) and scene.seconds < 12)
    scene.interrupt("s1", "s2").run(until=30)

    assert sum(for_others(request) for _, request in scene.requests) < 8
    assert is_excluded(scene.node("s1"))
    assert is_excluded(scene.node("s2"))


def test_nodes_that_are_not_ready_are_no_use_to_load_balancers(scene: Scene) -> None:
    scene.place(on="s1 o1")
    scene.cluster.kill_node("o1")
    scene.settle(60)
    scene.begin()
    scene.interrupt("s1").run(until=10)
    assert scene.story("s1").order()[1:] == ["leave NoOtherNode"]


def test_a_node_leaves_the_load_balancers_though_the_ready_one_comes_late(scene: Scene) -> None:
    broken = [f"a{number:03d}" for number in range(PAGE + 10)]
    scene.place(on=" ".join(["s1", *broken, "z1"]))
    for name in broken:
        scene.cluster.kill_node(name)
    scene.settle(60)
    scene.begin()
    scene.interrupt("s1").run(until=10)
    assert scene.story("s1").order()[1:] == ["exclude-from-load-balancers NodeDying"]


def test_a_node_that_was_not_taken_is_given_back(scene: Scene) -> None:
    """EC2 still says running: mark, cordon and exclusion are lifted."""
    scene.given(deployment("web", 2), spare="o1")

    scene.interrupt("s1", carried_out=False).run(until=400)

    assert scene.story("s1").order()[-2] == "wait DeadlinePassed"
    assert scene.story("s1").order()[-1] == "lift InstanceRunning"
    assert is_untouched(scene.node("s1"))
    assert scene.is_quiet


def test_a_stopped_node_is_complete_and_stays_marked(scene: Scene) -> None:
    scene.given(deployment("web", 2), spare="o1")

    scene.interrupt("s1", action="stop").run(until=600)

    assert scene.story("s1").order()[-1] == "complete InstanceOff"
    assert is_marked(scene.node("s1"))
    assert scene.is_quiet
    assert len([d for _, d in scene.told("InstanceOff")]) == 1


def test_a_node_that_comes_back_after_a_stop_is_given_back(scene: Scene) -> None:
    scene.given(stateful_set("db", 1, pod=HANGING))

    def come_back() -> None:
        scene.cluster.start_node("s1")
        scene.instances.set_state(scene.node("s1").instance_id, "running")

    scene.later(500, come_back)
    scene.interrupt("s1", action="stop").run(until=490)
    assert scene.node("s1").has_taint(names.OUT_OF_SERVICE)
    scene.run(until=700)

    assert is_untouched(scene.node("s1"))
    assert not scene.node("s1").has_taint(names.OUT_OF_SERVICE)
    assert scene.pod("db", "s1")


@pytest.mark.parametrize(
    "manifests",
    [
        [stateful_set("db", 1, pod=HANGING)],
        [stateful_set("db", 1, pod=KEPT), budget("db", maxUnavailable=0)],
    ],
    ids=["that hangs there", "that its budget kept there"],
)
def test_an_ordinal_on_a_stopped_node_is_freed(scene: Scene, manifests: list[Manifest]) -> None:
    """Its kubelet is off, so it stays Terminating until the node is declared out of service."""
    scene.given(*manifests, spare="o1")
    scene.interrupt("s1", action="stop").run(until=400)
    (taint,) = [line for line in scene.story("s1") if line.endswith("taint InstanceOff")]
    assert 125 <= float(taint.split()[0]) <= 140
    assert scene.pod("db", "o1")


@pytest.mark.parametrize("action", ["stop", "hibernate"])
def test_a_volume_that_is_left_on_an_instance_that_is_off_is_freed(
    scene: Scene, action: str
) -> None:
    """Its Deployment makes the next pod at once, which waits for the volume."""
    scene.given(claim("data"), deployment("db", pod=HANGING | volume("data")), spare="o1")
    scene.interrupt("s1", action=action).run(until=400)
    (taint,) = [line for line in scene.story("s1") if line.endswith("taint InstanceOff")]
    assert float(taint.split()[0]) <= 140
    (pod,) = scene.pods("db")
    assert (pod.ready, pod.spec.node_name) == (True, "o1")


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(deployment("web", pod=HANGING), id="it has no volume"),
        pytest.param(bare_pod("web", **HANGING, **volume("data")), id="nobody makes another"),
        pytest.param(daemon_set("web", **volume("data")), id="it belongs to its node"),
    ],
)
def test_no_taint_is_put_where_what_is_left_keeps_nothing_from_a_next_pod(
    scene: Scene, left: Manifest
) -> None:
    scene.given(claim("data", "ReadWriteMany"), left, spare="o1")
    scene.interrupt("s1", action="stop").run(until=400)
    assert scene.story("s1").order()[-1] == "complete InstanceOff"


@pytest.mark.parametrize(
    ("action", "begins", "ends"),
    [("stop", "stopping", "stopped"), ("terminate", "shutting-down", "terminated")],
)
def test_the_event_of_an_end_that_had_begun_changes_nothing(
    make_scene: MakeScene, action: str, begins: str, ends: str
) -> None:
    """So the rules take the beginning alone. EC2 is asked until the instance is off."""

    def story(*, is_told_again: bool) -> Scene:
        scene = make_scene()
        scene.given(
            stateful_set("db", 1, pod=HANGING), deployment("web", 2), on="s1", spare="o1 o2"
        )
        instance_id = scene.node("s1").instance_id
        scene.state_change("s1", begins)
        scene.later(5, lambda: scene.take("s1", action))
        if is_told_again:
            told = {"instance-id": instance_id, "state": ends}
            scene.later(
                10.5, lambda: scene.put("aws.ec2", "EC2 Instance State-change Notification", told)
            )
        scene.run(until=400)
        return scene

    once, twice = story(is_told_again=False), story(is_told_again=True)

    assert len(twice.events) == len(once.events) + 1 == 2
    assert once.story("s1") == [line for line in twice.story("s1") if " leave " not in line]
    assert [sent.write for sent in once.written()] == [sent.write for sent in twice.written()]
    for each in (once, twice):
        assert len(each.pods("db", "o1") + each.pods("db", "o2")) == 1
        assert each.pods("web", "s1") == []
    assert once.is_quiet


def test_the_taint_can_be_switched_off(make_scene: MakeScene) -> None:
    scene = make_scene(do_out_of_service=False)
    scene.given(stateful_set("db", 1, pod=HANGING))

    scene.interrupt("s1", action="stop").run(until=300)

    assert not scene.node("s1").has_taint(names.OUT_OF_SERVICE)
    assert scene.story("s1").order()[-1] == "complete InstanceOff"


def test_while_ec2_does_not_answer_nothing_is_lifted(scene: Scene) -> None:
    scene.given(on="s1 o1")
    scene.later(100, lambda: scene.instances.fail(InstancesError("throttled")))
    scene.later(300, lambda: scene.instances.fail(None))

    scene.interrupt("s1", carried_out=False).run(until=299)
    assert is_marked(scene.node("s1"))
    scene.run(until=400)

    assert is_untouched(scene.node("s1"))
    assert any(
        note == "EC2 cannot say what became of 1 nodes: throttled"
        for note, _ in scene.recorder.notes
    )


@pytest.mark.parametrize("environments_kept", [True, False])
def test_an_ordinal_is_freed_when_ec2_lists_its_instance_no_more_and_its_node_is_not_ready(
    make_scene: MakeScene, *, environments_kept: bool
) -> None:
    """Any invocation may hear the second answer, though none remembers the first."""
    scene = make_scene(environments_kept=environments_kept)
    scene.given(stateful_set("db", 1, pod=HANGING), spare="o1")
    instance_id = scene.node("s1").instance_id

    scene.interrupt("s1", carried_out=False)
    scene.later(125, lambda: scene.cluster.kill_node("s1"))
    scene.later(125, lambda: scene.instances.forget(instance_id))
    scene.run(until=400)

    story = [(float(line.split()[0]), line.split(" ", 1)[1]) for line in scene.story("s1")]
    (noted,) = [at for at, word in story if word == "mark InstanceUnlisted"]
    (tainted,) = [at for at, word in story if word == "taint InstanceOff"]
    assert noted > 125 + 30  # so long it takes until the node is called not Ready
    assert 30 - 10 <= tainted - noted <= 45  # the answer that was noted may be 10 s old
    assert scene.pod("db", "o1")
    assert scene.is_quiet


def test_a_live_node_keeps_all_when_ec2_does_not_list_its_instance(scene: Scene) -> None:
    scene.given(stateful_set("db", 1, pod=KEPT), budget("db", maxUnavailable=0), spare="o1")
    instance_id = scene.node("s1").instance_id
    scene.later(100, lambda: scene.instances.forget(instance_id))

    scene.interrupt("s1", carried_out=False).run(until=900)

    assert scene.story("s1").order()[-1] == "wait DeadlinePassed"
    assert "does not list it" in scene.told("DeadlinePassed")[-1][1].message
    assert not scene.node("s1").has_taint(names.OUT_OF_SERVICE)
    assert scene.pod("db", "s1")
    assert is_marked(scene.node("s1"))


def test_no_volume_is_freed_after_a_hint_though_ec2_does_not_list_the_instance_of_a_silent_node(
    make_scene: MakeScene,
) -> None:
    """The kubelet may be cut off, and the instance run on with its volume."""
    scene = make_scene(rebalance_expiry=timedelta(minutes=2))
    scene.given(stateful_set("db", 1, pod=HANGING), budget("db", maxUnavailable=0), spare="o1")
    instance_id = scene.node("s1").instance_id
    scene.later(30, lambda: scene.cluster.kill_node("s1"))
    scene.later(30, lambda: scene.instances.forget(instance_id))

    scene.recommend("s1").run(until=600)

    assert "taint InstanceOff" not in scene.story("s1").order()
    assert not scene.node("s1").has_taint(names.OUT_OF_SERVICE)
    assert scene.story("s1").order()[-1] == "lift HintExpired"


def test_a_last_running_is_not_believed_for_long(scene: Scene) -> None:
    """EC2 calls the instance running, then says nothing: it may be gone by now."""
    scene.given(on="s1 o1")
    scene.later(135, lambda: scene.instances.fail(InstancesError("throttled")))

    scene.interrupt("s1", carried_out=False).run(until=280)

    assert is_marked(scene.node("s1"))
    assert scene.story("s1").order()[-1] == "wait DeadlinePassed"


def test_a_slow_ec2_delays_no_forced_eviction(scene: Scene) -> None:
    """It is asked about the first node when the pods of the second have to be told."""
    going = scene.given(deployment("stuck", 3, pod=on_node("s2")), on="s1 s2")

    scene.interrupt("s1")
    scene.later(32, lambda: scene.interrupt("s2"))
    scene.later(119, lambda: scene.instances.answer_after(timedelta(seconds=9), scene.clock))
    scene.run(until=160)

    told = [scene.gone_at(name) for name in going]
    assert sorted(told) == pytest.approx([32 + 120 - 36, 32 + 120 - 6, 32 + 120 - 6], abs=0.2)
    assert scene.story("s1").order()[-1] == "complete InstanceOff"


def test_an_api_server_that_is_slow_to_say_which_nodes_remain_holds_no_pod_up(
    make_scene: MakeScene,
) -> None:
    scene = make_scene(load_balancer_lead=timedelta(seconds=40))
    (old,) = scene.given(deployment("stuck"), on="s1 o1", room={"o1": "0"})
    scene.delay(timedelta(seconds=20), asks(List, selection=selections.OTHER_NODES))
    scene.interrupt("s1").run(until=118)

    assert scene.gone_at(old) == pytest.approx(89, abs=0.2)
    (excluded,) = (line for line in scene.story("s1") if "exclude" in line)
    assert float(excluded.split()[0]) == pytest.approx(80 + 20, abs=1)


def test_a_notice_that_was_spoilt_is_told_and_the_node_left(scene: Scene) -> None:
    (pod,) = scene.given(deployment("one"), spare="o1")
    spoilt = {"annotations": {names.NOTICE: "{"}, "labels": {names.DOOMED: "interruption"}}
    scene.cluster.server.patch("Node", ("", "s1"), {"metadata": spoilt})

    scene.run(until=200)

    assert scene.story("s1").order() == ["leave UnreadableNotice"]
    assert len(scene.told("UnreadableNotice")) == 1
    assert scene.told("UnreadableNotice")[0][1].warning
    assert scene.story(pod) == []
    assert scene.written() == []
