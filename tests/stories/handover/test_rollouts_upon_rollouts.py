"""A rollout overtakes a rollout while pods are released: the Deployment's floor still holds.

The Deployment controller does not see released pods. It takes their replacements for old pods
that ail, and cleans those up first: their ReplicaSet goes to zero while nothing else is ready.
"""

import pytest

from evenkeel.flows.drain.cache.view import Listed, View
from evenkeel.model.deployment import Deployment
from evenkeel.model.request import Evict
from tests.kit import builders
from tests.kit.builders import NOW
from tests.kit.manifests import Manifest, deployment
from tests.kit.scene import Scene
from tests.unit.flows.drain.changes import taken

BOUNDS: Manifest = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 2}}


def version(cpu: str, ready_after: str) -> Manifest:
    annotations = {"evenkeel.test/ready-after": ready_after}
    return deployment("web", 3, pod={"cpu": cpu, "annotations": annotations}, strategy=BOUNDS)


@pytest.fixture
def begun(scene: Scene) -> Scene:
    """Three pods, released a second after the warning; their replacements take 22 s."""
    scene.given(version("100m", "20s"), spare="o1", settle=30)
    scene.interrupt("s1")
    return scene


def test_the_last_released_pod_stays_until_a_rollout_has_a_pod_of_its_own(begun: Scene) -> None:
    old = [pod.name for pod in begun.pods("web")]
    begun.later(5, lambda: begun.apply(version("110m", "20s")))
    begun.later(8, lambda: begun.apply(version("120m", "20s")))

    begun.run(until=100)

    assert begun.lowest("web") == 1
    last = max(old, key=begun.gone_at)
    assert begun.story(last).order()[-2:] == ["wait RolloutPending", "delete ScaledToZero"]
    assert not any(pod.released for pod in begun.pods("web"))


def test_it_goes_at_its_last_moment_when_no_rollout_gets_that_far(begun: Scene) -> None:
    old = [pod.name for pod in begun.pods("web")]
    begun.later(5, lambda: begun.apply(version("110m", "1000s")))
    begun.later(8, lambda: begun.apply(version("120m", "1000s")))

    begun.run(until=130)

    last = max(old, key=begun.gone_at)
    assert begun.gone_at(last) == pytest.approx(88.9, abs=0.3)
    assert isinstance(begun.written(last)[-1].write, Evict)


OLD, NEW = builders.replica_set("old"), builders.replica_set("new")


def test_what_becomes_of_a_pod_concerns_the_other_replica_sets_of_its_deployment() -> None:
    view = View()
    pod = builders.pod("new-1", of=NEW, node="s1")
    view.pods.update(pod)
    view.replace_workload(OLD.key, Listed(controller=OLD, siblings=[pod]), NOW)
    assert taken(view.queue) == {OLD.key, NEW.key}

    view.evicting(pod.uid, NOW)
    assert taken(view.queue) == {OLD.key, NEW.key}
    view.write_failed(pod.uid, stays=True)
    assert taken(view.queue) == {OLD.key, NEW.key}
    view.lose_node("s1")
    assert taken(view.queue) == {OLD.key, NEW.key}


def test_a_read_of_one_replica_set_has_news_of_all_whose_pods_it_shows() -> None:
    view = View()
    pods = [builders.pod("old-1", of=OLD), builders.pod("new-1", of=NEW)]

    view.replace_workload(OLD.key, Listed(controller=OLD, pods=pods, revision=1), NOW)
    assert taken(view.queue) == {OLD.key, NEW.key}
    view.replace_workload(OLD.key, Listed(controller=OLD, pods=pods, revision=2), NOW)
    assert taken(view.queue) == set()
    view.replace_workload(OLD.key, Listed(controller=OLD, revision=200), NOW)
    assert taken(view.queue) == {OLD.key}


def test_in_a_rollout_each_list_is_planned_by_for_only_lists_show_the_others_pods() -> None:
    view = View()
    listed = Listed(controller=OLD, revision=1, siblings=[builders.pod("new-1", of=NEW)])
    for _ in range(2):
        view.replace_workload(OLD.key, listed, NOW)
        assert taken(view.queue) == {OLD.key}
    view.replace_workload(OLD.key, Listed(controller=OLD, revision=1), NOW)
    assert taken(view.queue) == {OLD.key}
    assert not view.owners.siblings


def test_a_deployment_that_is_read_again_is_news_if_it_says_something_else() -> None:
    view = View()
    of = builders.deployment(revision=7)
    replica_set = builders.replica_set(of=of)
    view.update(replica_set)

    def changed(deployment: Deployment) -> bool:
        view.update(deployment)
        return taken(view.queue) == {replica_set.key}

    taken(view.queue)
    assert changed(of)
    assert not changed(builders.deployment(revision=8))
    assert changed(builders.deployment(revision=9, replicas=5))
    assert not changed(of)
    assert view.owners.deployments[of.key].spec.replicas == 5
