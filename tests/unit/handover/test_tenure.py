"""What an invocation holds while it works: kept as long as it lives, and missed soon after."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.adapters.telemetry.memory import InMemoryRecorder
from evenkeel.errors import (
    ClusterError,
    ConflictError,
    InvalidError,
    QueueError,
    ThrottledError,
    UnavailableError,
)
from evenkeel.flows.handover.tenure import QUICK, Tenure
from evenkeel.flows.lease import ReconcilerLease
from evenkeel.model.decision import Verb
from evenkeel.model.request import Create, Operation, Patch, Request
from evenkeel.model.surroundings import Lease
from evenkeel.ports import Reply
from simulator.clock import SimulatedClock
from simulator.cluster import SimulatedCluster
from simulator.event_source import Context
from tests.builders import NOW
from tests.fixtures.scene import CALM, Scene
from tests.unit.handover.conftest import MakeScene, with_a_stuck_pod

HIDDEN = timedelta(seconds=8)
HELD = timedelta(seconds=7)


@pytest.fixture
def scene(scene: Scene) -> Scene:
    """A pod on s1 finds no other place; s1 is interrupted."""
    with_a_stuck_pod(scene)
    scene.interrupt("s1")
    return scene


def the_lease(scene: Scene) -> Any:
    (there,) = scene.cluster.objects("Lease")
    return there["spec"]


def renewed(scene: Scene) -> datetime:
    return datetime.fromisoformat(the_lease(scene)["renewTime"])


def is_renewal(request: Request) -> bool:
    """Whether it is a write to the Lease of somebody who has it."""
    return (
        isinstance(request, Patch)
        and request.kind is Lease
        and any(
            isinstance(operation, Operation) and operation.path == "/spec/renewTime"
            for operation in request.body
        )
    )


def is_taking(request: Request) -> bool:
    return isinstance(request, Create) and isinstance(request.object, Lease)


def test_while_it_works_its_lease_and_its_wake_up_are_never_anybody_else_s(scene: Scene) -> None:
    held: list[timedelta] = []
    hidden: list[timedelta] = []

    def look() -> None:
        now = scene.clock.now()
        held.append(renewed(scene) + HELD - now)
        hidden.append(scene.wake_ups.messages[0].visible_at - now)

    for second in range(2, 51):
        scene.later(second, look)
    scene.run(until=50.5)

    assert len(scene.moving.running) == 1
    assert min(held) > timedelta(seconds=4)
    assert min(hidden) > timedelta(seconds=5)
    assert max(held) <= HELD
    assert max(hidden) <= HIDDEN


@pytest.mark.parametrize("died", [12, 33, 49])
def test_one_that_dies_is_missed_eight_seconds_after_its_last_sign_of_life(
    scene: Scene, died: int
) -> None:
    pod = scene.pod("stuck")
    scene.run(until=died)
    (first,) = scene.moving.running
    scene.crash()
    assert not first.alive
    scene.add_node("o1", spot=False)
    scene.run(until=85)

    assert died + 5 < scene.gone_at(pod) <= died + 9
    assert scene.lowest("stuck") == 1


@pytest.mark.parametrize("error", [ConflictError("changed"), InvalidError("not yours")])
def test_it_stops_when_another_has_taken_its_lease(scene: Scene, error: ClusterError) -> None:
    scene.later(9.5, lambda: scene.fail(error, is_renewal, times=1))
    scene.run(until=10.9)
    assert "LeaseLost" not in scene.outcomes()
    scene.run(until=12)

    assert scene.outcomes() == ["LeaseLost"]
    assert len(scene.moving.running) == 1  # its wake-up was not lost with it


@pytest.mark.parametrize("error", [ThrottledError("busy"), UnavailableError("reset")])
def test_a_renewal_that_got_no_answer_is_tried_again_the_next_time(
    scene: Scene, error: ClusterError
) -> None:
    scene.later(8, lambda: scene.fail(error, is_renewal, times=1))
    scene.run(until=20)

    assert scene.outcomes() == []
    assert scene.clock.now() - renewed(scene) < timedelta(seconds=3)


def test_a_wake_up_that_cannot_be_hidden_is_no_reason_to_stop(scene: Scene) -> None:
    scene.later(5, lambda: scene.wake_ups.fail(QueueError("no")))
    scene.later(8, lambda: scene.wake_ups.fail(None))
    scene.run(until=14.5)

    assert scene.outcomes() == ["LeaseHeld"]  # of its own wake-up, which came back
    assert [note for note, _ in scene.recorder.notes if "wake-up may come back" in note] == [
        "the wake-up may come back while it is worked on: no"
    ]
    assert the_lease(scene)["holderIdentity"].endswith("/1")


def test_it_is_kept_while_an_api_server_takes_its_time_to_say_what_there_is(
    make_scene: MakeScene,
) -> None:
    scene = make_scene(options=replace(CALM, latency=timedelta(seconds=5)))
    with_a_stuck_pod(scene)
    scene.interrupt("s1")
    scene.run(until=60)

    taken = max(at for at, r in scene.requests if is_taking(r) and at < 50)
    (renewed_at,) = (at for at, r in scene.requests if is_renewal(r))
    assert renewed_at - taken <= 10
    assert [decision.verb for _, decision in scene.told()] == [Verb.MARK]  # it still reads


def test_an_answer_that_comes_after_the_next_renewal_is_heard_all_the_same() -> None:
    """An API server may become slow in the middle."""
    clock = SimulatedClock(NOW)
    lease = ReconcilerLease(SimulatedCluster(clock), clock, "this one")
    assert lease.acquire()
    tenure = Tenure(lease, InMemoryRecorder(), None, lambda: timedelta(minutes=1), QUICK)
    tenure.work()
    sent: list[Request] = []
    for seconds in range(7):
        tenure.keep(NOW + timedelta(seconds=seconds), sent.append)
    assert len(sent) == 4
    found = []
    for reply in (Reply(sent[1]), Reply(sent[0], error=ConflictError("another has it"))):
        assert tenure.heard(reply)
        assert not tenure.heard(reply)
        found.append(tenure.is_lost)
    assert found == [False, True]


def test_while_it_reads_its_pulse_is_calm(scene: Scene) -> None:
    """What is read at once may take longer than a quick pulse has."""
    scene.run(until=3)
    taken = [
        request.object.spec.lease_duration_seconds
        for _, request in scene.requests
        if isinstance(request, Create) and isinstance(request.object, Lease)
    ]
    assert set(taken) == {18}
    assert the_lease(scene)["leaseDurationSeconds"] == 7


def test_it_ends_before_it_works_when_its_time_is_up(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Context, "get_remaining_time_in_millis", lambda _: 3_000)
    scene.run(until=3)
    assert "OutOfTime" in scene.outcomes()
    assert scene.told("NodeDoomed") == []


def test_it_ends_when_it_is_told_that_no_time_is_left_and_its_work_stays(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``evenkeel poll`` tells it that is asked to end, or a function with a shorter timeout."""
    scene.run(until=10)
    with monkeypatch.context() as told:
        told.setattr(Context, "get_remaining_time_in_millis", lambda _: 3_000)
        scene.run(until=11)
        assert scene.outcomes()[0] == "OutOfTime"
    lease = the_lease(scene)
    assert not lease.get("holderIdentity")
    scene.run(until=13)

    assert len(scene.moving.running) == 1
    assert the_lease(scene)["holderIdentity"]
