"""A budget that can never allow a disruption: ordinals go one after the other all the same."""

import pytest

from evenkeel.model.request import Evict
from tests.kit.manifests import Manifest, budget, stateful_set
from tests.kit.scene import Scene

NEVER: list[Manifest] = [
    budget("db", maxUnavailable=0),
    budget("db", minAvailable=3),
    budget("db", minAvailable="100%"),
]


@pytest.fixture(params=NEVER, ids=["maxUnavailable 0", "minAvailable 3", "minAvailable 100%"])
def never(request: pytest.FixtureRequest) -> Manifest:
    """One that allows no disruption as long as all are healthy."""
    found: Manifest = request.param
    return found


def test_ordinals_go_one_at_a_time_when_their_budget_never_allows_it(
    scene: Scene, never: Manifest
) -> None:
    old = scene.given(stateful_set("db", 3), never, spare="o1")

    scene.interrupt("s1").run(until=118)

    assert scene.lowest("db") == 2
    assert len(scene.pods("db", "o1")) == 3
    gone = [scene.gone_at(pod) for pod in old]
    assert gone == sorted(gone, reverse=True)
    assert max(gone) <= 114


def test_the_budget_is_waited_for_as_long_as_there_is_time(scene: Scene, never: Manifest) -> None:
    """Somebody may change it: what would not be in time otherwise begins no sooner than it has to.

    A pod takes 3 s to be replaced, and its grace period is 30 s.
    """
    old = scene.given(stateful_set("db", 3), never, spare="o1")

    scene.interrupt("s1").run(until=118)

    assert min(scene.gone_at(pod) for pod in old) > 10


def test_no_ordinal_is_tried_more_than_twelve_times_a_minute(scene: Scene, never: Manifest) -> None:
    scene.given(stateful_set("db", 3), never, spare="o1")

    scene.interrupt("s1").run(until=118)

    assert max(scene.in_vain(Evict).values()) <= 12


def test_a_hint_takes_no_ordinal_when_its_budget_never_allows_it(
    scene: Scene, never: Manifest
) -> None:
    scene.given(stateful_set("db", 3), never, spare="o1")

    scene.recommend("s1").run(until=1000)

    assert scene.lowest("db") == 3
