"""Whoever has pods leave, by the gate, an EvictionRequest or a notice: the same becomes of them."""

from evenkeel.model.pod import Pod
from tests.kit.manifests import RECREATE, budget, deployment, stateful_set
from tests.stories.doors.doors import NAMING, NODE, Door


def pods_of(door: Door, app: str) -> list[Pod]:
    return [pod for pod in door.scene.pods(app) if pod.active]


def test_single_replicas_go_when_another_is_available(door: Door) -> None:
    door.scene.given(
        *(deployment(f"one-{n}", pod=NAMING) for n in range(5)),
        *(budget(f"one-{n}", minAvailable=1) for n in range(5)),
        spare="o1",
    )
    door.ask()
    door.scene.settle(40)
    for number in range(5):
        (pod,) = pods_of(door, f"one-{number}")
        assert (pod.spec.node_name, pod.released) == ("o1", False)
        assert door.scene.lowest(f"one-{number}") == 1


def test_no_pod_of_several_is_missing(door: Door) -> None:
    door.scene.given(deployment("web", 6, pod=NAMING), spare="o1", room={"s1": "8"})
    door.ask()
    door.scene.settle(60)
    assert {pod.spec.node_name for pod in pods_of(door, "web")} == {"o1"}
    assert door.scene.lowest("web") == 6


def test_a_pod_that_can_have_no_second_one_goes_all_the_same(door: Door) -> None:
    door.scene.given(
        stateful_set("db", pod=NAMING), deployment("alone", pod=NAMING, **RECREATE), spare="o1"
    )
    door.ask()
    door.scene.settle(130)
    for app in ("db", "alone"):
        assert [pod.spec.node_name for pod in pods_of(door, app)] == ["o1"]


def test_what_is_withdrawn_leaves_nothing(door: Door) -> None:
    """There is no room for a replacement, so the pod is released and waits when it is withdrawn."""
    door.scene.given(deployment("one", pod=NAMING), room={NODE: "1"})
    (before,) = door.scene.pods("one")
    door.ask()
    door.scene.settle(5)
    assert [pod.name for pod in pods_of(door, "one") if pod.released] == [before.name]
    door.withdraw()
    door.scene.settle(400)
    (after,) = pods_of(door, "one")
    assert after.uid == before.uid
    assert after.metadata.labels == before.metadata.labels
    assert after.metadata.annotations == before.metadata.annotations
    assert after.metadata.owner_references == before.metadata.owner_references
    assert door.scene.lowest("one") == 1
