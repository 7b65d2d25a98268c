"""Pods that no watch shows, while a pod that is watched for keeps an invocation at work."""

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.flows.drain.sync import watches
from evenkeel.model.request import List, Request
from tests.kit.manifests import (
    Manifest,
    bare_pod,
    daemon_set,
    deployment,
    job,
    on_node,
    stateful_set,
)
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene

STUCK = deployment("stuck", pod=on_node("s1"))
"""It finds no other place, and is watched for up to its last moment."""


ENDING: Manifest = {
    "annotations": {"evenkeel.test/complete-after": "120s"},
    "restartPolicy": "Never",
}
"""A pod that ends two minutes after it began."""


def is_read_of_s1(request: Request) -> bool:
    """Whether it asks what is on the node."""
    return isinstance(request, List) and request.selection.fields == "spec.nodeName=s1"


def rereads(scene: Scene) -> list[float]:
    """When it was asked after the invocation had begun."""
    return [at for at, request in scene.requests if at > 5 and is_read_of_s1(request)]


@pytest.mark.parametrize("unanswered", [0, 1], ids=["answered", "asked again"])
def test_what_ends_meanwhile_is_not_evicted(scene: Scene, unanswered: int) -> None:
    """It ends at 67 s or so."""
    scene.given(STUCK, bare_pod("sums", **ENDING), spare="o1")
    scene.interrupt("s1")
    error = UnavailableError("no answer")
    scene.later(70, lambda: scene.fail(error, is_read_of_s1, times=unanswered))
    stuck = scene.pod("stuck")
    scene.run(until=110)

    assert scene.story("sums").order() == ["wait BarePod"]
    assert scene.written("sums") == []
    assert scene.gone_at(stuck) == 88.9


def test_a_job_s_pod_that_ends_is_known_from_its_watch(scene: Scene) -> None:
    _, sums = scene.given(
        STUCK, job("sums", pod={"annotations": ENDING["annotations"]}), spare="o1"
    )
    scene.interrupt("s1").run(until=110)

    assert scene.story(sums).order() == ["wait JobMayFinish"]
    assert scene.written(sums) == []
    assert [at for at in rereads(scene) if at < 88] == []


@pytest.mark.parametrize(
    ("manifests", "reads"),
    [
        ([job("sums"), stateful_set("db", 2)], 0),
        ([daemon_set("agent")], 0),
        ([bare_pod("sums")], 4),
    ],
    ids=["watched", "of the node", "without a controller"],
)
def test_a_node_is_read_again_for_such_pods_alone(
    scene: Scene, manifests: list[Manifest], reads: int
) -> None:
    scene.given(STUCK, *manifests, spare="o1")
    scene.interrupt("s1").run(until=50)

    assert len(rereads(scene)) == reads


def test_what_finds_no_room_among_the_watches_is_read_with_its_node(
    make_scene: MakeScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is one, and it selects by template hash."""
    monkeypatch.setattr(watches, "MOST", 1)
    scene = make_scene(seats=0)
    annotations = ENDING["annotations"]
    scene.given(
        STUCK, stateful_set("db", 2), job("sums", pod={"annotations": annotations}), spare="o1"
    )
    scene.interrupt("s1")
    sums = scene.pod("sums")
    scene.run(until=110)

    assert scene.story("db-1") == ["1.0 evict StatefulSet"]
    assert scene.story("db-0")[-1].endswith("evict StatefulSet")
    assert scene.written(sums) == []
    assert len(rereads(scene)) >= 4


def test_a_node_that_may_live_is_not_read_again(scene: Scene) -> None:
    scene.given(deployment("waiting"), bare_pod("sums"))
    scene.recommend("s1").run(until=50)

    assert rereads(scene) == []
