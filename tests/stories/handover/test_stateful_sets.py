"""StatefulSets: each ordinal exists once, so each goes before it comes."""

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Request
from tests.kit.manifests import Manifest, stateful_set
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene


@pytest.fixture
def scene(make_scene: MakeScene) -> Scene:
    """Without seats: these stories are of turns, and not of what turns wait for."""
    return make_scene(seats=0)


def spread(scene: Scene, replicas: int, *more: Manifest) -> list[str]:
    """One ordinal on each of as many spot nodes: the nodes in the order of the ordinals.

    Then there is room on o1.
    """
    on = " ".join(f"s{number}" for number in range(replicas))
    scene.place(stateful_set("db", replicas), *more, on=on, room={"s": "0.1"}, settle=30)
    scene.given(on="", spare="o1")
    return [pod.spec.node_name for pod in scene.pods("db")]


def is_about_the_set(request: Request) -> bool:
    if isinstance(request, List):
        return request.selection.namespace == "default" and request.selection.kind is Pod
    return isinstance(request, Get) and request.kind is StatefulSet


def test_the_next_goes_when_the_last_is_ready_again(scene: Scene) -> None:
    """Turns follow the watch; it is read for when that had nothing to show for ten seconds."""
    slow = {"annotations": {"evenkeel.test/ready-after": "10s"}}
    scene.given(stateful_set("db", 2, pod=slow), spare="o1", settle=40)
    scene.interrupt("s1").run(until=60)
    assert scene.story("db-1").order() == ["evict StatefulSet"]
    assert scene.story("db-0") == ["1.0 wait StatefulSet", "14.0 evict StatefulSet"]
    assert scene.lowest("db") == 1
    read_at = [at for at, request in scene.requests if 2 < at < 25 and is_about_the_set(request)]
    assert {round(at) for at in read_at} == {14}


def test_the_next_goes_when_the_last_was_ready_for_min_ready_seconds(scene: Scene) -> None:
    """Nothing happens at that moment but that time passes."""
    scene.given(stateful_set("db", 2, minReadySeconds=7), spare="o1", settle=40)

    scene.interrupt("s1").run(until=60)

    assert scene.story("db-0") == ["1.0 wait StatefulSet", "11.0 evict StatefulSet"]


def test_ordinals_on_two_nodes_go_one_at_a_time(scene: Scene) -> None:
    nodes = spread(scene, 3)

    scene.interrupt(nodes[0], nodes[2]).run(until=30)

    assert scene.story("db-2").order() == ["evict StatefulSet"]
    assert scene.story("db-0") == ["1.0 wait StatefulSet", "4.0 evict StatefulSet"]
    assert scene.story("db-1") == []
    assert scene.lowest("db") == 2


def test_those_that_are_left_all_go_at_the_last_moment(scene: Scene) -> None:
    """The first finds no new place, so the others' turns never come."""
    scene.given(stateful_set("db", 3))

    scene.interrupt("s1").run(until=118)

    assert scene.story("db-2").order() == ["evict StatefulSet"]
    for pod in ("db-0", "db-1"):
        assert scene.story(pod) == ["1.0 wait StatefulSet", "113.9 evict LastMoment"]


def test_one_that_is_missing_elsewhere_is_waited_for(scene: Scene) -> None:
    """Ordinal 1 is not Ready: no other may go, for that would be two."""
    nodes = spread(scene, 3)
    scene.cluster.delete("Pod", "db-1", "default")

    scene.interrupt(nodes[2]).run(until=30)

    assert scene.story("db-2") == ["1.0 wait StatefulSet", "3.0 evict StatefulSet"]


def test_a_read_that_fails_is_made_again(scene: Scene) -> None:
    """Nobody goes on a stale count: the fresh read for the second turn fails for two seconds."""
    scene.given(stateful_set("db", 2), spare="o1")

    reset = UnavailableError("reset")
    scene.fail(reset, lambda request: is_about_the_set(request) and 2 < scene.seconds < 6)
    scene.interrupt("s1").run(until=30)

    assert 6 <= scene.gone_at("db-0") < 7.1
    assert scene.lowest("db") == 1


def test_a_set_that_is_scaled_in_is_known_without_a_new_invocation(scene: Scene) -> None:
    """Nobody is missing any more once its highest ordinal, which is not Ready, is not wanted."""
    scene.given(stateful_set("db", 3))
    scene.interrupt("s1")
    scene.later(2, lambda: scene.add_node("o1", spot=False))
    scene.later(3, lambda: scene.cluster.scale("StatefulSet", "db", "default", 2))
    scene.run(until=60)

    assert 30 < scene.gone_at("db-1") < 32
    assert scene.lowest("db") == 1


def test_a_set_deleted_meanwhile_is_left_to_the_garbage_collector(scene: Scene) -> None:
    scene.given(stateful_set("db", 3))
    scene.later(10, lambda: scene.cluster.delete("StatefulSet", "db", "default"))

    scene.interrupt("s1").run(until=60)

    assert scene.pods("db") == []
    assert scene.written("db-0") == []


def test_scaling_in_meanwhile_takes_the_highest_ordinals(scene: Scene) -> None:
    scene.given(stateful_set("db", 3), spare="o1")
    scene.later(2, lambda: scene.cluster.scale("StatefulSet", "db", "default", 1))

    scene.interrupt("s1").run(until=60)

    assert [pod.name for pod in scene.pods("db")] == ["db-0"]
    assert scene.pods("db")[0].spec.node_name == "o1"
