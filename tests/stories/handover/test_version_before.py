"""What versions before left: released pods without a controller, or without the hash label.

This version names the Deployment, and changes the label (docs/decisions/0037, 0016). It ends what
the others began.
"""

import json
from datetime import timedelta

import pytest

from evenkeel.decisions.notice import mark
from evenkeel.decisions.notice.which_notice import decide
from evenkeel.model import names
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, Notice, NoticeKind
from evenkeel.model.pod import Pod
from evenkeel.model.request import Patch
from evenkeel.model.times import in_words
from tests.kit.manifests import deployment
from tests.kit.scene import Scene

LEADS = {NoticeKind.INTERRUPTION: 120, NoticeKind.REBALANCE: 900}


@pytest.fixture(params=[True, False], ids=["label changed", "label taken off"])
def keeps_label(request: pytest.FixtureRequest) -> bool:
    """Whether the version that released the pod left it a template hash label."""
    return bool(request.param)


def begin(
    scene: Scene, kind: NoticeKind, *, keeps_label: bool, ago: float, spare: str = ""
) -> list[Pod]:
    """Two pods on a node that has had its notice so long when this version comes; one released.

    Answers the one that is released first.
    """
    scene.place(deployment("web", 2))
    given = scene.clock.now() + timedelta(seconds=40 - ago)  # so long it takes to begin
    notice = Notice(
        kind=kind,
        concerns=Concern.SPOT,
        event_id="before",
        instance_id=scene.node("s1").instance_id,
        time=given,
        deadline=given + timedelta(seconds=LEADS[kind]),
    )
    write = decide(scene.node("s1"), notice, given).write
    while write is not None:
        (reply,) = scene.cluster.perform([write])
        assert isinstance(reply.result, Node), reply.error
        write = mark.drain(reply.result, given)
    old, other = scene.pods("web")
    release(scene, old, notice, keeps_label=keeps_label)
    scene.settle(1)
    assert [pod.released for pod in scene.pods("web")].count(True) == 1
    assert len(scene.pods("web")) == 3, "its ReplicaSet makes another pod for it"
    for name in spare.split():
        scene.add_node(name, spot=False)
    scene.begin()
    return [old, other]


def release(scene: Scene, pod: Pod, notice: Notice, *, keeps_label: bool) -> None:
    """Take a pod out of its ReplicaSet: the owner goes, and the label goes or changes."""
    (owner,) = pod.metadata.owner_references
    note = {
        "v": 1,
        "reason": notice.kind.value,
        "deadline": in_words(notice.deadline),
        "since": in_words(notice.time),
        "wanted": 2,
        "controller": owner.name,
        "controllerUid": owner.uid,
        "doNotDisrupt": None,
        "target": None,
        "there": 0,
    }
    template_hash = pod.metadata.labels[names.TEMPLATE_HASH]
    changed = names.released_hash(template_hash) if keeps_label else None
    labels = {names.TEMPLATE_HASH: changed, names.RELEASED_FROM: template_hash}
    annotations = {names.RELEASE: json.dumps(note), names.DO_NOT_DISRUPT: "true"}
    metadata = {"labels": labels, "annotations": annotations, "ownerReferences": None}
    (reply,) = scene.cluster.perform(
        [Patch(kind=Pod, name=pod.name, namespace=pod.namespace, body={"metadata": metadata})]
    )
    assert reply.error is None


def test_its_release_is_carried_through_under_a_warning(scene: Scene, *, keeps_label: bool) -> None:
    old, other = begin(scene, NoticeKind.INTERRUPTION, keeps_label=keeps_label, ago=40, spare="o1")
    scene.run(until=40)
    ends = ["evict ReplacementAvailable"]
    assert [scene.story(pod.name).order()[-1:] for pod in (old, other)] == [ends, ends]
    assert len(scene.pods("web", "o1")) == len(scene.pods("web")) == 2
    assert scene.lowest("web") == 2


def test_its_release_goes_back_when_its_recommendation_has_expired(
    scene: Scene, *, keeps_label: bool
) -> None:
    pods = begin(scene, NoticeKind.REBALANCE, keeps_label=keeps_label, ago=880)
    scene.run(until=60)
    found = scene.pods("web")
    assert [pod.name for pod in found] == [pod.name for pod in pods]
    assert all(pod.metadata.owner_references for pod in found)
    assert all(names.TEMPLATE_HASH in pod.metadata.labels for pod in found)
    assert not any(names.RELEASE in pod.metadata.annotations for pod in found)
    assert not scene.node("s1").spec.unschedulable
    assert names.DOOMED not in scene.node("s1").metadata.labels
    assert scene.lowest("web") == 2
