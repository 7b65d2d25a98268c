"""How many requests the API server gets at once: half a session, and all of it at last moments."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.model.request import Evict, Patch, Write
from tests.kit.manifests import deployment
from tests.kit.scene import CALM, Scene
from tests.stories.handover.conftest import MakeScene

CAPACITY = 8
FAR_AWAY = replace(CALM, latency=timedelta(seconds=0.2), capacity=CAPACITY)


@pytest.fixture
def storm(make_scene: MakeScene) -> Scene:
    """Forty pods that find no new place; each answer takes 0.2 s."""
    scene = make_scene(options=FAR_AWAY)
    scene.given(*(deployment(f"one-{number}") for number in range(40)), room={"s1": "8"}, settle=60)
    return scene


def most_at_once(scene: Scene, kind: type[Write]) -> int:
    """So many writes of a kind were carried out at the same time: they had been sent at once."""
    pods = (sent for sent in scene.writes if sent.write.reference.kind == "Pod")
    return max(Counter(round(s.at, 1) for s in pods if isinstance(s.write, kind)).values())


def test_releases_get_half_of_it(storm: Scene) -> None:
    storm.interrupt("s1")
    storm.run(until=80)
    assert 1 < most_at_once(storm, Patch) <= CAPACITY // 2


def test_forced_evictions_get_all_of_it_when_they_are_all_late(storm: Scene) -> None:
    storm.interrupt("s1", action="hibernate")
    storm.run(until=10)
    assert CAPACITY // 2 < most_at_once(storm, Evict) <= CAPACITY


def test_the_longest_grace_period_goes_first_where_all_are_late(make_scene: MakeScene) -> None:
    """The API server was away until it was time for all of them."""
    scene = make_scene(options=FAR_AWAY)
    graces = {"a": 5, "b": 40, "c": 20}
    scene.given(
        *(deployment(app, 16, pod={"grace": grace}) for app, grace in graces.items()),
        room={"s1": "8"},
        settle=30,
    )
    going = {app: [pod.name for pod in scene.pods(app)] for app in graces}
    scene.fail(UnavailableError("refused"), lambda _: 10 <= scene.seconds < 116)
    scene.interrupt("s1").run(until=130)
    told = {app: sorted(map(scene.gone_at, pods)) for app, pods in going.items()}
    assert all(each[0] > 116 for each in told.values())
    assert told["b"][-1] <= told["c"][0]
    assert told["c"][-1] <= told["a"][0]
