"""What a later version writes while it and this one read the same queues, as in a deployment.

It may add fields, causes and notes; what has to last stands in what this version knows.
"""

import json
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.settings import Mode
from tests.kit.manifests import SYSTEM, deployment
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import found, lease

LATER = "evenkeel.dev/of-a-later-version"
MORE: dict[str, Any] = {"v": 2, "later": {"of": [1, 2]}}


def with_more(scene: Scene, kind: str, name: str, annotation: str, **fields: Any) -> None:
    """The later version wrote this annotation."""
    namespace = "" if kind == "Node" else "default"
    (there,) = (
        each["metadata"]["annotations"][annotation]
        for each in scene.cluster.objects(kind, namespace)
        if each["metadata"]["name"] == name
    )
    text = json.dumps(json.loads(there) | MORE | fields)
    change = {"metadata": {"annotations": {annotation: text}}}
    scene.cluster.server.patch(kind, (namespace, name), change)


def test_its_marks_and_releases_are_carried_through(scene: Scene) -> None:
    slow = {"annotations": {"evenkeel.test/ready-after": "10s"}}
    (pod,) = scene.given(deployment("one", pod=slow), spare="o1")

    def goes_on() -> None:
        with_more(scene, "Node", "s1", names.NOTICE, cause="a-cause-of-later")
        with_more(scene, "Pod", pod, names.RELEASE)
        scene.crash()

    scene.later(5, goes_on)
    scene.interrupt("s1").run(until=60)

    assert scene.story(pod)[-1].endswith("evict ReplacementAvailable")
    assert scene.lowest("one") == 1
    assert scene.story("s1").order()[-1] != "leave UnreadableNotice"


def test_its_notes_on_the_lease_stay(scene: Scene) -> None:
    scene.given(SYSTEM, deployment("one"), spare="o1")
    lease(scene, annotations={LATER: "x", names.LOST_POOLS: json.dumps(MORE)})

    scene.interrupt("s1").run(until=40)

    assert scene.lowest("one") == 1
    assert found(scene)["spec"]["holderIdentity"] == ""
    assert found(scene)["metadata"]["annotations"][LATER] == "x"


@pytest.mark.parametrize("mode", Mode)
def test_its_wake_ups_are_heard(make_scene: MakeScene, mode: Mode) -> None:
    scene = make_scene(mode=mode)
    (pod,) = scene.given(deployment("one"), spare="o1")
    scene.interrupt("s1").run(until=0.5)
    (message,) = scene.wake_ups.messages
    body = json.loads(message.body)
    carried = body.get("notices", {}).items()
    notices = {name: notice | MORE | {"cause": "of-later"} for name, notice in carried}
    message.body = json.dumps(body | MORE | {"notices": notices})

    scene.run(until=5)

    assert scene.story(pod)[0] == "1.0 release NodeDoomed"
    assert scene.recorder.total("WakeUpsMalformed") == 0
