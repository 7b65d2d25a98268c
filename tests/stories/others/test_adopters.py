"""Others select the pods of a Deployment, too: none of them ever takes one."""

from typing import Any

import pytest

from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import Obj, labels_of, owners_of
from tests.kit.manifests import Manifest, bare_pod, deployment, replica_set
from tests.kit.others import Outsider, adopter
from tests.kit.scene import Scene

TWIN: Manifest = deployment("web", 3)
TWIN = {**TWIN, "metadata": {**TWIN["metadata"], "name": "twin"}}
"""A Deployment with the selector and the template of ``web``."""

ADOPTERS = {
    "a ReplicaSet made by hand": adopter("web"),
    "a DaemonSet": adopter("web", "DaemonSet"),
    "a twin": TWIN,
}


@pytest.fixture(params=[*ADOPTERS.values()], ids=[*ADOPTERS])
def other(request: pytest.FixtureRequest) -> Manifest:
    """What selects the pods of ``web`` without their template hash."""
    found: Manifest = request.param
    return found


def watched(scene: Scene, other: Manifest, spare: str = "o1") -> Outsider:
    """``web`` runs on s1, and the other is there, if it has pods on s2."""
    scene.place(deployment("web", 3))
    scene.add_node("s2")
    scene.cluster.server.patch("Node", ("", "s1"), {"spec": {"unschedulable": True}})
    scene.apply(other)
    scene.settle(20)
    scene.cluster.server.patch("Node", ("", "s1"), {"spec": {"unschedulable": None}})
    scene.cluster.server.patch("Node", ("", "s2"), {"spec": {"unschedulable": True}})
    scene.given(on="", spare=spare)
    return Outsider(scene.cluster, "web")


def test_none_is_taken_when_a_node_goes(scene: Scene, other: Manifest) -> None:
    outside = watched(scene, other)
    before = outside.ready

    scene.interrupt("s1").run(until=118)

    assert outside.lowest == before
    assert outside.orphans == []
    assert not scene.pods("web", "s1")


def test_none_is_taken_on_a_hint(scene: Scene, other: Manifest) -> None:
    outside = watched(scene, other)
    before = outside.ready

    scene.recommend("s1").run(until=1000)

    assert outside.lowest == before
    assert outside.orphans == []


def test_none_is_taken_when_a_hint_is_rolled_back(scene: Scene, other: Manifest) -> None:
    """No node has room for the replacements."""
    outside = watched(scene, other, spare="")
    before = outside.ready

    scene.recommend("s1").run(until=1100)

    assert outside.lowest == before
    assert outside.orphans == []
    assert scene.told("HintExpired")
    assert {pod.spec.node_name for pod in scene.pods("web") if pod.ready} == (
        {"s1", "s2"} if other is TWIN else {"s1"}
    )


def changes(scene: Scene) -> list[tuple[Obj, Obj]]:
    """The changes of pods from now on, a list that grows."""
    noted: list[tuple[Obj, Obj]] = []

    def note(old: Obj | None, new: Obj | None) -> None:
        if old is not None and new is not None and labels_of(old) != labels_of(new):
            noted.append((old, new))

    scene.cluster.server.store.observe("Pod", note)
    return noted


def test_a_released_pod_belongs_to_its_deployment(scene: Scene) -> None:
    scene.given(deployment("web", 2), spare="o1")
    noted = changes(scene)
    (web,) = scene.cluster.objects("Deployment")

    scene.interrupt("s1").run(until=60)

    released = [new for _, new in noted if names.RELEASED_FROM in labels_of(new)]
    assert len(released) == 2
    assert [owners_of(pod) for pod in released] == 2 * [[owner_of(web)]]


def owner_of(web: Obj) -> dict[str, Any]:
    """A reference to a Deployment that keeps nobody from deleting it."""
    name, uid = web["metadata"]["name"], web["metadata"]["uid"]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": name,
        "uid": uid,
        "controller": True,
    }


def test_a_pod_that_goes_back_gets_its_label_and_its_replica_set_in_one_write(
    scene: Scene,
) -> None:
    scene.given(deployment("web", 2))
    noted = changes(scene)
    (replica_set,) = scene.cluster.objects("ReplicaSet")

    scene.recommend("s1").run(until=1100)

    back = [new for old, new in noted if names.RELEASED_FROM in labels_of(old)]
    assert back
    for pod in back:
        assert names.RELEASED_FROM not in labels_of(pod)
        template_hash = labels_of(replica_set)[names.TEMPLATE_HASH]
        assert labels_of(pod)[names.TEMPLATE_HASH] == template_hash
        (owner,) = owners_of(pod)
        assert (owner["kind"], owner["uid"]) == ("ReplicaSet", replica_set["metadata"]["uid"])
        assert owner["controller"] is True
    assert scene.lowest("web") == 2


def test_none_is_taken_when_somebody_spoils_the_annotation_of_its_release(
    scene: Scene, other: Manifest
) -> None:
    """No node has room for the replacements. All go back, as nobody can say when they may go."""
    outside = watched(scene, other, spare="")
    before = outside.ready

    def spoil() -> None:
        for pod in scene.pods("web", "s1"):
            spoilt = {"metadata": {"annotations": {names.RELEASE: "spoilt"}}}
            scene.cluster.server.patch("Pod", ("default", pod.name), spoilt)

    scene.later(10, spoil)
    scene.recommend("s1").run(until=60)

    assert scene.told("UnreadableRelease")
    assert outside.lowest == before
    assert outside.orphans == []


def test_released_pods_go_with_their_deployment(scene: Scene) -> None:
    """The garbage collector takes them, and Evenkeel has nothing left to do."""
    scene.given(deployment("web", 2))
    scene.recommend("s1").run(until=10)
    assert any(pod.released for pod in scene.pods("web"))

    scene.cluster.delete("Deployment", "web", "default")
    scene.run(until=20)

    assert not scene.pods("web")
    assert scene.told("NotWanted") == []


def test_a_replica_set_without_a_deployment_releases_none(scene: Scene) -> None:
    """Even if it selects by template hash: nothing that adopts no pods could own them."""
    alone = replica_set("web", 3)
    alone["spec"]["selector"]["matchLabels"][names.TEMPLATE_HASH] = "5d4f"
    alone["spec"]["template"]["metadata"]["labels"][names.TEMPLATE_HASH] = "5d4f"
    scene.given(alone, spare="o1")
    outside = Outsider(scene.cluster, "web")

    scene.interrupt("s1").run(until=118)

    assert not scene.told("NodeDoomed")
    assert outside.lowest == 2
    assert len(scene.pods("web", "o1")) == 3


def test_a_hint_leaves_the_pods_of_a_replica_set_without_a_deployment(scene: Scene) -> None:
    alone = replica_set("web", 3)
    alone["spec"]["selector"]["matchLabels"][names.TEMPLATE_HASH] = "5d4f"
    alone["spec"]["template"]["metadata"]["labels"][names.TEMPLATE_HASH] = "5d4f"
    old = scene.given(alone, spare="o1")

    scene.recommend("s1").run(until=1000)

    assert [pod.name for pod in scene.pods("web")] == old


def test_a_pod_that_another_s_controller_made_for_a_deployment_keeps_its_owner(
    scene: Scene,
) -> None:
    """It bears no template hash, so it is no pod that was released."""
    scene.place(deployment("web"), on="s1")
    (owner,) = scene.cluster.objects("Deployment")
    helper = bare_pod("helper")
    helper["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": "web",
            "uid": owner["metadata"]["uid"],
            "controller": True,
        }
    ]
    scene.given(helper, on="")
    scene.recommend("s1").run(until=60)
    (there,) = scene.pods("helper")
    assert [each.kind for each in there.metadata.owner_references] == ["Deployment"]
    assert scene.written("helper") == []
