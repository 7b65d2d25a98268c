"""A quota allows no second pod: the pods of a ReplicaSet go in turns."""

import contextlib
import itertools
import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from evenkeel.errors import ForbiddenError
from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.queue import Queue
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.model import names
from evenkeel.model.quota_note import QuotaNote
from evenkeel.model.request import Patch
from tests.kit import builders
from tests.kit.effort import measured
from tests.kit.manifests import Manifest, bare_pod, budget, deployment, quota
from tests.kit.scene import BEGUN, Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import blind


def slow(seconds: int, **more: Any) -> Manifest:
    """What a pod template says whose pods take so long to stop."""
    return {"annotations": {"evenkeel.test/stop-after": f"{seconds}s"}, **more}


def begin(scene: Scene, *manifests: Manifest) -> list[str]:
    """All pods of a workload ``tight`` run on s1, which is interrupted; their names."""
    pods = scene.given(*manifests, spare="o1")
    scene.interrupt("s1")
    return pods


def notes(scene: Scene) -> list[dict[str, Any]]:
    """What was written to the ReplicaSet, each with its time as ``sent``."""
    (replica_set,) = scene.cluster.objects("ReplicaSet", "default")
    found = []
    for sent in scene.written(replica_set["metadata"]["name"]):
        assert isinstance(sent.write, Patch)
        assert not isinstance(sent.write.body, Mapping)
        found.append({"sent": sent.at, **json.loads(str(sent.write.body[-1].value))})
    return found


def made_at(scene: Scene) -> list[float]:
    """When the pods that are there now were made, in whole seconds."""
    made = (pod.metadata.creation_timestamp or scene.at(0) for pod in scene.pods("tight"))
    return sorted((at - scene.at(0)).total_seconds() for at in made)


def test_pods_go_one_after_the_other(scene: Scene) -> None:
    pods = begin(scene, deployment("tight", 3), quota(pods="3"))

    scene.run(until=60)

    assert sorted(scene.gone_at(pod) for pod in pods) == [3.0, 6.0, 9.0]
    assert scene.lowest("tight") == 2
    (first,) = (pod for pod in pods if scene.gone_at(pod) == 3.0)
    assert scene.story(first).order() == [
        *BEGUN,
        "roll-back QuotaRefuses",
        "evict QuotaRefuses",
    ]
    assert scene.gone_at(first) == 3.0


def test_the_next_is_made_as_soon_as_one_that_stops_slowly_is_gone(scene: Scene) -> None:
    """By itself its controller tries after 10 s, and then after 20 s."""
    pods = begin(scene, deployment("tight", 3, pod=slow(12)), quota(pods="3"))

    scene.run(until=80)

    assert sorted(scene.gone_at(pod) for pod in pods) == [3.0, 17.0, 31.0]
    assert made_at(scene) == [15, 29, 43]
    assert scene.lowest("tight") == 2


def test_three_writes_tell_of_a_turn(scene: Scene) -> None:
    begin(scene, deployment("tight", 2, pod=slow(20)), quota(pods="2"))

    scene.run(until=24)

    begun, told, gone = notes(scene)
    assert (begun["pods"], begun["going"]) == (2, 0)
    assert (told["going"], gone["going"]) == (1, 0)
    assert [int(each["sent"]) for each in (begun, told, gone)] == [3, 3, 23]


def test_the_rest_waits_for_its_last_moment_when_a_neighbour_took_the_place(scene: Scene) -> None:
    pods = begin(scene, deployment("tight", 3, pod=slow(10)), quota(pods="3"))

    def take() -> None:
        with contextlib.suppress(ForbiddenError):
            scene.apply(bare_pod("neighbour"))

    for number in itertools.count(12_900):
        scene.later(number / 1000, take)
        if number == 13_100:
            break
    scene.run(until=110)

    assert scene.pods("neighbour")
    assert sorted(scene.gone_at(pod) for pod in pods) == [3.0, 108.9, 108.9]
    tries = [each["sent"] for each in notes(scene) if 13 <= each["sent"] < 80]
    assert [round(each - tries[0], 1) for each in tries] == [0, 1, 2, 3, 4]


def test_a_quota_with_room_for_one_more_has_pods_handed_over(scene: Scene) -> None:
    pods = begin(scene, deployment("tight", 3, pod=slow(5)), quota(pods="4"))

    scene.run(until=80)

    assert {scene.story(pod).order()[-1] for pod in pods} == {"evict ReplacementAvailable"}
    assert scene.lowest("tight") == 3


def test_once_the_quota_is_raised_the_rest_is_handed_over(scene: Scene) -> None:
    pods = begin(scene, deployment("tight", 4, pod=slow(10)), quota(pods="4"))
    scene.later(5, lambda: scene.apply(quota(pods="8")))

    scene.run(until=80)

    ends = sorted(scene.story(pod).order()[-1] for pod in pods)
    assert ends == ["evict QuotaRefuses", *["evict ReplacementAvailable"] * 3]
    assert max(scene.gone_at(pod) for pod in pods) < 30
    assert notes(scene)[-1]["until"] is None
    assert scene.lowest("tight") == 3


def test_pods_that_a_budget_holds_wait_for_their_last_moment(scene: Scene) -> None:
    pods = begin(scene, deployment("tight", 2), quota(pods="2"), budget("tight", minAvailable=2))

    scene.run(until=85)

    assert len(scene.pods("tight", "s1")) == 2
    assert not any(sent.at > 4 for pod in pods for sent in scene.written(pod))


def test_it_is_the_same_where_no_watch_shows_anything(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    pods = begin(scene, deployment("tight", 3, pod=slow(5)), quota(pods="3"))
    blind(scene, monkeypatch)

    scene.run(until=85)

    assert len([pod for pod in pods if scene.written(pod)[-1].at < 80]) == 3
    assert scene.lowest("tight") == 2


def test_another_invocation_goes_on_where_one_died(make_scene: MakeScene) -> None:
    scene = make_scene()
    pods = begin(scene, deployment("tight", 3, pod=slow(10)), quota(pods="3"))
    scene.later(8, scene.crash)

    scene.run(until=85)

    assert len([pod for pod in pods if scene.written(pod)[-1].at < 80]) == 3
    assert scene.lowest("tight") == 2


REPLICA_SET, ANOTHER = builders.replica_set(), builders.replica_set("another")
GOING = builders.pod(of=REPLICA_SET, deletion_timestamp=builders.NOW, revision=2)


def test_a_pod_goes_until_it_is_gone_or_finished_or_has_another_controller() -> None:
    pods = Pods(Queue(), lambda _: True)

    def going() -> list[str]:
        return [pod.name for pod in pods.members.going(REPLICA_SET.key)]

    pods.update(builders.pod("b", of=REPLICA_SET, revision=1))
    pods.update(builders.pod("a", of=REPLICA_SET, revision=1))
    assert going() == []
    for pod in pods:
        pods.assume_evicted(pod.uid, builders.NOW)
    assert going() == ["a", "b"]
    pods.undo_eviction(builders.pod("b").uid)
    assert going() == ["a"]
    pods.update(GOING)
    assert going() == ["a", GOING.name]
    pods.update(builders.pod("a", of=ANOTHER, revision=2))
    pods.delete(GOING.uid)
    assert going() == []
    pods.update(builders.pod("c", of=REPLICA_SET, deletion_timestamp=builders.NOW, revision=3))
    assert going() == ["c"]
    pods.update(builders.pod("c", of=REPLICA_SET, phase="Failed", revision=4))
    assert going() == []


def test_it_is_found_at_once_among_many_pods() -> None:
    pods = Pods(Queue(), lambda _: True)
    pods.update(GOING)
    for number in range(1000):
        pods.update(builders.pod(f"p-{number}", of=ANOTHER))

    with measured() as effort:
        found = pods.members.going(REPLICA_SET.key)

    assert found == [GOING]
    assert effort.steps < 20


@pytest.mark.parametrize(("until", "expected"), [(60, True), (0, False), (None, True)])
def test_a_note_of_past_turns_has_no_pod_followed(until: float | None, *, expected: bool) -> None:
    """It stays on the ReplicaSet, which a quota may never refuse anything again."""
    now = builders.NOW
    end = None if until is None else now + builders.seconds(until)
    note = msgspec.json.encode(QuotaNote(at=now - builders.seconds(9), until=end, pods=1)).decode()
    replica_set = builders.replica_set(annotations={names.REFUSED: note})
    view = View({"n1": builders.notice()})
    view.update(replica_set)
    view.pods.update(builders.pod(of=replica_set, deletion_timestamp=now))
    places: Any = SimpleNamespace()  # nothing is asked of them
    plan = Planner(view, places).plan(replica_set.key, now)
    assert plan.plan.awaits_pods is expected
