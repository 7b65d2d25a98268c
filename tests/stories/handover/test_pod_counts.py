"""How many pods of a workload are available is logged while its pods go."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from evenkeel.settings import Mode
from tests.kit.manifests import RECREATE, deployment, stateful_set, template
from tests.kit.scene import CALM, Scene

STORM = 100
ON_DEMAND = {"karpenter.sh/capacity-type": "on-demand"}
SECONDS = 120


def counts(scene: Scene, name: str) -> list[tuple[int, int]]:
    """(available, wanted) of a workload, in order."""
    found = [count for count in scene.recorder.pod_counts if count.workload.name == name]
    assert found == sorted(found, key=lambda count: count.at)
    return [(count.available, count.wanted) for count in found]


def test_a_handover_shows_both_pods_and_then_the_new_one(scene: Scene) -> None:
    scene.add_node("s1")
    scene.apply(deployment("one"))
    scene.settle()
    scene.add_node("o1", spot=False)
    scene.begin()

    scene.interrupt("s1")
    scene.run(until=60)

    assert counts(scene, "one") == [(1, 1), (2, 1), (1, 1)]
    assert {count.workload.kind for count in scene.recorder.pod_counts} == {"Deployment"}


def test_a_dip_is_logged_up_to_its_end_while_the_drain_looks(scene: Scene) -> None:
    scene.add_node("s1")
    scene.apply(deployment("one", **RECREATE), stateful_set("db", 1), deployment("web"))
    scene.settle()
    scene.add_node("o1", spot=False, room="2")
    scene.begin()

    scene.interrupt("s1")
    scene.run(until=130)

    assert counts(scene, "one")[:2] == [(1, 1), (0, 1)]
    assert counts(scene, "db")[:2] == [(1, 1), (0, 1)]


def test_a_workload_that_no_notice_touches_is_not_counted(scene: Scene) -> None:
    scene.add_node("s1")
    scene.apply(deployment("one"))
    scene.settle()
    scene.add_node("o1", spot=False)
    scene.apply(deployment("other", pod=template("other", nodeSelector=ON_DEMAND)))
    scene.begin()

    scene.interrupt("s1")
    scene.run(until=60)

    assert counts(scene, "one")
    assert scene.pods("other", "o1")
    assert not counts(scene, "other")


def test_observe_mode_counts_too() -> None:
    scene = Scene(mode=Mode.OBSERVE)
    try:
        scene.add_node("s1")
        scene.apply(deployment("one"))
        scene.settle()
        scene.begin()
        scene.interrupt("s1", spare=True)
        scene.run(until=10)
        assert counts(scene, "one") == [(1, 1)]
    finally:
        scene.close()


def test_a_storm_logs_a_count_a_second_and_workload_at_most_and_always_the_last() -> None:
    scene = Scene(options=replace(CALM, start_seconds=(2.0, 30.0)))
    try:
        for number in range(STORM):
            scene.add_node(f"s{number}", room="1")
        scene.apply(deployment("large", 180), deployment("small", 20))
        scene.settle(90)
        for number in range(STORM):
            scene.add_node(f"o{number}", spot=False, room="1")
        scene.begin()
        scene.interrupt(*(f"s{number}" for number in range(STORM)))
        scene.run(until=SECONDS)
        for name, size in (("large", 180), ("small", 20)):
            found = [each for each in scene.recorder.pod_counts if each.workload.name == name]
            assert all(then.at > count.at for count, then in pairwise(found))
            assert max(Counter(each.at.replace(microsecond=0) for each in found).values()) <= 2
            assert len(found) <= SECONDS
            assert counts(scene, name)[-1] == (size, size)
            assert max(available for available, _ in counts(scene, name)) > size
    finally:
        scene.close()
