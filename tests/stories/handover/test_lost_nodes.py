"""A node's object goes while a pod is released from it: the pod is gone, whatever the API says."""

from datetime import timedelta
from functools import partial

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.model.node import Node
from evenkeel.model.request import Get
from tests.kit.asking import asks
from tests.kit.manifests import budget, deployment
from tests.kit.scene import Scene


@pytest.fixture
def half_done(scene: Scene) -> Scene:
    """A released pod whose eviction a budget refuses, and two living ones beside it."""
    scene.place(deployment("web", pod={"grace": 5}), budget("web", minAvailable=9))
    scene.given(deployment("web", 2, pod={"grace": 5}), on="o1")
    scene.interrupt("s1", spare=True)
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


def test_a_released_pod_is_deleted_by_the_next_invocation_when_none_saw_its_node_go(
    half_done: Scene,
) -> None:
    old = half_done.pod("web", "s1")
    half_done.run(until=20)
    half_done.crash()
    lose(half_done, "s1")

    half_done.run(until=60)

    assert half_done.story(old)[-1].endswith("delete NodeGone")
    assert half_done.lowest("web") == 2
