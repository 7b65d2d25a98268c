"""Pods that no watch shows, while a pod that is watched for keeps an invocation at work."""

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.model.request import List, Request
from tests.fixtures.scene import Scene
from tests.unit.drain.conftest import doomed
from tests.unit.drain.manifests import Manifest, daemon_set, deployment, job

STUCK = deployment("stuck", pod={"nodeSelector": {"kubernetes.io/hostname": "s1"}})
"""It finds no other place, and is watched for up to its last moment."""


def ending(after: str) -> Manifest:
    """A Job that ends so long after it began."""
    return job("sums", pod={"annotations": {"evenkeel.test/complete-after": after}})


def is_read_of_s1(request: Request) -> bool:
    """Whether it asks what is on the node."""
    return isinstance(request, List) and request.selection.fields == "spec.nodeName=s1"


def rereads(scene: Scene) -> list[float]:
    """When it was asked after the invocation had begun."""
    return [at for at, request in scene.requests if at > 5 and is_read_of_s1(request)]


@pytest.mark.parametrize("unanswered", [0, 1], ids=["answered", "asked again"])
def test_what_ends_meanwhile_is_not_evicted(scene: Scene, unanswered: int) -> None:
    """It is read when the second invocation begins, at 52 s, and ends some 15 s later."""
    doomed(scene, STUCK, ending("120s"))
    error = UnavailableError("no answer")
    scene.later(70, lambda: scene.fail(error, is_read_of_s1, times=unanswered))
    sums, stuck = scene.pod("sums"), scene.pod("stuck")
    scene.run(until=110)

    assert scene.story(sums) == ["1.0 wait JobMayFinish"]
    assert scene.written(sums) == []
    assert scene.gone_at(stuck) == 88.9


def test_what_does_not_end_goes_at_its_last_moment(scene: Scene) -> None:
    doomed(scene, STUCK, job("sums"))
    sums = scene.pod("sums")
    scene.run(until=110)

    assert scene.story(sums) == ["1.0 wait JobMayFinish", "88.9 evict LastMoment"]


@pytest.mark.parametrize(
    ("manifests", "reads"),
    [([], 0), ([daemon_set("agent")], 0), ([job("sums")], 4)],
    ids=["watched", "of the node", "unwatched"],
)
def test_a_node_is_read_again_for_such_pods_alone(
    scene: Scene, manifests: list[Manifest], reads: int
) -> None:
    doomed(scene, STUCK, *manifests)
    scene.run(until=50)

    assert len(rereads(scene)) == reads


def test_a_node_that_may_live_is_not_read_again(scene: Scene) -> None:
    scene.add_node("s1")
    scene.apply(STUCK, job("sums"))
    scene.settle()
    scene.begin()
    scene.recommend("s1")
    scene.run(until=50)

    assert rereads(scene) == []
