"""How many pods of a workload are available is logged while its pods go."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from evenkeel.model import names
from evenkeel.settings import Mode
from tests.kit.manifests import RECREATE, deployment, on_node, stateful_set
from tests.kit.scene import CALM, Scene
from tests.stories.handover.conftest import MakeScene

STORM = 100


SECONDS = 120


def counts(scene: Scene, name: str) -> list[tuple[int | None, int]]:
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
        assert max(available or 0 for available, _ in counts(scene, name)) > size


def when_whole(scene: Scene, name: str) -> tuple[float, float]:
    """When the log says that a workload was whole again, and when an observer saw that."""
    counts = [each for each in scene.recorder.pod_counts if each.workload.name == name]
    (health,) = (h for ref, h in scene.observer.workloads.items() if ref.name == name)
    told = [each.at for each in counts if each.is_whole]
    seen = [each.at for each in health.seen if each.ready >= (each.wanted or 0)]
    return (told[-1] - scene.at(0)).total_seconds(), (seen[-1] - scene.at(0)).total_seconds()


@pytest.mark.parametrize("kept", [True, False], ids=["one environment", "each a new one"])
def test_when_a_workload_is_whole_again_is_told_after_the_drain_has_ended(
    make_scene: MakeScene, *, kept: bool
) -> None:
    """The schedule's run tells it, in an environment that knows nothing but the Lease, too."""
    slow = replace(CALM, start_seconds=(40.0, 40.0))
    scene = make_scene(environments_kept=kept, options=slow)
    scene.given(deployment("one", **RECREATE), spare="o1", settle=90)
    scene.interrupt("s1").run(until=35)
    assert counts(scene, "one")[-1] == (0, 1)
    scene.run(until=300)
    assert counts(scene, "one")[-1] == (1, 1)
    told, seen = when_whole(scene, "one")
    assert 35 < seen < 60
    assert abs(told - seen) <= 1
    (lease,) = scene.cluster.objects("Lease")
    assert lease["metadata"]["annotations"][names.LOW_COUNTS] == ""


def test_nothing_is_told_of_a_workload_that_stays_short_and_it_is_forgotten(
    scene: Scene,
) -> None:
    scene.given(deployment("one", **RECREATE))
    scene.interrupt("s1").run(until=300)
    assert counts(scene, "one")[-1] == (0, 1)
    (lease,) = scene.cluster.objects("Lease")
    assert "one" in lease["metadata"]["annotations"][names.LOW_COUNTS]
    scene.run(until=4_000)
    scene.add_node("o1", spot=False)
    scene.run(until=4_200)
    assert counts(scene, "one")[-1] == (0, 1)


def test_of_one_that_is_deleted_or_scaled_down_it_is_not_known_how_long_it_was_short(
    scene: Scene,
) -> None:
    scene.given(deployment("one", **RECREATE), deployment("two", 2, **RECREATE))
    scene.interrupt("s1").run(until=140)
    scene.cluster.delete("Deployment", "one", "default")
    scene.cluster.scale("Deployment", "two", "default", 0)
    scene.run(until=300)
    assert counts(scene, "one")[-3:] == [(0, 1), (None, 1), (0, 0)]
    assert counts(scene, "two")[-3:] == [(0, 2), (None, 2), (0, 0)]


def test_in_a_rollout_it_is_said_that_nothing_is_counted(scene: Scene) -> None:
    scene.given(deployment("web", 4), spare="o1")
    rolled = deployment("web", 4, pod={"annotations": {"v": "2"}})
    scene.later(1, lambda: scene.apply(rolled))
    scene.interrupt("s1").run(until=200)
    assert (None, 4) in counts(scene, "web")
