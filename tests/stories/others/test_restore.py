"""A policy refuses or undoes what restore writes: it moves no pod, says so, and rests."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import labels_of
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.manifests import Manifest, deployment, stateful_set
from tests.kit.others import UNDONE, WORDS, Outsider, deny_evictions, is_release, refuse, undo
from tests.kit.restoring import RestoreScene
from tests.kit.scene import ending

HOUR = 3600
TO_SPOT = {names.ON_DEMAND: "none"}

type Obstacle = Callable[[SimulatedCluster], Callable[[], None]]


def put_back(*parts: str) -> Obstacle:
    """A policy undoes these parts of each release."""
    return lambda cluster: undo(cluster, *parts)


NOT_TAKEN = [
    *(
        pytest.param(deployment, partial(refuse, code=code), id=f"release, {code}")
        for code in (422, 403, 400)
    ),
    *(
        pytest.param(deployment, put_back(*parts), id=f"release, {' and '.join(parts)} put back")
        for parts in UNDONE
    ),
    *(
        pytest.param(stateful_set, partial(deny_evictions, code=code), id=f"eviction, {code}")
        for code in (422, 403, 400, 429, 500)
    ),
]
ALL = pytest.mark.parametrize(("make", "obstacle"), NOT_TAKEN)


@pytest.fixture
def restoring() -> Iterator[RestoreScene]:
    with ending(RestoreScene) as make:
        yield make()


def given(scene: RestoreScene, *manifests: Manifest) -> None:
    """Workloads on an on-demand node, and spot nodes with room for them."""
    scene.given(*manifests, on="o0")
    scene.add_nodes("s", 2, spot=True)


@ALL
def test_no_pod_moves_and_all_stay_as_they_were(
    restoring: RestoreScene, make: Callable[..., Manifest], obstacle: Obstacle
) -> None:
    given(restoring, make("web", 3, notes=TO_SPOT))
    before = {pod.uid: pod.metadata.annotations for pod in restoring.pods("web")}
    outside = Outsider(restoring.cluster, "web")
    obstacle(restoring.cluster)

    restoring.run(until=HOUR)

    assert outside.lowest == 3
    assert {pod.uid: pod.metadata.annotations for pod in restoring.pods("web")} == before
    assert not any(pod.released for pod in restoring.pods("web"))


@ALL
def test_it_is_tried_ever_more_rarely(
    restoring: RestoreScene, make: Callable[..., Manifest], obstacle: Obstacle
) -> None:
    """Twice, and then after 5, 10, 20, 40 minutes and so on."""
    given(restoring, make("web", 3, notes=TO_SPOT))
    obstacle(restoring.cluster)

    restoring.run(until=HOUR)

    moves = restoring.moves("web")
    assert 2 < len(moves) <= 6


@ALL
def test_it_is_said_with_the_refuser_s_words(
    restoring: RestoreScene, make: Callable[..., Manifest], obstacle: Obstacle
) -> None:
    given(restoring, make("web", 3, notes=TO_SPOT))
    obstacle(restoring.cluster)

    restoring.run(until=240)

    (told,) = [decision for _, decision in restoring.told("WriteRefused")]
    assert told.warning
    assert told.subject.name == "web"
    assert "is not taken" in told.message
    assert (WORDS in told.message) is (isinstance(obstacle, partial))
    assert restoring.recorder.total("WritesRefused") == 1


def test_others_are_moved_meanwhile(restoring: RestoreScene) -> None:
    """There is room for one pod on spot, which a pod that may not move does not take."""
    restoring.given(deployment("kept", notes=TO_SPOT), stateful_set("web", notes=TO_SPOT), on="o0")
    refuse(
        restoring.cluster,
        403,
        lambda old, new: is_release(old, new) and labels_of(new)["app"] == "kept",
    )
    restoring.run(until=180)
    restoring.add_node("s0", room="0.15")

    restoring.run(until=400)

    assert restoring.split("web") == {"spot": 1}
    assert restoring.split("kept") == {"on-demand": 1}


def test_it_moves_when_the_policy_is_gone(restoring: RestoreScene) -> None:
    given(restoring, deployment("web", 3, notes=TO_SPOT))
    restoring.later(150, refuse(restoring.cluster, 403))

    restoring.run(until=HOUR)

    assert restoring.split("web") == {"spot": 3}


def test_a_release_that_is_refused_once_is_tried_again_in_the_next_run(
    restoring: RestoreScene,
) -> None:
    given(restoring, deployment("web", 3, notes=TO_SPOT))
    restoring.later(50, refuse(restoring.cluster, 403))

    restoring.run(until=600)

    assert restoring.split("web") == {"spot": 3}
    assert not restoring.told("WriteRefused")
