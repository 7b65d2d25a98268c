"""Somebody moves pods alive when their evictions are asked for, and refuses these until it has."""

from collections.abc import Callable

import pytest

from evenkeel.model import names
from evenkeel.model.request import Evict
from tests.kit.manifests import Manifest, deployment, stateful_set
from tests.kit.others import deny_evictions
from tests.kit.scene import Scene

MOST = 12


def movable(app: str, replicas: int, kind: Callable[[str, int], Manifest] = deployment) -> Manifest:
    """A workload whose pods have the label of those that are moved alive."""
    made = kind(app, replicas)
    made["spec"]["template"]["metadata"]["labels"][names.LIVE_MIGRATION] = "true"
    return made


@pytest.mark.parametrize("replicas", [1, 4])
def test_its_owner_keeps_a_pod_that_is_moved_alive(scene: Scene, replicas: int) -> None:
    old = scene.given(movable("web", replicas), spare="o1")
    has_moved = deny_evictions(scene.cluster, 429)
    scene.interrupt("s1").run(until=20)

    assert scene.lowest("web") == replicas
    assert not any(pod.released for pod in scene.pods("web"))
    assert any(isinstance(each, Evict) for _, each in scene.requests)
    assert max(scene.in_vain(Evict).values()) <= MOST

    has_moved()
    scene.run(until=110)

    assert not scene.pods("web", "s1")
    assert scene.lowest("web") >= replicas - 1
    assert all("evict LiveMigration" in scene.story(pod).order() for pod in old)


@pytest.mark.parametrize("kind", [deployment, stateful_set])
def test_one_that_cannot_be_moved_in_time_goes_at_its_last_moment(
    scene: Scene, kind: Callable[[str, int], Manifest]
) -> None:
    """Others that take turns are deleted earlier, so that there is a turn for each."""
    old = scene.given(movable("web", 4, kind), spare="o1")
    deny_evictions(scene.cluster, 429)
    scene.interrupt("s1").run(until=118)

    assert min(scene.gone_at(pod) for pod in old) > 88
    assert max(scene.gone_at(pod) for pod in old) < 91


def test_it_stays_for_a_hint(scene: Scene) -> None:
    (pod,) = scene.given(movable("web", 1), spare="o1")
    scene.recommend("s1").run(until=300)

    assert scene.story(pod).order() == ["leave LiveMigration"]
