"""What an invocation holds while it works: kept as long as it lives, and missed soon after."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.errors import (
    ClusterError,
    ConflictError,
    InvalidError,
    QueueError,
    ThrottledError,
    UnavailableError,
)
from evenkeel.flows.drain.lease.hold import Leadership
from evenkeel.flows.drain.lease.wire import DURATION, VALID
from evenkeel.flows.drain.wake_up import HIDDEN
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.losses import Loss, losses_in
from evenkeel.model.meta import Metadata
from evenkeel.model.node import Node
from evenkeel.model.pool import Pool
from evenkeel.model.request import Create, Operation, Patch, Request, pointer
from evenkeel.ports import OnReply, Reply, TimeLeft
from evenkeel_cli.passing import PassingSession
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.event_source import Context
from tests.kit import builders
from tests.kit.builders import NOW
from tests.kit.manifests import bare_pod, deployment
from tests.kit.scene import CALM, Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import found

SECOND = timedelta(seconds=1)


@pytest.fixture
def scene(scene: Scene) -> Scene:
    """A pod on s1 finds no other place; s1 is interrupted."""
    scene.given(deployment("stuck"))
    scene.interrupt("s1")
    return scene


def renewed(scene: Scene) -> datetime:
    return datetime.fromisoformat(found(scene)["spec"]["renewTime"])


def is_renewal(request: Request) -> bool:
    """Whether it is a write to the Lease by its holder."""
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


def test_while_it_works_its_lease_and_its_wake_up_are_never_anothers(scene: Scene) -> None:
    held: list[timedelta] = []
    hidden: list[timedelta] = []

    def look() -> None:
        now = scene.clock.now()
        held.append(renewed(scene) + DURATION - now)
        hidden.append(scene.wake_ups.messages[0].visible_at - now)

    for second in range(2, 80):
        scene.later(second, look)
    scene.run(until=80.5)

    assert len(scene.moving.running) == 1
    # The API server tells its time in whole seconds: a renewal counts as up to a second later.
    assert DURATION - 4 * SECOND < min(held) <= max(held) <= DURATION + SECOND
    assert HIDDEN - 4 * SECOND < min(hidden) <= max(hidden) <= HIDDEN
    assert found(scene)["spec"]["leaseDurationSeconds"] == 15


@pytest.mark.parametrize("died", [12, 33, 49])
def test_one_that_dies_is_missed_in_twenty_seconds(scene: Scene, died: int) -> None:
    pod = scene.pod("stuck")
    scene.run(until=died)
    (first,) = scene.moving.running
    scene.crash()
    assert not first.alive
    scene.add_node("o1", spot=False)
    scene.run(until=85)

    assert died + 13 < scene.gone_at(pod) <= died + 21
    assert scene.lowest("stuck") == 1


@pytest.mark.parametrize("error", [ThrottledError("busy"), UnavailableError("reset")])
def test_a_renewal_that_got_no_answer_is_tried_again_a_second_later(
    scene: Scene, error: ClusterError
) -> None:
    scene.later(7, lambda: scene.fail(error, is_renewal, times=1))
    scene.run(until=20)

    assert scene.outcomes() == []
    tries = [at for at, request in scene.requests if is_renewal(request) and at > 7]
    assert tries[1] - tries[0] < 1.5
    assert tries[2] - tries[1] > 2.9


def test_a_wake_up_that_cannot_be_hidden_is_no_reason_to_stop(scene: Scene) -> None:
    scene.later(5, lambda: scene.wake_ups.fail(QueueError("no")))
    scene.later(8, lambda: scene.wake_ups.fail(None))
    scene.run(until=26)

    assert scene.outcomes() == ["LeaseHeld"]  # of its own wake-up, which came back
    assert [note for note, _ in scene.recorder.notes if "wake-up is not hidden" in note] == [
        "the wake-up is not hidden any longer: no"
    ]
    assert found(scene)["spec"]["holderIdentity"].endswith("/1")


def test_an_sqs_that_hangs_keeps_no_pod_from_its_last_moment(
    make_scene: MakeScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it keep the others' handovers waiting."""
    scene = make_scene()
    postpone = scene.wake_ups.postpone

    def hang(receipt_handle: str, delay: timedelta) -> None:
        scene.clock.sleep(9 * SECOND)
        postpone(receipt_handle, delay)

    scene.given(bare_pod("alone"), deployment("web", 3), spare="o1")
    scene.interrupt("s1")
    monkeypatch.setattr(scene.wake_ups, "postpone", hang)
    scene.run(until=100)

    assert scene.gone_at("alone") == 88.9
    assert scene.pods("web", "s1") == []
    assert scene.lowest("web") == 3


def test_it_is_kept_while_an_api_server_is_slow_to_say_what_there_is(make_scene: MakeScene) -> None:
    scene = make_scene(options=replace(CALM, latency=timedelta(seconds=5)))
    scene.given(deployment("stuck"))
    scene.interrupt("s1").run(until=60)

    renewals = [at for at, r in scene.requests if is_renewal(r)]
    taken = max(at for at, r in scene.requests if is_taking(r) and at < renewals[0])
    gaps = [later - sooner for sooner, later in zip([taken, *renewals], renewals, strict=False)]
    assert max(gaps) < 10


class Sending(PassingSession):
    """A session whose requests are answered when a test says so."""

    def __init__(self, clock: SimulatedClock) -> None:
        super().__init__(SimulatedCluster(clock).session())
        self.sent: list[tuple[Request, OnReply | None, TimeLeft | None]] = []

    def submit(
        self, request: Request, then: OnReply | None = None, left: TimeLeft | None = None
    ) -> None:
        self.sent.append((request, then, left))

    def answer(self, number: int, error: ClusterError | None = None, revision: int = 0) -> None:
        request, then, _ = self.sent[number]
        assert then is not None
        metadata = Metadata(name=names.HANDOVER_LEASE, resource_version=str(revision))
        lease = Lease(metadata=metadata) if revision else None
        then(Reply(request, lease, error=error))


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(NOW)


@pytest.fixture
def leadership(clock: SimulatedClock) -> Leadership:
    """It took the Lease just now."""
    mine = Leadership(SimulatedCluster(clock), clock, InMemoryRecorder(), "this one", None)
    assert not mine.look()
    assert mine.take()
    return mine


def test_a_write_may_begin_for_ten_seconds_after_the_lease_was_taken(
    clock: SimulatedClock, leadership: Leadership
) -> None:
    left = leadership.left()
    assert VALID - SECOND < left < VALID
    clock.advance(left)
    assert leadership.left() == timedelta()


def test_a_renewal_counts_from_when_it_was_sent_and_only_once_it_is_accepted(
    clock: SimulatedClock, leadership: Leadership
) -> None:
    session = Sending(clock)
    clock.advance(4 * SECOND)
    leadership.beat(session)
    sent_at = clock.now()
    clock.advance(2 * SECOND)
    assert leadership.left() < 4 * SECOND
    session.answer(0)
    assert leadership.left() == VALID - (clock.now() - sent_at)


def noted(patch: Any) -> list[Pool]:
    """The pools that a renewal notes."""
    path = pointer("metadata", "annotations", names.LOST_POOLS)
    (text,) = (each.value for each in patch.body if each.path == path)
    return [loss.pool for loss in losses_in(text, NOW)]


def warned(zone: str) -> Node:
    labels = {names.INSTANCE_TYPE: "m5", names.ZONE: zone}
    return builders.node(f"s{zone}", labels=labels, notice=builders.notice())


def test_a_pool_whose_node_is_warned_is_noted_at_once_and_stays_noted(
    clock: SimulatedClock, leadership: Leadership
) -> None:
    session = Sending(clock)
    leadership.beat(session)
    leadership.notes.lost_pools.nodes.warned = {"sa": warned("a")}
    leadership.beat(session)
    leadership.notes.lost_pools.nodes.warned = {"sa": warned("a"), "sa2": warned("a")}
    leadership.beat(session)
    assert [noted(patch) for patch, *_ in session.sent] == [[], [Pool("m5", "a")]]
    clock.advance(3 * SECOND)
    leadership.beat(session)
    assert noted(session.sent[-1][0]) == [Pool("m5", "a")]


def the_losses(cluster: SimulatedCluster) -> Sequence[Loss]:
    """What the Lease notes, believed as of the beginning."""
    (lease,) = cluster.objects("Lease")
    return losses_in(lease["metadata"]["annotations"][names.LOST_POOLS], NOW)


def test_who_takes_the_lease_goes_on_with_what_it_notes(clock: SimulatedClock) -> None:
    cluster = SimulatedCluster(clock)
    for holder, zone in (("one", "a"), ("two", "b")):
        mine = Leadership(cluster, clock, InMemoryRecorder(), holder, None)
        mine.notes.lost_pools.nodes.warned = {zone: warned(zone)}
        assert not mine.look()
        assert mine.take()
        assert zone in {loss.pool.zone for loss in the_losses(cluster)}
        mine.give_up(None)
    assert {loss.pool.zone for loss in the_losses(cluster)} == {"a", "b"}
    clock.advance(timedelta(minutes=10))
    last = Leadership(cluster, clock, InMemoryRecorder(), "three", None)
    assert not last.look()
    assert last.take()
    assert the_losses(cluster) == ()


def test_nothing_may_begin_once_it_is_lost(clock: SimulatedClock, leadership: Leadership) -> None:
    session = Sending(clock)
    leadership.beat(session)
    session.answer(0, InvalidError("another has it"))
    assert leadership.is_lost
    assert leadership.left() == timedelta()


def test_nothing_may_begin_where_it_was_never_had(clock: SimulatedClock) -> None:
    none = Leadership(SimulatedCluster(clock), clock, InMemoryRecorder(), "this one", None)
    assert none.left() == timedelta()
    session = Sending(clock)
    none.beat(session)
    assert session.sent == []


def test_a_wall_clock_that_is_set_back_counts_as_run_out(
    clock: SimulatedClock, leadership: Leadership, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW - SECOND)
    assert leadership.left() == timedelta()


def test_a_machine_that_slept_has_lost_the_time_whatever_its_wall_clock_says(
    clock: SimulatedClock, leadership: Leadership, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "boot", lambda: timedelta(hours=1))
    assert leadership.left() < timedelta()


def test_an_answer_that_comes_after_the_next_renewal_is_heard_all_the_same(
    clock: SimulatedClock, leadership: Leadership
) -> None:
    """An API server may become slow in the middle."""
    session = Sending(clock)
    for _ in range(4):
        leadership.beat(session)
        clock.advance(3 * SECOND)
    session.answer(1)
    assert not leadership.is_lost
    session.answer(0, ConflictError("another has it"))
    assert leadership.is_lost


def test_one_that_a_renewal_leaves_older_than_it_was_known_to_be_is_lost(
    clock: SimulatedClock, leadership: Leadership
) -> None:
    """etcd was restored from a backup. Renewals that overtake each other are no sign of it."""
    session = Sending(clock)
    for _ in range(3):
        leadership.beat(session)
        clock.advance(3 * SECOND)
    session.answer(1, revision=120)
    session.answer(0, revision=110)
    session.answer(2, revision=130)
    assert leadership.left() > timedelta()
    leadership.beat(session)
    session.answer(3, revision=90)
    assert leadership.is_lost
    assert leadership.left() == timedelta()


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
    assert not found(scene)["spec"].get("holderIdentity")
    scene.run(until=13)

    assert len(scene.moving.running) == 1
    assert found(scene)["spec"]["holderIdentity"]
