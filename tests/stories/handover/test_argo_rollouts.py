"""Pods of Argo Rollouts: handed over as a Deployment's, in its steps too.

Its controller is not played: objects stand as it writes them.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain import writes
from evenkeel.model import names
from evenkeel.model.release import Cooldown
from evenkeel.model.request import Evict
from evenkeel.model.rollout import Rollout
from tests.kit.argo import CANARY, STABLE, replica_set, rollout
from tests.kit.manifests import Manifest, deployment, service
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


def test_a_released_pod_is_the_rollouts(scene: Scene) -> None:
    (old,) = given(scene, web(1), {STABLE: 1})
    scene.interrupt("s1").run(until=2)

    (pod,) = (each for each in scene.pods("web", "s1") if each.name == old)
    assert pod.released
    assert pod.metadata.labels[names.ROLLOUT_HASH] == names.released_hash(STABLE)
    (owner,) = pod.metadata.owner_references
    assert (owner.full_kind, owner.name) == ("Rollout.argoproj.io", "web")


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


@pytest.mark.parametrize(
    "strategy",
    [{"canary": {"maxSurge": 0, "maxUnavailable": 1}}, {"blueGreen": {"activeService": "web"}}],
    ids=["no pod too many", "a Service for each template"],
)
def test_pods_go_one_at_a_time_where_two_are_ruled_out(
    scene: Scene, strategy: Mapping[str, Any]
) -> None:
    by_hash = {names.ROLLOUT_HASH: STABLE}
    services = [service("web", **by_hash)] if "blueGreen" in strategy else []
    old = given(scene, web(3, **strategy), {STABLE: 3}, *services)
    scene.interrupt("s1").run(until=80)

    assert scene.lowest("web") == 2
    gone = [sent for sent in scene.written() if isinstance(sent.write, Evict)]
    assert {sent.name for sent in gone} == set(old)
    assert not scene.told("NodeDoomed")
