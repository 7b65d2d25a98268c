"""Replacements that cannot be made, or find no place."""

from tests.kit.manifests import apart, deployment, quota
from tests.kit.scene import BEGUN, NO_PLACE, Scene


def owned(scene: Scene, app: str) -> dict[str, bool]:
    """The pods of a workload, and whether a ReplicaSet owns them."""
    return {pod.name: pod.controller is not None for pod in scene.pods(app)}


def test_a_replacement_that_finds_a_place_late_is_still_waited_for(scene: Scene) -> None:
    (pod,) = scene.given(deployment("one"))
    scene.later(70, lambda: scene.add_node("o1", spot=False))

    scene.interrupt("s1").run(until=110)

    assert scene.story(pod).order() == [*NO_PLACE, "evict ReplacementAvailable"]
    assert scene.gone_at(pod) == 72.0
    assert scene.lowest("one") == 1


def test_without_capacity_a_pod_serves_to_its_last_moment(scene: Scene) -> None:
    pods = scene.given(deployment("web", 3), spare="o1", room={"o1": "0.2"})

    scene.interrupt("s1").run(until=110)

    assert sorted(scene.gone_at(pod) for pod in pods) == [3.0, 3.0, 88.9]
    assert len(scene.pods("web", "o1")) == 2
    assert scene.lowest("web") == 2


def test_one_that_keeps_apart_and_has_no_spare_node_goes_at_the_last_moment(scene: Scene) -> None:
    """Each node has its pod, and nothing lets two of them share one."""
    scene.given(deployment("shy", 2, pod=apart("shy")), on="s1 s2")
    doomed, other = scene.pod("shy", "s1"), scene.pod("shy", "s2")

    scene.interrupt("s1").run(until=110)

    assert scene.story(doomed).order() == [*NO_PLACE, "evict LastMoment"]
    assert scene.gone_at(doomed) == 88.9
    assert scene.story(other) == []
    assert scene.lowest("shy") == 1


def test_under_a_quota_the_pod_is_back_with_its_owner_just_before_it_goes(scene: Scene) -> None:
    """Then its going makes the ReplicaSet try again at once, rather than after its back-off."""
    (pod,) = scene.given(deployment("tight"), quota(pods="1"), spare="o1")

    scene.interrupt("s1").run(until=84.9)
    assert owned(scene, "tight") == {pod: False}
    scene.run(until=110)

    assert scene.story(pod).order() == [
        *BEGUN,
        "roll-back CannotBeReplaced",
        "wait CannotBeReplaced",
        "evict LastMoment",
    ]
    assert scene.gone_at(pod) == 88.9
    (replacement,) = scene.pods("tight", "o1")
    assert replacement.metadata.creation_timestamp == scene.at(89)


def test_a_hint_is_given_up_as_soon_as_a_quota_forbids_the_replacement(scene: Scene) -> None:
    (pod,) = scene.given(deployment("tight"), quota(pods="1"), spare="o1")

    scene.recommend("s1").run(until=60)

    assert scene.story(pod).order() == [
        *BEGUN,
        "roll-back CannotBeReplaced",
        "leave CannotBeReplaced",
        "leave CoolingDown",
    ]
    assert owned(scene, "tight") == {pod: True}
    assert scene.story("tight").order() == ["cool-down HandoverRolledBack"]
