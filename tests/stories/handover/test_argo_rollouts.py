"""Pods of Argo Rollouts: handed over as a Deployment's, in its steps too.

Its controller is not played: objects stand as it writes them.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain import writes
from evenkeel.errors import ClusterError, ForbiddenError, NotFoundError, UnreadableObjectError
from evenkeel.flows.replies import has_any_of_release
from evenkeel.model import names
from evenkeel.model.release import Cooldown
from evenkeel.model.request import Evict, Get, Request
from evenkeel.model.rollout import Rollout
from tests.kit.argo import CANARY, STABLE, replica_set, rollout
from tests.kit.manifests import Manifest, budget, deployment, resource, stateful_set
from tests.kit.scene import Scene


def uid_of(scene: Scene, app: str) -> str:
    """A Rollout's."""
    (found,) = (
        str(each["metadata"]["uid"])
        for each in scene.cluster.objects("Rollout")
        if each["metadata"]["name"] == app
    )
    return found


def web(replicas: int, **strategy: Any) -> Manifest:
    """A Rollout."""
    return rollout("web", replicas, "default", **strategy)


def given(scene: Scene, owner: Manifest, sizes: Mapping[str, int], *more: Manifest) -> list[str]:
    """A Rollout on a spot node with so many pods by each template, and an idle node."""
    scene.place(owner)
    scene.cluster.server.set_status("Rollout", ("default", "web"), owner["status"])
    scene.apply(*more)
    uid = uid_of(scene, "web")
    scene.apply(*(replica_set(owner, uid, size, of) for of, size in sizes.items()))
    scene.settle(20)
    scene.add_node("o1", spot=False)
    scene.begin()
    return [pod.name for pod in scene.pods("web")]


def test_pods_are_replaced_before_they_go(scene: Scene) -> None:
    old = given(scene, web(3), {STABLE: 3})
    scene.interrupt("s1").run(until=60)

    for name in old:
        order = scene.story(name).order()
        assert (order[0], order[-1]) == ("release NodeDoomed", "evict ReplacementAvailable")
    assert scene.lowest("web") == 3
    told = [each for _, each in scene.told("NodeDoomed")]
    assert {str(each.workload) for each in told} == {"rollout default/web"}


@pytest.mark.parametrize("bound", [{"maxUnavailable": 1}, {"minAvailable": "75%"}], ids=str)
def test_a_budget_lets_them_go_as_soon_as_they_are_replaced(
    scene: Scene, bound: Mapping[str, Any]
) -> None:
    old = given(scene, web(4), {STABLE: 4}, budget("web", **bound))
    scene.interrupt("s1").run(until=60)

    gone = [sent.name for sent in scene.written() if isinstance(sent.write, Evict)]
    assert sorted(gone) == sorted(old), "each is evicted once"
    assert scene.lowest("web") == 4


def test_a_released_pod_is_the_rollouts(scene: Scene) -> None:
    (old,) = given(scene, web(1), {STABLE: 1})
    scene.interrupt("s1").run(until=2)

    (pod,) = (each for each in scene.pods("web", "s1") if each.name == old)
    assert pod.released
    assert pod.metadata.labels[names.ROLLOUT_HASH] == names.released_hash(STABLE)
    (owner,) = pod.metadata.owner_references
    assert (owner.full_kind, owner.name, owner.controller) == ("Rollout.argoproj.io", "web", False)


def test_a_pod_without_a_replacement_goes_back_and_the_rollout_rests(scene: Scene) -> None:
    owner = web(1)
    (old,) = given(scene, owner, {STABLE: 1})
    late = {"annotations": {"evenkeel.test/ready-after": "1h"}}
    scene.apply(replica_set(owner, uid_of(scene, "web"), pods=late))
    scene.recommend("s1").run(until=1000)

    assert "roll-back DeadlinePassed" in scene.story(old).order()
    (pod,) = (each for each in scene.pods("web", "s1") if each.name == old)
    assert pod.metadata.labels[names.ROLLOUT_HASH] == STABLE
    (found,) = (msgspec.convert(each, Rollout) for each in scene.cluster.objects("Rollout"))
    assert isinstance(writes.cooldown_of(found), Cooldown)


def test_one_whose_template_is_a_deployments_is_handed_over_between_two_steps(
    scene: Scene,
) -> None:
    """It says no selector, which would select all pods of the namespace."""
    owner = web(4)
    owner["spec"] = {"replicas": 4, "workloadRef": {"kind": "Deployment", "name": "web"}}
    old = given(scene, owner, {STABLE: 3, CANARY: 1}, deployment("other", 2))
    scene.interrupt("s1").run(until=80)

    assert scene.lowest("web") >= 3
    assert scene.lowest("other") == 2
    assert not set(old) & {pod.name for pod in scene.pods("web")}


def test_between_two_steps_as_many_stay_as_the_rollout_keeps(scene: Scene) -> None:
    old = given(scene, web(4), {STABLE: 3, CANARY: 1})
    scene.interrupt("s1").run(until=80)

    assert scene.lowest("web") >= 3  # a quarter may be missing in a rollout
    assert not set(old) & {pod.name for pod in scene.pods("web")}
    assert {pod.spec.node_name for pod in scene.pods("web")} == {"o1"}


SPLIT: Manifest = {"canary": {"trafficRouting": {"istio": {"destinationRule": {"name": "web"}}}}}
"""Istio sends traffic to pods by their hash, as Argo tells it to."""


@pytest.mark.parametrize(
    "strategy",
    [
        {"canary": {"maxSurge": 0, "maxUnavailable": 1}},
        {"canary": {"maxSurge": "0", "maxUnavailable": 1}},
        {"blueGreen": {"activeService": "web"}},
        SPLIT,
    ],
    ids=["no pod too many", "the same as text", "a Service for each template", "a mesh"],
)
def test_pods_go_one_at_a_time_where_two_are_ruled_out(
    scene: Scene, strategy: Mapping[str, Any]
) -> None:
    old = given(scene, web(3, **strategy), {STABLE: 3})
    scene.interrupt("s1").run(until=80)

    assert scene.lowest("web") == 2
    gone = [sent for sent in scene.written() if isinstance(sent.write, Evict)]
    assert {sent.name for sent in gone} == set(old)
    assert not scene.told("NodeDoomed")


def test_pods_that_traffic_reaches_by_hash_keep_it_and_a_step_keeps_its_part(scene: Scene) -> None:
    """Three canaries of fifteen pods: a quarter of all would be every one of them."""
    given(scene, web(12, **SPLIT), {STABLE: 12, CANARY: 3})
    scene.interrupt("s1")
    seen = {STABLE: [12], CANARY: [3]}
    for tenth in range(1, 800):
        scene.run(until=tenth / 10)
        ready = [pod for pod in scene.pods("web") if pod.ready and pod.active]
        for of, counts in seen.items():
            counts.append(sum(pod.metadata.labels[names.ROLLOUT_HASH] == of for pod in ready))
    assert {of: min(counts) for of, counts in seen.items()} == {STABLE: 9, CANARY: 2}


def is_of_rollout(request: Request) -> bool:
    """Whether it asks for a Rollout."""
    return isinstance(request, Get) and request.kind is Rollout


@pytest.mark.parametrize(
    "error", [ForbiddenError("no right"), UnreadableObjectError("replicas"), NotFoundError("gone")]
)
def test_all_else_is_moved_where_rollouts_cannot_be_read(scene: Scene, error: ClusterError) -> None:
    """Functions may come before their rights. What is not known is not handed over."""
    given(scene, web(3), {STABLE: 3}, stateful_set("db", 2))
    scene.fail(error, is_of_rollout)
    scene.interrupt("s1").run(until=80)

    assert not scene.told("NodeDoomed")
    assert scene.lowest("web") == 2
    assert scene.lowest("db") == 1
    assert {pod.spec.node_name for app in ("web", "db") for pod in scene.pods(app)} == {"o1"}


def test_a_pod_with_a_label_of_another_kind_goes_back_as_it_was(scene: Scene) -> None:
    (old,) = given(scene, web(1), {STABLE: 1})
    late = {"annotations": {"evenkeel.test/ready-after": "1h"}}
    scene.apply(replica_set(web(1), uid_of(scene, "web"), pods=late))
    scene.recommend("s1").run(until=10)
    scene.apply(resource("Pod", old, "default", labels={names.TEMPLATE_HASH: "mine"}))
    (pod,) = (each for each in scene.pods("web", "s1") if each.name == old)
    assert pod.released
    assert pod.metadata.labels[names.TEMPLATE_HASH] == "mine"
    scene.run(until=1000)

    (pod,) = (each for each in scene.pods("web", "s1") if each.name == old)
    assert pod.metadata.labels[names.ROLLOUT_HASH] == STABLE
    assert pod.controller is not None
    assert not has_any_of_release(pod)


def test_when_one_is_whole_again_is_told_after_the_drain_has_ended(scene: Scene) -> None:
    given(scene, web(1), {STABLE: 1})
    scene.cluster.delete("Node", "o1")
    scene.interrupt("s1").run(until=150)
    found = scene.recorder.pod_counts
    assert (found[-1].available, found[-1].workload.kind) == (0, "Rollout")
    scene.add_node("o2", spot=False)
    scene.run(until=400)
    assert (found[-1].available, found[-1].wanted) == (1, 1)
