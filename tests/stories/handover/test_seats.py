"""A seat first: a pod that goes before another runs waits until its next one has a place."""

import pytest

from evenkeel.model import names
from evenkeel_cli import cancelling
from tests.kit.manifests import NO_SURGE, deployment, quota, stateful_set
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene

NODE_AFTER = 60
PARALLEL = {"podManagementPolicy": "Parallel"}


@pytest.fixture
def scene(make_scene: MakeScene) -> Scene:
    return make_scene(seats=10)


def nothing_is_left(scene: Scene) -> bool:
    """No seat, and no node that is held."""
    seats = scene.cluster.objects("Pod", names.SYSTEM_NAMESPACE)
    held = [
        node
        for node in scene.cluster.objects("Node")
        if names.SEAT in node["metadata"].get("labels", {})
        or any(each["key"] == names.SEAT for each in node["spec"].get("taints", []))
    ]
    return not seats and not held


def test_a_single_ordinal_serves_until_a_node_is_there_for_its_next_pod(scene: Scene) -> None:
    """Without a seat it is gone from 1 s on, and waits for a node until 61 s."""
    scene.given(stateful_set("db", 1), settle=60)
    scene.interrupt("s1").run(until=NODE_AFTER)
    assert scene.lowest("db") == 1
    assert [
        each["metadata"]["labels"][names.SEAT]
        for each in scene.cluster.objects("Pod", names.SYSTEM_NAMESPACE)
    ]
    scene.add_node("o1", spot=False)
    scene.run(until=NODE_AFTER + 10)
    assert scene.story("db-0").order() == [
        "seat SeatWanted",
        "wait SeatPending",
        "evict StatefulSet",
        "let-in SeatTaken",
    ]
    assert scene.gone_at("db-0") < NODE_AFTER + 3
    assert [pod.spec.node_name for pod in scene.pods("db")] == ["o1"]
    scene.run(until=130)
    assert nothing_is_left(scene)


@pytest.mark.parametrize("more", [PARALLEL, {}], ids=["in parallel", "in order"])
def test_all_seats_of_a_set_are_asked_for_at_once(scene: Scene, more: dict[str, str]) -> None:
    """In turns each would ask for a node of its own, 60 s after the other."""
    scene.given(stateful_set("db", 3, **more), settle=60)
    scene.interrupt("s1").run(until=NODE_AFTER)
    assert scene.lowest("db") == 3
    scene.add_node("o1", spot=False)
    scene.run(until=NODE_AFTER + 20)
    assert scene.lowest("db") == 2
    assert [pod.spec.node_name for pod in scene.pods("db") if pod.ready] == ["o1"] * 3
    scene.run(until=130)
    assert nothing_is_left(scene)


@pytest.mark.parametrize(
    "given",
    [deployment("web", 1, strategy={"type": "Recreate"}), deployment("web", 1, **NO_SURGE)],
    ids=["Recreate", "no surge"],
)
def test_a_deployment_that_makes_no_second_pod_has_a_seat_too(
    scene: Scene, given: dict[str, object]
) -> None:
    scene.given(given, settle=60)
    scene.interrupt("s1").run(until=NODE_AFTER)
    assert scene.lowest("web") == 1
    scene.add_node("o1", spot=False)
    scene.run(until=NODE_AFTER + 10)
    assert [pod.spec.node_name for pod in scene.pods("web") if pod.ready] == ["o1"]
    scene.run(until=130)
    assert nothing_is_left(scene)


def test_others_that_wait_do_not_take_its_place(scene: Scene) -> None:
    """Ten pods are as large as the ordinal, and wait for a node since before."""
    scene.given(stateful_set("db", 1), settle=60)
    scene.interrupt("s1").run(until=5)
    scene.cluster.apply(deployment("thieves", 10, pod={"cpu": "100m"}))
    scene.run(until=NODE_AFTER)
    scene.add_node("o1", spot=False, room="0.5")
    scene.run(until=NODE_AFTER + 10)
    assert [pod.spec.node_name for pod in scene.pods("db") if pod.ready] == ["o1"]


def test_where_no_node_comes_a_pod_goes_at_its_last_moment(scene: Scene) -> None:
    scene.given(stateful_set("db", 1), settle=60)
    scene.interrupt("s1").run(until=200)
    assert scene.story("db-0").order()[:3] == [
        "seat SeatWanted",
        "wait SeatPending",
        "evict LastMoment",
    ]
    assert nothing_is_left(scene)


def test_pods_with_seats_are_no_more_than_allowed_and_the_others_do_not_wait(
    make_scene: MakeScene,
) -> None:
    scene = make_scene(seats=2)
    scene.given(deployment("web", 3, strategy={"type": "Recreate"}), settle=60)
    scene.interrupt("s1").run(until=5)
    assert len(scene.cluster.objects("Pod", names.SYSTEM_NAMESPACE)) == 2
    assert len([pod for pod in scene.pods("web") if pod.ready]) == 2


def test_without_the_right_to_make_seats_pods_go_as_before(scene: Scene) -> None:
    scene.given(stateful_set("db", 1), spare="o1", settle=60)
    scene.cluster.delete("PriorityClass", names.SEAT_CLASS)
    scene.interrupt("s1").run(until=10)
    assert "evict StatefulSet" in scene.story("db-0").order()
    assert "leave WriteRefused" in scene.story("db-0").order()
    assert scene.gone_at("db-0") < 3


def test_a_notice_that_is_taken_back_leaves_no_seat(scene: Scene) -> None:
    scene.given(stateful_set("db", 1), settle=60)
    scene.interrupt("s1").run(until=20)
    list(cancelling.cancel(scene.cluster, "s1", scene.recorder, act=True))
    scene.run(until=60)
    assert scene.lowest("db") == 1
    assert nothing_is_left(scene)


def test_a_seat_whose_next_pod_is_not_made_goes_after_a_minute(scene: Scene) -> None:
    """A quota refuses it."""
    scene.given(stateful_set("db", 1), settle=60)
    scene.interrupt("s1").run(until=5)
    scene.cluster.apply(quota(pods="0"))
    scene.add_node("o1", spot=False)
    scene.run(until=30)
    assert not nothing_is_left(scene)
    scene.run(until=90)
    assert scene.pods("db") == []
    assert nothing_is_left(scene)
