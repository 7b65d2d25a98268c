"""Nodes that go early, twice, or not alone."""

from datetime import timedelta
from functools import partial

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.model.node import Node
from evenkeel.model.request import Evict, Get, Patch
from tests.kit.asking import asks
from tests.kit.manifests import bare_pod, budget, deployment, stateful_set
from tests.kit.scene import CLUSTER, NO_PLACE, Scene


def test_a_node_deleted_early_leaves_nothing_behind(scene: Scene) -> None:
    """Its pods are collected by Kubernetes; the replacements are on their way already."""
    scene.given(
        deployment("web", 2), deployment("stuck", pod={"cpu": "3"}), spare="o1", room={"o1": "1"}
    )
    scene.later(40, lambda: scene.cluster.kill_node("s1", timedelta(seconds=0)))
    scene.later(40, lambda: scene.observer.lose("s1"))

    scene.interrupt("s1", carried_out=False).run(until=300)

    assert scene.lowest("web") == 2
    assert [pod for pod in scene.pods("stuck") if pod.spec.node_name == "s1"] == []
    assert not any(pod.released for pod in scene.pods("stuck"))
    assert scene.is_quiet


def test_an_instance_that_dies_early_takes_its_pods_with_it_and_nothing_else(
    scene: Scene,
) -> None:
    """Two of the three replicas run elsewhere, and stay there."""
    scene.place(deployment("web"))
    scene.place(deployment("web", 2), on="s2")
    scene.given(deployment("web", 3), on="s3", spare="o1")
    doomed = scene.pod("web", "s1")
    scene.later(2, lambda: scene.take("s1"))
    scene.interrupt("s1", carried_out=False).run(until=200)
    assert scene.lowest("web") == 2
    assert doomed not in {pod.name for pod in scene.pods("web")}
    assert len(scene.pods("web")) == 3
    assert scene.is_quiet


def test_a_replacement_that_lands_on_another_dying_node_moves_on(scene: Scene) -> None:
    (first,) = scene.given(deployment("one"), budget("one", minAvailable=1), spare="s2")

    scene.interrupt("s1").run(until=2)
    second = next(pod.name for pod in scene.pods("one", "s2"))
    scene.interrupt("s2").run(until=2.5)
    scene.add_node("o1", spot=False)
    scene.run(until=60)

    assert scene.lowest("one") == 1
    assert scene.pod("one") == scene.pod("one", "o1")
    assert scene.story(first)[-1].endswith("evict ReplacementAvailable")
    assert scene.story(second)[0].endswith("release NodeDoomed")


def test_the_minimum_available_counts_pods_that_no_dying_node_has(scene: Scene) -> None:
    """The second node is found in the middle of an invocation: its pods' peers come later."""
    scene.place(deployment("stuck", pod={"cpu": "4"}))
    scene.place(deployment("web", 1), on="s2", room={"s2": "0.1"})
    scene.given(deployment("web", 3), on="o1", room={"o1": "1"})

    scene.interrupt("s1")
    scene.later(5, lambda: scene.interrupt("s2"))
    scene.run(until=20)

    messages = [d.message for _, d in scene.told("NodeDoomed") if "web" in d.subject.name]
    assert len(messages) == 1
    assert messages[0].endswith("3 are to stay available")
    assert scene.lowest("web") == 3


def test_the_same_warning_twice_changes_nothing(scene: Scene) -> None:
    (pod,) = scene.given(deployment("one"), spare="o1")

    scene.interrupt("s1")
    scene.later(2, lambda: scene.interrupt("s1"))
    scene.later(20, lambda: scene.interrupt("s1", carried_out=False))
    scene.run(until=60)

    assert [type(sent.write) for sent in scene.written(pod)] == [Patch, Evict]
    assert scene.lowest("one") == 1
    notice = scene.notice("s1")
    assert notice.deadline == scene.at(120)


def test_a_warning_turns_a_recommendation_into_a_deadline(scene: Scene) -> None:
    """The pod was released for the hint; now it goes at its last moment, replaced or not."""
    (pod,) = scene.given(deployment("stuck"))

    scene.recommend("s1")
    scene.later(30, lambda: scene.interrupt("s1"))
    scene.run(until=140)

    assert scene.story(pod).order() == [*NO_PLACE, "evict LastMoment"]
    assert scene.gone_at(pod) == 118.9
    assert [type(sent.write) for sent in scene.written(pod)] == [Patch, Evict]


@pytest.mark.parametrize("state", ["stopping", "shutting-down"])
def test_a_change_of_state_after_the_warning_leaves_no_time(scene: Scene, state: str) -> None:
    scene.given(deployment("stuck"), bare_pod("alone"))
    pod = scene.pod("stuck")

    scene.interrupt("s1")
    scene.later(20, lambda: scene.state_change("s1", state))
    scene.run(until=40)

    assert scene.story(pod).order()[-1] == "evict LastMoment"
    assert scene.story("alone").order() == ["wait BarePod", "evict LastMoment"]


@pytest.mark.parametrize("what", ["shutting-down", "hibernate"])
def test_a_change_of_state_without_a_warning_and_hibernation_leave_no_time_either(
    scene: Scene, what: str
) -> None:
    pods = scene.given(deployment("web", 2), stateful_set("db", 2), bare_pod("alone"), spare="o1")
    if what == "hibernate":
        scene.interrupt("s1", action=what, carried_out=False).run(until=20)
    else:
        scene.state_change("s1", what).run(until=20)
    assert [scene.story(pod) for pod in pods] == [["1.0 evict LastMoment"]] * 5
    assert len(scene.pods("web", "o1")) == 2


SIX = "s0 s1 s2 s3 s4 s5"


def test_many_nodes_at_once_leave_no_workload_without_a_pod(scene: Scene) -> None:
    ones = [f"one-{number}" for number in range(6)]
    scene.given(deployment("big", 18), *map(deployment, ones), on=SIX, spare="o0 o1 o2")
    scene.interrupt(*SIX.split()).run(until=100)
    assert scene.lowest("big") == 18
    assert [scene.lowest(name) for name in ones] == [1] * 6
    assert all(pod.spec.node_name.startswith("o") for pod in scene.pods("big"))


def call_back(scene: Scene, node: str, *, reserved: bool) -> None:
    """EC2 says that it takes an on-demand instance's reserved capacity back in two minutes."""
    instance_id = scene.node(node).instance_id
    ids = [instance_id] if reserved else []
    scene.instances.adopt([scene.node(node)], CLUSTER, reserved=ids)
    end = {"instance-termination-time": scene.at(120).strftime("%Y-%m-%dT%H:%M:%SZ")}
    kind = "EC2 Capacity Reservation Instance Interruption Warning"
    scene.send(node, kind, **{"instance-action": "terminate"}, **end)


def test_reserved_capacity_that_is_called_back_is_left_before_its_end(scene: Scene) -> None:
    scene.given(deployment("web", 2), on="o1", spare="o2")
    call_back(scene, "o1", reserved=True)
    scene.run(until=30)
    assert len(scene.pods("web", "o2")) == len(scene.pods("web")) == 2
    assert scene.lowest("web") == 2


def test_an_on_demand_instance_that_is_not_in_it_keeps_its_pods(scene: Scene) -> None:
    scene.given(deployment("web", 2), on="o1", spare="o2")
    call_back(scene, "o1", reserved=False)
    scene.run(until=150)
    assert len(scene.pods("web", "o1")) == 2
    assert not scene.written("o1")


@pytest.fixture
def half_done(scene: Scene) -> Scene:
    """A released pod whose eviction a budget refuses, and two living ones beside it."""
    scene.place(deployment("web", pod={"grace": 5}), budget("web", minAvailable=9))
    scene.given(deployment("web", 2, pod={"grace": 5}), on="o1")
    scene.interrupt("s1", carried_out=False)
    return scene


def lose(scene: Scene, node: str) -> None:
    scene.cluster.kill_node(node, timedelta())
    scene.observer.lose(node)


@pytest.mark.parametrize("when", [91, 95], ids=["between invocations", "in one's middle"])
def test_a_released_pod_is_deleted_with_its_node_and_no_living_one_for_it(
    half_done: Scene, when: float
) -> None:
    old = half_done.pod("web", "s1")
    half_done.run(until=90)
    living = {pod.name for pod in half_done.pods("web", "o1")}
    half_done.later(when, partial(lose, half_done, "s1"))

    half_done.run(until=300)

    assert half_done.story(old)[-1].endswith("delete NodeGone")
    assert half_done.gone_at(old) < when + 10
    assert {pod.name for pod in half_done.pods("web")} == living
    assert half_done.lowest("web") == 2
    assert half_done.is_quiet


def test_a_node_is_asked_for_again_when_the_api_server_did_not_answer(half_done: Scene) -> None:
    old = half_done.pod("web", "s1")
    half_done.run(until=95)
    half_done.fail(UnavailableError("reset"), asks(Get, of=Node), times=2)
    lose(half_done, "s1")
    half_done.run(until=105)
    assert half_done.story(old)[-1].endswith("delete NodeGone")


def test_a_released_pod_is_deleted_though_no_invocation_saw_its_node_go(half_done: Scene) -> None:
    old = half_done.pod("web", "s1")
    half_done.run(until=20)
    half_done.crash()
    lose(half_done, "s1")

    half_done.run(until=60)

    assert half_done.story(old)[-1].endswith("delete NodeGone")
    assert half_done.lowest("web") == 2
