"""A handover costs the same, and an honest workload is handed over, whatever others say."""

import json
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync.watches import Watches
from evenkeel.model import names
from evenkeel.model.request import List, Selection
from evenkeel.model.selectors import LONGEST, size
from evenkeel_hosting.memory import InMemoryRecorder
from tests.kit import builders
from tests.kit.builders import NOW
from tests.kit.effort import measured
from tests.kit.manifests import deployment, resource
from tests.kit.scene import Scene
from tests.stories.hostile import objects
from tests.stories.hostile.objects import Document

STEPS: Final = 600_000
"""An interruption with two hostile workloads and twelve hostile pods takes no more in 130 s."""

MEMORY: Final = 4_000_000

PODS: Final = st.lists(objects.annotations(names.RELEASE), max_size=12)


def released(number: int, notes: dict[str, str]) -> Document:
    """A bare pod that says it was released, from a template hash of its own."""
    label = f"{'h' * 58}{number:05}"
    return resource(
        "Pod",
        f"fake-{number}",
        "default",
        labels={"app": "fake", names.RELEASED_FROM: label},
        notes=notes,
        spec={"nodeName": "o1", "containers": [{"name": "main"}]},
    )


def lists(scene: Scene) -> list[str]:
    """The label selectors of all lists that were asked for."""
    asked = (request for _, request in scene.requests)
    return [request.selection.labels for request in asked if isinstance(request, List)]


@settings(max_examples=8, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(hostile=objects.workloads(st.just(2)), pods=PODS)
def test_a_handover_has_a_ceiling_and_an_honest_workload_never_dips(
    hostile: list[Document], pods: list[dict[str, str]]
) -> None:
    scene = Scene()
    try:
        scene.given(deployment("web", 2), *hostile, spare="o1")
        scene.apply(*(released(number, notes) for number, notes in enumerate(pods)))
        scene.interrupt("s1")
        with measured() as effort:
            scene.run(until=130)
        assert scene.lowest("web") == 2
        assert len(scene.pods("web", "o1")) == 2
        assert scene.marking.errors == scene.moving.errors == scene.schedule.errors == []
        assert effort.steps < STEPS
        assert effort.memory < MEMORY
    finally:
        scene.close()


def test_thousands_of_labels_of_one_replica_set_are_asked_for_by_one_short_list() -> None:
    scene = Scene()
    try:
        scene.given(
            deployment("web", 2), deployment("hostile"), spare="o1", room={"s1": "8", "o1": "8"}
        )
        (mine,) = (
            each["metadata"]
            for each in scene.cluster.objects("ReplicaSet")
            if each["metadata"]["name"].startswith("hostile")
        )
        release: dict[str, Any] = {
            "v": 1,
            "reason": "rebalance",
            "since": scene.at(0).isoformat(),
            "deadline": scene.at(600).isoformat(),
            "wanted": 10**9,
            "controller": mine["name"],
            "controllerUid": mine["uid"],
        }
        notes = {names.RELEASE: json.dumps(release)}
        scene.apply(*(released(number, notes) for number in range(250)))
        scene.interrupt("s1").run(until=60)
        asked = lists(scene)
        assert scene.lowest("web") == 2
        assert len(scene.pods("web", "o1")) == 2
        assert max(map(size, asked)) <= LONGEST
        assert sum(names.RELEASED_FROM in labels for labels in asked) < 200
    finally:
        scene.close()


class Watching:
    """A session of which the watches alone matter."""

    def __init__(self) -> None:
        self.labels: list[str] = []

    def watch(self, selection: Selection[Any]) -> None:
        """Keep what is watched."""
        self.labels.append(selection.labels)


def watched(view: View) -> list[str]:
    """The label selectors by which this is followed."""
    session: Any = Watching()
    view.streams.arrange({})
    Watches(session, view, InMemoryRecorder()).begin(NOW)
    labels: list[str] = session.labels
    return labels


def test_labels_of_no_replica_set_are_not_watched() -> None:
    view = View()
    for number in range(3_000):
        label = {names.RELEASED_FROM: f"{'h' * 58}{number:05}"}
        view.pods.update(builders.pod(f"fake-{number}", labels=label))
    assert len(watched(view)) == 2


def test_labels_that_their_replica_sets_have_not_are_not_watched() -> None:
    view = View()
    replica_set = builders.replica_set()
    view.update(replica_set)
    before = watched(view)
    for number in range(100):
        view.pods.update(
            builders.pod(
                f"fake-{number}",
                of=replica_set,
                released=builders.release(replica_set),
                labels={names.TEMPLATE_HASH: f"other-{number}"},
            )
        )
    assert watched(view) == before
    assert len(before) == 4


@pytest.mark.parametrize(
    ("name", "replicas"), [("db", 2**31 - 1), ("d" * 62, 2)], ids=["too many", "too long a name"]
)
def test_a_stateful_set_that_nobody_could_watch_is_not_watched(name: str, replicas: int) -> None:
    view = View()
    view.update(builders.stateful_set(name, replicas=replicas))
    assert len(watched(view)) == 2


def test_many_replica_sets_are_watched_by_few_selections_that_fit() -> None:
    view = View()
    for number in range(1_000):
        replica_set = builders.replica_set(f"web-{number}", template_hash=f"{'h' * 58}{number:05}")
        view.update(replica_set)
        view.pods.update(builders.pod(f"pod-{number}", of=replica_set))
    labels = watched(view)
    assert len(labels) <= 24
    assert max(map(size, labels)) <= LONGEST + 100
