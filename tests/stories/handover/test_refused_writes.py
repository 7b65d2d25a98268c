"""What follows when the API server refuses a write, or does not say what became of it."""

import itertools
from functools import partial
from typing import Any

import pytest

from evenkeel.errors import (
    ClusterError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    ThrottledError,
    UnavailableError,
)
from evenkeel.model import names
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Delete, Evict, Patch
from tests.kit.asking import asks, noting, once
from tests.kit.manifests import bare_pod, deployment, job, stateful_set
from tests.kit.scene import Scene

UNANSWERED = UnavailableError("connection reset")

ERRORS_AND_RESTS = [
    (ConflictError("changed meanwhile"), 0.2),
    (InvalidError("a test failed"), 0.2),
    (UNANSWERED, 0.2),
    (ThrottledError("busy", retry_after=3), 3.0),
    (ForbiddenError("not allowed"), 0.2),
]


def times(scene: Scene, name: str, kind: type[Any]) -> list[float]:
    """When writes of this kind to an object reached the API server, refused or not."""
    return [s.at for s in scene.writes if s.name == name and isinstance(s.write, kind)]


@pytest.mark.parametrize(("error", "rest"), ERRORS_AND_RESTS)
def test_a_refused_release_is_made_when_its_error_lets_it(
    scene: Scene, error: ClusterError, rest: float
) -> None:
    (old,) = scene.given(deployment("one"), spare="o1")
    scene.fail(error, asks(Patch, of=Pod), times=1)

    scene.interrupt("s1").run(until=30)

    first, second = times(scene, old, Patch)
    assert second - first == pytest.approx(rest, abs=0.05)
    assert scene.pod("one", "o1")
    assert scene.lowest("one") == 1


def test_a_release_whose_answer_got_lost_is_not_made_twice(scene: Scene) -> None:
    (old,) = scene.given(deployment("one"), spare="o1")
    scene.fail(UNANSWERED, asks(Patch, of=Pod), times=1, done=True)

    scene.interrupt("s1").run(until=30)

    assert len(times(scene, old, Patch)) == 1
    assert scene.pod("one", "o1")
    assert scene.lowest("one") == 1


@pytest.mark.parametrize(
    ("error", "rest"),
    [
        (ConflictError("changed meanwhile"), 0.2),
        (InvalidError("a policy says no"), 0.0),
        (UNANSWERED, 0.2),
        (ThrottledError("busy", retry_after=3), 1.0),
        (ForbiddenError("not allowed"), 0.0),
    ],
)
def test_a_pod_is_deleted_whatever_met_its_eviction_at_the_last_moment(
    scene: Scene, error: ClusterError, rest: float
) -> None:
    scene.given(bare_pod("alone"))
    scene.fail(error, asks(Evict), times=1)

    scene.interrupt("s1").run(until=110)

    evicted, deleted = times(scene, "alone", Evict)[0], times(scene, "alone", Delete)[0]
    assert evicted == pytest.approx(89, abs=0.1)
    assert deleted - evicted == pytest.approx(rest, abs=0.1)
    assert scene.pods("alone") == []


def test_a_pod_whose_deletion_is_refused_too_is_deleted_ever_more_rarely(scene: Scene) -> None:
    scene.given(bare_pod("alone"))
    scene.fail(ForbiddenError("not allowed"), asks(Evict))
    scene.fail(ForbiddenError("not allowed"), asks(Delete, of=Pod))

    scene.interrupt("s1", carried_out=False).run(until=100)

    assert len(times(scene, "alone", Evict)) == 1
    tries = times(scene, "alone", Delete)
    pauses = [round(later - at, 1) for at, later in itertools.pairwise(tries)]
    assert pauses[:5] == [0.2, 0.4, 0.8, 1.6, 3.2]
    assert scene.story("alone").order()[-1] == "leave WriteRefused"
    (told,) = (decision for _, decision in scene.told("WriteRefused"))
    assert told.message == "delete is not taken: not allowed"


def test_an_eviction_whose_answer_got_lost_is_not_made_twice(scene: Scene) -> None:
    scene.given(bare_pod("alone"))
    scene.fail(UNANSWERED, asks(Evict), times=1, done=True)

    scene.interrupt("s1").run(until=110)

    assert len(times(scene, "alone", Evict)) == 1
    assert scene.pods("alone") == []


def test_a_new_pod_of_the_same_name_is_left_alone(scene: Scene) -> None:
    """The ordinal returns elsewhere while its eviction is on its way."""
    scene.given(stateful_set("db", 1), spare="o1")
    made: list[str] = []

    def replace() -> None:
        scene.cluster.delete("Pod", "db-0", "default", grace=0)
        scene.run(until=4)
        made.append(scene.pods("db")[0].uid)

    noting(scene.cluster, asks(Evict), then=once(replace))
    scene.interrupt("s1").run(until=60)
    assert [pod.uid for pod in scene.pods("db", "o1")] == made
    assert len(times(scene, "db-0", Evict)) == 1


def test_a_bare_pod_that_was_made_again_elsewhere_is_left_alone(scene: Scene) -> None:
    scene.given(bare_pod("alone"), spare="o1")
    made: list[str] = []

    def make_it_anew() -> None:
        scene.cluster.delete("Pod", "alone", "default", grace=0)
        scene.apply(bare_pod("alone"))
        made.append(scene.pods("alone")[0].uid)

    noting(scene.cluster, asks(Evict), then=once(make_it_anew))
    scene.interrupt("s1").run(until=117)
    assert [pod.uid for pod in scene.pods("alone", "o1")] == made
    assert len(times(scene, "alone", Evict)) == 1
    assert scene.moving.running == []


def test_a_pod_that_went_by_itself_is_as_good_as_evicted(scene: Scene) -> None:
    scene.given(bare_pod("alone"))
    delete = partial(scene.cluster.delete, "Pod", "alone", "default", grace=0)
    noting(scene.cluster, asks(Evict), then=delete)
    scene.interrupt("s1").run(until=89.5)
    (sent,) = (sent for sent in scene.writes if isinstance(sent.write, Evict))
    assert isinstance(sent.error, NotFoundError)
    assert scene.moving.running == []


@pytest.mark.parametrize(("error", "rest"), ERRORS_AND_RESTS)
def test_a_refused_exclusion_is_made_when_its_error_lets_it(
    scene: Scene, error: ClusterError, rest: float
) -> None:
    scene.given(on="s1 o1")
    scene.interrupt("s1").run(until=0.5)
    scene.fail(error, asks(Patch, of=Node), times=1)
    scene.run(until=30)

    _, first, second = times(scene, "s1", Patch)
    assert second - first == pytest.approx(rest, abs=0.05)
    assert names.EXCLUDE_FROM_LOAD_BALANCERS in scene.node("s1").metadata.labels


def test_a_node_deleted_while_a_write_to_it_is_on_its_way_is_done_with(scene: Scene) -> None:
    scene.given(on="s1 o1")
    scene.interrupt("s1").run(until=0.5)
    noting(scene.cluster, asks(Patch, of=Node), then=lambda: scene.cluster.delete("Node", "s1"))
    scene.run(until=30)
    (_, refused) = (sent for sent in scene.writes if sent.name == "s1")
    assert isinstance(refused.error, NotFoundError)
    assert scene.is_quiet


def test_a_write_that_is_never_accepted_is_tried_ever_more_rarely_and_told_once(
    scene: Scene,
) -> None:
    """An admission webhook may let nobody touch the labels of nodes."""
    scene.given(on="s1 o1")
    scene.interrupt("s1").run(until=0.5)
    scene.fail(InvalidError("not with us"), asks(Patch, of=Node))

    scene.run(until=55)

    tried = times(scene, "s1", Patch)[1:]
    pauses = [round(later - at, 1) for at, later in itertools.pairwise(tried)]
    assert pauses[:8] == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 18.0]
    (told,) = (decision for _, decision in scene.told("WriteRefused"))
    assert told.message == "exclude-from-load-balancers is not taken: not with us"


def test_the_work_ends_with_the_last_accepted_write(scene: Scene) -> None:
    """Nothing shows a Job's pods: that they go has to be known from the answers."""
    scene.given(job("sums"), bare_pod("alone"), spare="o1")

    scene.interrupt("s1").run(until=89.5)

    assert scene.pods("alone") != []
    assert all(pod.leaving for pod in scene.pods("sums", "s1"))
    assert scene.moving.running == []
