"""How many pods of a workload are available is logged while its pods go."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from evenkeel.settings import Mode
from tests.kit.manifests import RECREATE, deployment, on_node, stateful_set
from tests.kit.scene import CALM, Scene
from tests.stories.handover.conftest import MakeScene

STORM = 100


SECONDS = 120


def counts(scene: Scene, name: str) -> list[tuple[int, int]]:
    """(available, wanted) of a workload, in order."""
    found = [count for count in scene.recorder.pod_counts if count.workload.name == name]
    assert found == sorted(found, key=lambda count: count.at)
    return [(count.available, count.wanted) for count in found]


def test_a_handover_shows_both_pods_and_then_the_new_one(scene: Scene) -> None:
    scene.given(deployment("one"), spare="o1")
    scene.interrupt("s1").run(until=60)
    assert counts(scene, "one") == [(1, 1), (2, 1), (1, 1)]
    assert {count.workload.kind for count in scene.recorder.pod_counts} == {"Deployment"}


def test_a_dip_is_logged_up_to_its_end_while_the_drain_looks(scene: Scene) -> None:
    workloads = (deployment("one", **RECREATE), stateful_set("db", 1), deployment("web"))
    scene.given(*workloads, spare="o1", room={"o1": "2"})
    scene.interrupt("s1").run(until=130)
    assert counts(scene, "one")[:2] == [(1, 1), (0, 1)]
    assert counts(scene, "db")[:2] == [(1, 1), (0, 1)]


def test_a_workload_that_no_notice_touches_is_not_counted(scene: Scene) -> None:
    scene.given(deployment("one"), deployment("other", pod=on_node("o1")), on="s1 o1")
    scene.interrupt("s1").run(until=60)
    assert counts(scene, "one")
    assert scene.pods("other", "o1")
    assert not counts(scene, "other")


def test_observe_mode_counts_too(make_scene: MakeScene) -> None:
    scene = make_scene(mode=Mode.OBSERVE)
    scene.given(deployment("one"))
    scene.interrupt("s1", carried_out=False).run(until=10)
    assert counts(scene, "one") == [(1, 1)]


def test_a_storm_logs_a_count_a_second_at_most_and_always_the_last(make_scene: MakeScene) -> None:
    scene = make_scene(options=replace(CALM, start_seconds=(2.0, 30.0)))
    spot, others = (" ".join(f"{each}{number}" for number in range(STORM)) for each in "so")
    sizes = {"large": 180, "small": 20}
    workloads = (deployment(name, size) for name, size in sizes.items())
    scene.given(*workloads, on=spot, spare=others, room={"s": "1", "o": "1"}, settle=90)
    scene.interrupt(*spot.split()).run(until=SECONDS)
    for name, size in sizes.items():
        found = [each for each in scene.recorder.pod_counts if each.workload.name == name]
        assert all(then.at > count.at for count, then in pairwise(found))
        assert max(Counter(each.at.replace(microsecond=0) for each in found).values()) <= 2
        assert len(found) <= SECONDS
        assert counts(scene, name)[-1] == (size, size)
        assert max(available for available, _ in counts(scene, name)) > size
