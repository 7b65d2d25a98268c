"""What strangers can write into Evenkeel's own annotations."""

import json
from typing import Any

import pytest

from evenkeel.errors import ForbiddenError
from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.queue import Queue
from evenkeel.model import names
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.pod import LONGEST_TEXT
from evenkeel.model.request import Get
from tests.kit import builders
from tests.kit.asking import asks
from tests.kit.manifests import deployment, job, resource
from tests.kit.scene import Scene
from tests.unit.flows.drain.changes import taken

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
    "no controller": json.dumps(SOUND | {"controller": ""}),
    "a controller's subresource": json.dumps(SOUND | {"controller": "web/scale"}),
    "a controller that can be none": json.dumps(SOUND | {"controller": "Web"}),
    "no controller's uid": json.dumps(SOUND | {"controllerUid": ""}),
    "an end in another century": json.dumps(SOUND | {"deadline": "2199-01-01T00:00:00Z"}),
    "a pool that no node can be in": json.dumps(SOUND | {"avoid": [["m5.large", "a b"]]}),
    "made tomorrow": json.dumps(
        SOUND | {"since": "2026-11-22T12:00:00Z", "deadline": "2026-11-22T12:10:00Z"}
    ),
}

STRANGER = "11111111-1111-1111-1111-111111111111"


def forged(name: str, node: str, **release: Any) -> dict[str, Any]:
    """A pod that a tenant, in his own namespace, says was released."""
    value = SOUND | {"controllerUid": STRANGER} | release
    return resource(
        "Pod",
        name,
        "strange",
        labels={"app": name, names.RELEASED_FROM: "abc"},
        notes={names.RELEASE: json.dumps(value)},
        spec={"nodeName": node, "containers": [{"name": "main"}]},
    )


def spoil(scene: Scene, pod: str, annotation: str | None) -> None:
    """Another client overwrites a pod's release, or takes it off."""
    metadata = {"metadata": {"annotations": {names.RELEASE: annotation}}}
    scene.cluster.server.patch("Pod", ("default", pod), metadata)


@pytest.mark.parametrize("annotation", [*SPOILT.values(), None], ids=[*SPOILT, "missing"])
def test_a_pod_whose_release_was_spoilt_goes_back(scene: Scene, annotation: str | None) -> None:
    scene.given(deployment("web"), deployment("other"))
    pod, other = scene.pod("web"), scene.pod("other")

    scene.interrupt("s1")
    scene.later(5, lambda: spoil(scene, pod, annotation))
    scene.run(until=110)

    assert any("roll-back UnreadableRelease" in line for line in scene.story(pod))
    assert scene.gone_at(pod) == 88.9
    assert scene.gone_at(other) == 88.9
    assert scene.moving.errors == []


@pytest.mark.parametrize("annotation", [SPOILT["empty"], SPOILT["made tomorrow"]])
def test_it_is_released_anew_once_its_owner_has_it_back(scene: Scene, annotation: str) -> None:
    """No invocation ends before: nothing but a watch shows that it was adopted."""
    (pod,) = scene.given(deployment("web"), spare="o1")
    scene.interrupt("s1")
    scene.later(1.5, lambda: spoil(scene, pod, annotation))
    scene.run(until=60)

    assert scene.story(pod)[-4:] == [
        "1.5 roll-back UnreadableRelease",
        "1.5 release NodeDoomed",
        "1.5 wait ReplacementPending",
        "3.5 evict ReplacementAvailable",
    ]
    assert scene.lowest("web") == 1


def test_a_pod_that_named_another_controller_is_news_of_both_when_it_is_back() -> None:
    queue = Queue()
    pods = Pods(queue)
    replica_set = builders.replica_set()
    others = builders.release(builders.replica_set("other"))

    pods.update(builders.pod("web", of=replica_set, released=others, revision=1))
    taken(queue)
    pods.update(builders.pod("web", of=replica_set, revision=2))

    assert taken(queue) == {f"default/{others.controller_uid}", replica_set.key}


def test_one_spoilt_between_two_invocations_is_adopted_and_goes_on_from_there(scene: Scene) -> None:
    (pod,) = scene.given(deployment("web"))

    scene.interrupt("s1").run(until=5)
    scene.crash()
    spoil(scene, pod, "{")
    scene.run(until=110)

    story = scene.story(pod)
    assert "roll-back UnreadableRelease" in story.order()
    assert story[-1] == "88.9 evict LastMoment"
    assert story.order().count("release NodeDoomed") == 2


def test_one_spoilt_on_a_node_without_a_notice_goes_back_too(scene: Scene) -> None:
    labels = {names.RELEASED_FROM: "abc"}
    scene.given(
        resource("Pod", "lost", "default", labels=labels, spec={"containers": [{"name": "main"}]})
    )

    scene.run(until=40)

    assert scene.story("lost").order() == ["roll-back UnreadableRelease"]
    (found,) = scene.cluster.objects("Pod")
    assert found["metadata"]["labels"] == {names.TEMPLATE_HASH: "abc"}


@pytest.mark.parametrize("controller", ["", "x/scale", "..", "x"])
def test_no_stranger_s_pod_keeps_others_from_a_handover(scene: Scene, controller: str) -> None:
    """Whatever it names, and whatever the API server answers to that."""
    scene.given(deployment("web"), job("report"), spare="o1")
    pod = scene.pod("web")
    refused = ForbiddenError("replicasets.apps is forbidden")
    scene.fail(refused, lambda r: isinstance(r, Get) and r.name == controller)
    scene.apply(forged("bad", "o1", controller=controller))

    scene.interrupt("s1").run(until=60)

    assert scene.story(pod)[-1].endswith("evict ReplacementAvailable")
    assert scene.lowest("web") == 1
    assert "ClusterUnavailable" not in scene.outcomes()


def test_a_stranger_s_pod_does_not_hide_that_nodes_are_lost(scene: Scene) -> None:
    scene.given(deployment("web"), spare="o1")
    refused = ForbiddenError("nodes is forbidden")
    scene.fail(refused, asks(Get, name="o1"))
    scene.apply(forged("bad", "o1", controller="x"), forged("worse", "o2", controller="x"))

    scene.interrupt("s1").run(until=60)

    assert scene.lowest("web") == 1
    assert "ClusterUnavailable" not in scene.outcomes()


def test_an_api_server_that_refuses_everything_ends_the_invocation(scene: Scene) -> None:
    scene.given(deployment("web"))
    refused = ForbiddenError("replicasets.apps is forbidden")
    scene.fail(refused, asks(Get, of=ReplicaSet))

    scene.interrupt("s1").run(until=10)

    assert scene.outcomes()[-1] == "ClusterUnavailable"
    assert any("is forbidden" in message for message, _ in scene.recorder.notes)


def test_no_invocation_is_kept_at_work_by_a_pod_that_says_it_was_released(scene: Scene) -> None:
    """On a living node, long before its deadline, its replacement never to come."""
    scene.given(deployment("web", pod={"nodeSelector": {"no": "node"}}), settle=0)
    (replica_set,) = (obj["metadata"] for obj in scene.cluster.objects("ReplicaSet"))
    pod = forged(
        "bad",
        "s1",
        deadline="2026-11-22T11:00:00Z",
        controller=replica_set["name"],
        controllerUid=replica_set["uid"],
    )
    pod["metadata"]["namespace"] = "default"
    scene.apply(pod)

    scene.run(until=20 * 60)

    assert scene.story("bad") == ["30.0 wait NoPlace", "860.0 roll-back DeadlinePassed"]
    turns = len(scene.outcomes())
    assert turns <= 22
    assert len(scene.requests) <= 30 * turns


@pytest.mark.parametrize("wanted", [0, -5, 10**9], ids=["nothing", "less than nothing", "too much"])
def test_a_forged_count_costs_no_more_than_what_is_there(scene: Scene, wanted: int) -> None:
    """A forged low count lets released pods go early, never owned ones."""
    slow = {"annotations": {"evenkeel.test/ready-after": "10s"}}
    scene.given(deployment("web", 2, pod=slow), spare="o1")
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
def test_a_spoilt_rest_is_none(scene: Scene, text: str) -> None:
    scene.given(deployment("web", notes={names.COOLDOWN: text}), spare="o1")

    scene.recommend("s1").run(until=30)

    assert scene.pod("web", "o1")


def test_a_release_label_beside_an_owner_means_nothing(scene: Scene) -> None:
    """Somebody put the hash label back by hand and left Evenkeel's: the pod was adopted."""
    (name,) = scene.given(deployment("web"))

    def put_back() -> None:
        (pod,) = (pod for pod in scene.pods("web") if pod.name == name)
        labels = {names.TEMPLATE_HASH: pod.metadata.labels[names.RELEASED_FROM]}
        change = {"metadata": {"labels": labels}}
        scene.cluster.server.patch("Pod", ("default", name), change)

    scene.interrupt("s1")
    scene.later(5, put_back)
    scene.run(until=100)

    assert scene.gone_at(name) == pytest.approx(89, abs=0.2)


def test_an_annotation_that_is_far_too_long_is_no_release() -> None:
    text = "x" * LONGEST_TEXT
    assert builders.pod(annotations={names.RELEASE: text + "x"}).release is None
