"""Observe mode: everything is decided and told, nothing is written."""

from evenkeel.model.request import Create, Delete, Evict, Patch
from evenkeel.settings import Mode
from tests.kit.manifests import (
    bare_pod,
    budget,
    daemon_set,
    deployment,
    job,
    stateful_set,
)
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene


def observed(make_scene: MakeScene) -> Scene:
    """One workload for each way, all on s1."""
    scene = make_scene(mode=Mode.OBSERVE)
    scene.given(
        deployment("web", 3),
        budget("web", maxUnavailable=1),
        stateful_set("db", 2),
        job("sums"),
        bare_pod("alone"),
        daemon_set("agent"),
        spare="o1",
    )
    return scene


def told_of(scene: Scene, app: str) -> list[str]:
    """What was told of a workload's pods, sorted."""
    stories = [scene.story(pod.name) for pod in scene.pods(app)]
    return sorted(line for story in stories for line in story.order())


def test_every_pod_s_way_is_told_once_and_nothing_is_written(make_scene: MakeScene) -> None:
    scene = observed(make_scene)

    scene.interrupt("s1", carried_out=False).run(until=300)

    assert told_of(scene, "web") == ["release NodeDoomed"] * 3
    assert told_of(scene, "db") == ["evict StatefulSet", "wait StatefulSet"]
    assert told_of(scene, "sums") == ["wait JobMayFinish"]
    assert told_of(scene, "alone") == ["wait BarePod"]
    assert told_of(scene, "agent") == ["leave DaemonSet"]
    assert not [r for _, r in scene.requests if isinstance(r, Create | Patch | Delete | Evict)]
    assert scene.outcomes()[0] == "Observed"
    assert scene.is_quiet


def test_a_recommendation_is_told_though_no_share_could_cordon(make_scene: MakeScene) -> None:
    scene = observed(make_scene)

    scene.recommend("s1").run(until=100)

    assert told_of(scene, "web") == ["release NodeDoomed"] * 3
    assert told_of(scene, "sums") == ["leave JobMayFinish"]
    assert told_of(scene, "alone") == ["leave BarePod"]
    assert scene.writes == []


def test_what_an_acting_deployment_left_is_told_too(make_scene: MakeScene) -> None:
    """A node marked by another deployment of Evenkeel, and pods that it released."""
    acting = make_scene()
    (pod,) = acting.given(deployment("one"))
    acting.interrupt("s1").run(until=17.5)
    acting._mode = Mode.OBSERVE
    before = len(acting.writes)

    watching = acting._handover()
    acting.clock.start(lambda: (watching({}, None), None)[1])
    acting.run(until=17.9)

    assert len(acting.writes) == before
    assert acting.told()[-1][1].reason in ("NoPlace", "NodeDying")
    assert pod in {decision.subject.name for _, decision in acting.told()[-3:]}
