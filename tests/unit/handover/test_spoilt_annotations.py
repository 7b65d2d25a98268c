"""What strangers can write into Evenkeel's own annotations."""

import json
from typing import Any

import pytest

from evenkeel.model import names
from tests.fixtures.scene import Scene
from tests.unit.handover.conftest import MakeScene
from tests.unit.handover.manifests import deployment

SOUND = {
    "v": 1,
    "reason": "interruption",
    "deadline": "2026-11-21T12:10:00Z",
    "since": "2026-11-21T12:00:00Z",
    "wanted": 1,
    "controller": "web",
    "controllerUid": "?",
}

SPOILT = {
    "no JSON": "{",
    "not an object": "[]",
    "empty": "{}",
    "another type": json.dumps(SOUND | {"wanted": "many"}),
    "a reason of tomorrow": json.dumps(SOUND | {"reason": "whim"}),
    "no time zone": json.dumps(SOUND | {"deadline": "2026-11-21T12:10:00"}),
    "a year that cannot be reckoned with": json.dumps(SOUND | {"since": "0001-01-01T00:00:00Z"}),
    "nested too deep": "[" * 100_000,
}


def spoil(scene: Scene, pod: str, annotation: str | None) -> None:
    """Somebody overwrites a pod's release, or takes it off."""
    metadata = {"metadata": {"annotations": {names.RELEASE: annotation}}}
    scene.cluster.server.patch("Pod", ("default", pod), metadata)


@pytest.mark.parametrize("annotation", [*SPOILT.values(), None], ids=[*SPOILT, "missing"])
def test_a_pod_whose_release_was_spoilt_goes_back_to_its_owner(
    scene: Scene, annotation: str | None
) -> None:
    scene.add_node("s1")
    scene.apply(deployment("web"), deployment("other"))
    scene.settle()
    scene.begin()
    pod, other = scene.pod("web"), scene.pod("other")

    scene.interrupt("s1")
    scene.later(5, lambda: spoil(scene, pod, annotation))
    scene.run(until=110)

    assert any("roll-back UnreadableRelease" in line for line in scene.story(pod))
    assert scene.gone_at(pod) == 88.9
    assert scene.gone_at(other) == 88.9
    assert scene.moving.errors == []


def test_one_spoilt_while_nobody_looked_is_adopted_and_goes_on_from_there(scene: Scene) -> None:
    scene.add_node("s1")
    scene.apply(deployment("web"))
    scene.settle()
    scene.begin()
    pod = scene.pod("web")

    scene.interrupt("s1")
    scene.run(until=5)
    scene.crash()
    spoil(scene, pod, "{")
    scene.run(until=110)

    story = scene.story(pod)
    assert "21.0 roll-back UnreadableRelease" in story
    assert story[-1] == "88.9 evict LastMoment"
    assert [line.split(" ", 1)[1] for line in story].count("release NodeDoomed") == 2


def test_one_spoilt_on_a_node_without_a_notice_goes_back_too(scene: Scene) -> None:
    scene.add_node("s1")
    labels = {names.RELEASED_FROM: "abc"}
    scene.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "lost", "namespace": "default", "labels": labels},
            "spec": {"containers": [{"name": "main"}]},
        }
    )
    scene.settle()
    scene.begin()

    scene.run(until=40)

    assert scene.story("lost") == ["30.0 roll-back UnreadableRelease"]
    (found,) = scene.cluster.objects("Pod")
    assert found["metadata"]["labels"] == {names.TEMPLATE_HASH: "abc"}


@pytest.mark.parametrize("wanted", [0, -5, 10**9], ids=["nothing", "less than nothing", "too much"])
def test_a_count_that_was_forged_costs_no_more_than_what_is_there(
    scene: Scene, wanted: int
) -> None:
    """A forged low count lets released pods go early, never owned ones."""
    scene.add_node("s1")
    slow = {"annotations": {"evenkeel.test/ready-after": "10s"}}
    scene.apply(deployment("web", 2, pod=slow))
    scene.settle(20)
    scene.add_node("o1", spot=False)
    scene.begin()
    first = scene.pods("web")[0].name

    def forge() -> None:
        (pod,) = (pod for pod in scene.pods("web") if pod.name == first)
        value = json.loads(pod.metadata.annotations[names.RELEASE])
        spoil(scene, first, json.dumps(value | {"wanted": wanted}))

    scene.interrupt("s1")
    scene.later(5, forge)
    scene.run(until=110)

    assert len(scene.pods("web", "o1")) == 2
    assert scene.lowest("web") == 2
    assert scene.moving.errors == []


@pytest.mark.parametrize("text", ["{", json.dumps({"failures": 1, "until": "2099-01-01T00:00:00"})])
def test_a_spoilt_rest_is_none(make_scene: MakeScene, text: str) -> None:
    scene = make_scene()
    scene.add_node("s1")
    notes: dict[str, Any] = {names.COOLDOWN: text}
    scene.apply(deployment("web", notes=notes))
    scene.settle()
    scene.add_node("o1", spot=False)
    scene.begin()

    scene.recommend("s1")
    scene.run(until=30)

    assert scene.pod("web", "o1")
