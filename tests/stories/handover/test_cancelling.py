"""Cancelling a notice that was wrong, by hand."""

from typing import Any

import pytest

from evenkeel.decisions.node import held
from evenkeel.errors import (
    ClusterError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    UnavailableError,
)
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Patch
from evenkeel_cli import cancelling
from tests.kit.asking import asks
from tests.kit.manifests import deployment
from tests.kit.nodes import is_marked
from tests.kit.scene import Scene


@pytest.fixture
def released(scene: Scene) -> Scene:
    """Two pods on s1 were released, and found no other place."""
    scene.given(deployment("web", 2))
    scene.interrupt("s1", carried_out=False).run(until=10)
    return scene


def cancel(scene: Scene, node: str = "s1", *, act: bool = True) -> list[Decision]:
    """Do as ``evenkeel cancel NODE`` does."""
    return list(cancelling.cancel(scene.cluster, node, scene.recorder, act=act))


def test_everything_goes_back_and_nothing_restarts(released: Scene) -> None:
    before = {pod.uid: pod.status.start_time for pod in released.pods("web") if pod.released}

    made = cancel(released)
    released.run(until=200)

    after = {pod.uid: pod.status.start_time for pod in released.pods("web")}
    assert [(str(d.verb), d.reason) for d in made] == [
        ("lift", "Cancelled"),
        ("roll-back", "Cancelled"),
        ("roll-back", "Cancelled"),
    ]
    assert after == before
    assert all(pod.controller is not None for pod in released.pods("web"))
    assert not is_marked(released.node("s1"))
    assert not released.node("s1").spec.unschedulable
    assert released.is_quiet


def test_a_node_that_is_held_takes_pods_again(scene: Scene) -> None:
    scene.given(deployment("web", 1))
    node = scene.node("s1")
    hold = held.hold(node).write
    assert hold is not None
    scene.cluster.perform([hold])
    assert scene.node("s1").is_held

    (made,) = cancel(scene)

    assert (str(made.verb), made.reason) == ("let-go", "SeatTaken")
    assert scene.node("s1").spec.taints == node.spec.taints
    assert names.SEAT not in scene.node("s1").metadata.labels
    assert cancel(scene) == []


def test_the_reconciler_at_work_releases_no_more_pods(released: Scene) -> None:
    """It is in the middle of its invocation when the notice is cancelled."""
    assert released.moving.running

    cancel(released)
    released.run(until=300)

    assert not any(pod.released for pod in released.pods("web"))
    assert released.lowest("web") == 2
    assert len(released.told("NodeDoomed")) == 2


def test_a_spoilt_notice_is_taken_off_and_the_cordon_left(released: Scene) -> None:
    """The cordon may be another's."""
    spoilt = {"metadata": {"annotations": {names.NOTICE: "?"}}}
    released.cluster.server.patch("Node", ("", "s1"), spoilt)

    cancel(released)
    released.run(until=200)

    assert not is_marked(released.node("s1"))
    assert released.node("s1").spec.unschedulable
    assert all(pod.controller is not None for pod in released.pods("web"))


def test_only_deciding_writes_nothing(released: Scene) -> None:
    before = len(released.writes)

    made = cancel(released, act=False)

    assert len(made) == 3
    assert len(released.writes) == before
    assert released.recorder.decisions[-3:] == made


def test_nothing_is_done_to_a_node_without_a_notice(scene: Scene) -> None:
    scene.given()

    assert cancel(scene) == []
    assert scene.writes == []


def test_a_node_that_is_not_there_is_an_error(scene: Scene) -> None:
    scene.begin()

    with pytest.raises(NotFoundError):
        cancel(scene, "nobody")


@pytest.mark.parametrize("kind", [Node, Pod])
@pytest.mark.parametrize("error", [ConflictError("changed"), InvalidError("a test failed")])
def test_what_others_changed_meanwhile_is_read_again(
    released: Scene, kind: type[Any], error: ClusterError
) -> None:
    released.fail(error, asks(Patch, of=kind), times=2)

    made = cancel(released)
    released.run(until=100)

    assert len(made) == 3
    assert not is_marked(released.node("s1"))
    assert not any(pod.released for pod in released.pods("web"))


def test_it_gives_up_when_others_never_stop(released: Scene) -> None:
    released.fail(ConflictError("changed"), asks(Patch, of=Node))

    with pytest.raises(ConflictError):
        cancel(released)

    tries = [sent for sent in released.writes if sent.name == "s1" and sent.error is not None]
    assert len(tries) == cancelling.ATTEMPTS


@pytest.mark.parametrize("error", [ForbiddenError("no"), UnavailableError("reset")])
def test_what_no_second_try_helps_is_an_error_at_once(released: Scene, error: ClusterError) -> None:
    released.fail(error, asks(Patch, of=Node))

    with pytest.raises(type(error)):
        cancel(released)

    assert len([sent for sent in released.writes if sent.name == "s1" and sent.error]) == 1


def test_a_pod_that_is_gone_by_then_is_no_error(released: Scene) -> None:
    released.fail(NotFoundError("gone"), asks(Patch, of=Pod), times=1)

    assert len(cancel(released)) == 3


def test_a_leaving_pod_is_left_to_leave(released: Scene) -> None:
    slow = {"metadata": {"annotations": {"evenkeel.test/stop-after": "25s"}}}
    name = next(pod.name for pod in released.pods("web") if pod.released)
    released.cluster.server.patch("Pod", ("default", name), slow)
    released.cluster.delete("Pod", name, "default")

    made = cancel(released)

    assert name not in {decision.subject.name for decision in made}
    assert len(made) == 2


def test_what_lands_on_a_node_as_it_is_given_back_is_not_taken_for_doomed(scene: Scene) -> None:
    """The watch of nodes may be a moment behind that of pods: so long the mark is still seen."""
    scene.given(deployment("web", 3))
    scene.interrupt("s1").run(until=4)
    change = {"spec": {"unschedulable": None, "taints": None}}
    scene.cluster.server.patch("Node", ("", "s1"), change)
    scene.run(until=4.6)
    assert len(scene.pods("web", "s1")) == 6
    cancel(scene)
    scene.run(until=40)
    assert len(scene.recorder.with_verb(Verb.RELEASE)) == 3


def test_what_lands_on_a_marked_node_without_its_cordon_is_not_moved_for_ever(scene: Scene) -> None:
    """Each replacement lands where the pod before it was: only some of them are tried."""
    scene.given(deployment("web", 3))
    scene.interrupt("s1").run(until=2)
    change = {"spec": {"unschedulable": None, "taints": None}}
    scene.cluster.server.patch("Node", ("", "s1"), change)
    scene.run(until=80)
    assert 3 * 4 <= len(scene.recorder.with_verb(Verb.RELEASE)) <= 3 * 7
    assert scene.lowest("web") == 3
