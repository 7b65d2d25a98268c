"""One reconciler at a time: the Lease, and what happens when it is not to be had."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.errors import (
    ClusterError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    ThrottledError,
    UnavailableError,
)
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.request import Create, Evict, Get, Patch, Request
from tests.kit.asking import asks, noting, once
from tests.kit.manifests import deployment
from tests.kit.scene import Scene
from tests.stories.handover.hands import found, lease


@pytest.fixture
def pod(scene: Scene) -> str:
    """The only pod of a Deployment on s1; o1 has room for another."""
    scene.given(deployment("one"), spare="o1")
    return scene.pod("one")


def held(scene: Scene, seconds: float) -> dict[str, Any]:
    """Another's hold that began so many seconds into the story."""
    renewed = scene.at(seconds).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"holderIdentity": "other", "leaseDurationSeconds": 18, "renewTime": renewed}


def test_while_another_holds_it_nothing_is_touched_and_once_it_expired_it_is_taken_over(
    scene: Scene, pod: str
) -> None:
    lease(scene, **held(scene, 0))
    scene.interrupt("s1").run(until=16.5)
    assert scene.outcomes() == ["LeaseHeld"]
    assert [sent.name for sent in scene.written()] == ["s1"]
    assert len(scene.wake_ups.messages) == 1
    assert scene.wake_ups.messages[0].visible_at - scene.clock.now() < timedelta(seconds=5)
    assert found(scene)["spec"]["holderIdentity"] == "other"
    assert scene.story(pod) == []
    scene.run(until=23)
    assert scene.story(pod)[0] == "18.0 release NodeDoomed"
    assert found(scene)["spec"]["leaseTransitions"] == 1
    assert scene.lowest("one") == 1


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"holderIdentity": ""},
        {"holderIdentity": "other"},
        {"holderIdentity": "other", "renewTime": "0000-01-01T00:00:00.000000Z"},
        {"holderIdentity": "other", "renewTime": "9999-12-31T23:59:59.000000Z"},
        {"holderIdentity": "other", "renewTime": "soon"},
    ],
    ids=["empty", "given up", "never renewed", "before all years", "after all", "no time"],
)
def test_a_free_one_is_taken_at_once(scene: Scene, pod: str, spec: dict[str, Any]) -> None:
    lease(scene, **spec)

    scene.interrupt("s1").run(until=5)

    assert scene.story(pod)[0] == "1.0 release NodeDoomed"


@pytest.mark.parametrize("is_there", [True, False])
def test_the_loser_of_a_race_for_it_leaves_it_to_the_winner(
    scene: Scene, pod: str, *, is_there: bool
) -> None:
    """Another takes or makes it between our look at it and our write."""
    if is_there:
        lease(scene)
    win = once(lambda: lease(scene, **held(scene, 1)))
    noting(scene.cluster, asks(Patch if is_there else Create, of=Lease), then=win)
    scene.interrupt("s1").run(until=30)
    assert scene.outcomes()[0] == "LeaseHeld"
    assert scene.story(pod)[0] == "19.0 release NodeDoomed"


@pytest.mark.parametrize(
    ("error", "kinds"),
    [
        (InvalidError("a policy wants a label"), (Create, Patch)),
        (ThrottledError("busy"), (Create, Patch)),
        (UnavailableError("reset"), (Create, Patch)),
        (NotFoundError("the namespace is going"), (Create, Patch)),
        (ForbiddenError("no leases for you"), (Create, Patch)),
        (ForbiddenError("no leases for you"), (Get, Create, Patch)),
    ],
    ids=["invalid", "throttled", "away", "gone", "no right to write", "no right to read"],
)
def test_without_the_lease_a_pod_goes_at_its_last_moment_and_no_sooner(
    scene: Scene, pod: str, error: ClusterError, kinds: tuple[type[Request], ...]
) -> None:
    """A release rests on a count, which two reconcilers at once would get wrong."""
    scene.fail(error, asks(*kinds, of=Lease))
    scene.interrupt("s1").run(until=100)
    assert {type(sent.write) for sent in scene.written(pod)} == {Evict}
    assert min(sent.at for sent in scene.written(pod)) == pytest.approx(88.9, abs=0.2)
    assert scene.recorder.total("LeaseRefused") > 0
    assert str(error) in scene.recorder.notes[0][0]
    assert "evenkeel doctor says" in scene.recorder.notes[0][0]
    assert scene.moving.errors == scene.schedule.errors == []


@pytest.mark.parametrize(
    ("renewed", "duration"), [(-80, 3600), (5000, 18)], ids=["forever", "in the future"]
)
def test_one_that_would_be_held_for_ever_is_taken(
    scene: Scene, pod: str, renewed: float, duration: int
) -> None:
    lease(scene, **held(scene, renewed) | {"leaseDurationSeconds": duration})

    scene.interrupt("s1").run(until=10)

    assert scene.story(pod)[0] == "1.0 release NodeDoomed"


def test_without_an_answer_about_it_the_message_comes_back(scene: Scene, pod: str) -> None:
    scene.fail(UnavailableError("reset"), asks(Get, of=Lease), times=1)

    scene.interrupt("s1").run(until=10)

    assert scene.outcomes()[0] == "ClusterUnavailable"
    assert scene.story(pod)[0] == "2.0 release NodeDoomed"


@pytest.mark.parametrize("when", ["taken", "given up"])
def test_notes_of_wake_ups_get_in_no_holders_way(scene: Scene, pod: str, when: str) -> None:
    """Another message notes when it comes back, just before our own write."""
    lease(scene, annotations={names.WAKE_UP_AT: ""})
    noted: list[float] = []

    def note_first(request: Request, proceed: Callable[[], Any]) -> Any:
        if asks(Patch, of=Lease)(request) and (when == "taken" or scene.seconds > 2):
            if not noted:
                lease(scene, annotations={names.WAKE_UP_AT: "2026-11-21T12:09:00.000000Z"})
            noted.append(scene.seconds)
        return proceed()

    scene.cluster.intercept(note_first)
    scene.interrupt("s1").run(until=2)
    holder = found(scene)["spec"]["holderIdentity"]
    scene.run(until=10)

    assert noted
    assert holder.startswith("evenkeel-")
    assert found(scene)["spec"]["holderIdentity"] == ""
    assert scene.story(pod)[0] == "1.0 release NodeDoomed"


def test_a_lease_deleted_meanwhile_does_no_harm(scene: Scene, pod: str) -> None:
    scene.later(2, lambda: scene.cluster.delete("Lease", names.HANDOVER_LEASE, "evenkeel-system"))

    scene.interrupt("s1").run(until=60)

    assert scene.story(pod).order()[-1] == "evict ReplacementAvailable"
    assert scene.lowest("one") == 1


def test_one_taken_by_another_meanwhile_is_not_given_up_for_them(scene: Scene, pod: str) -> None:
    scene.later(3.06, lambda: lease(scene, **held(scene, 3.06)))

    scene.interrupt("s1").run(until=10)

    assert found(scene)["spec"]["holderIdentity"] == "other"
    assert scene.story(pod).order()[-1] == "evict ReplacementAvailable"


def test_an_invocation_stops_when_another_has_taken_it(scene: Scene) -> None:
    scene.given(deployment("stuck"))
    scene.later(8, lambda: lease(scene, **held(scene, 8)))

    scene.interrupt("s1").run(until=25)

    assert scene.outcomes()[:2] == ["LeaseLost", "LeaseHeld"]
    assert len(scene.wake_ups.messages) == 1  # its wake-up was not lost with it
    assert found(scene)["spec"]["holderIdentity"] == "other"


@pytest.mark.parametrize("text", ["soon", "2026-11-21T12:00:00", "0001-01-01T00:00:00Z"])
def test_a_spoilt_note_of_the_next_wake_up_is_none(scene: Scene, pod: str, text: str) -> None:
    lease(scene, annotations={names.WAKE_UP_AT: text})

    scene.interrupt("s1").run(until=10)

    assert scene.story(pod)[0] == "1.0 release NodeDoomed"
    assert found(scene)["metadata"]["annotations"][names.WAKE_UP_AT].startswith("2026-11-21T12")


def test_a_lost_answer_does_not_lose_the_lease_that_was_taken(scene: Scene, pod: str) -> None:
    lease(scene)
    scene.fail(UnavailableError("reset"), asks(Patch, of=Lease), times=1, done=True)

    scene.interrupt("s1").run(until=10)

    assert scene.story(pod).order()[-1] == "evict ReplacementAvailable"
