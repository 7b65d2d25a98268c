"""Pods of OpenKruise's CloneSets: evicted within their budget, and one at a time without one.

What their controller does is played, see ``kruise``.
"""

from typing import Any

import pytest

from evenkeel.errors import ClusterError, ForbiddenError, NotFoundError
from evenkeel.model.controllers.clone_set import CloneSet
from evenkeel.model.request import Evict, Get, Request
from tests.kit.custom_kinds import simulate
from tests.kit.kruise import clone_set, keeping
from tests.kit.manifests import Manifest, budget, resource
from tests.kit.others import Outsider
from tests.kit.scene import Scene


def begin(scene: Scene, pods: int, *more: Manifest, **spec: Any) -> Outsider:
    """A CloneSet runs on s1, and there is room on o1."""
    scene.place(clone_set("web", pods, **spec))
    (owner,) = scene.cluster.objects("CloneSet")
    simulate(scene.cluster, keeping(owner))
    scene.settle(20)
    scene.given(*more, on="", spare="o1")
    return Outsider(scene.cluster, "web")


def evicted(scene: Scene) -> list[float]:
    """When pods were evicted."""
    return [sent.at for sent in scene.written() if isinstance(sent.write, Evict)]


def all_are_elsewhere(scene: Scene, pods: int) -> bool:
    found = scene.pods("web")
    return len(found) == pods and {pod.spec.node_name for pod in found} == {"o1"}


def test_one_is_missing_at_a_time_and_the_first_goes_at_once(scene: Scene) -> None:
    outside = begin(scene, 3)
    old = [pod.name for pod in scene.pods("web")]
    scene.interrupt("s1").run(until=60)

    assert outside.lowest == 2
    assert all_are_elsewhere(scene, 3)
    first, *_ = evicted(scene)
    assert first < 3
    told = {str(each.workload) for _, each in scene.told("ForeignController")}
    assert told == {"cloneset default/web"}
    assert {sent.name for sent in scene.written() if isinstance(sent.write, Evict)} == set(old)


def test_a_pod_counts_as_missing_until_it_was_ready_for_as_long_as_the_owner_asks(
    scene: Scene,
) -> None:
    """Ready after two seconds, which its status says in whole ones, and ten later available."""
    begin(scene, 3, minReadySeconds=10)
    scene.interrupt("s1").run(until=60)

    first, second, third = evicted(scene)
    assert second - first > 11
    assert third - second > 11


def test_no_other_goes_while_its_controller_has_not_made_all_that_are_asked_for(
    scene: Scene,
) -> None:
    """Four are asked for, and three are there: that is how many, as far as pods tell."""
    begin(scene, 3)
    scene.apply(resource("CloneSet", "web", "default", spec={"replicas": 4}))
    scene.interrupt("s1").run(until=80)
    assert not evicted(scene)

    scene.run(until=118)
    assert len(evicted(scene)) == 3
    assert min(evicted(scene)) > 85


def test_a_budget_says_how_many_may_be_missing(scene: Scene) -> None:
    outside = begin(scene, 4, budget("web", minAvailable=2))
    scene.interrupt("s1").run(until=60)

    assert outside.lowest == 2
    assert all_are_elsewhere(scene, 4)


def test_a_hint_takes_none(scene: Scene) -> None:
    outside = begin(scene, 3)
    scene.recommend("s1").run(until=1000)

    assert outside.lowest == 3
    assert not evicted(scene)


def is_of_clone_set(request: Request) -> bool:
    """Whether it asks for a CloneSet."""
    return isinstance(request, Get) and request.kind is CloneSet


@pytest.mark.parametrize("error", [ForbiddenError("no right"), NotFoundError("another version")])
def test_one_that_cannot_be_read_is_counted_by_its_pods(scene: Scene, error: ClusterError) -> None:
    outside = begin(scene, 3)
    scene.fail(error, is_of_clone_set)
    scene.interrupt("s1").run(until=60)

    assert outside.lowest == 2
    assert all_are_elsewhere(scene, 3)
