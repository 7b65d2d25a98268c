"""What wakes the reconciler, and what is left in the queue when it rests."""

from datetime import timedelta

import pytest

from evenkeel.errors import MalformedEventError, QueueError, UnavailableError
from evenkeel.model import names
from evenkeel.model.notice import WakeUp
from evenkeel.model.request import Create, Evict, Get, List, Patch
from evenkeel_hosting.events import batch_event
from tests.kit.manifests import SYSTEM, bare_pod, deployment
from tests.kit.scene import NO_PLACE, Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import lose_wake_ups

SOME_TIME = timedelta(seconds=50)
SHORT = {"rebalance_expiry": timedelta(minutes=5)}


def test_one_wake_up_stays_one_however_often_the_schedule_comes(make_scene: MakeScene) -> None:
    scene = make_scene(**SHORT)
    scene.given(deployment("stuck"))
    in_queue: set[int] = set()

    def count() -> None:
        in_queue.add(len(scene.wake_ups.messages))

    for second in range(5, 300):
        scene.later(second, count)

    scene.recommend("s1").run(until=400)

    assert in_queue == {1}
    assert scene.is_quiet


def test_a_wake_up_that_never_came_is_made_up_for_by_the_schedule(make_scene: MakeScene) -> None:
    scene = make_scene(work=SOME_TIME)
    (pod,) = scene.given(deployment("stuck"))

    scene.interrupt("s1").run(until=0.5)
    lose_wake_ups(scene)
    scene.run(until=92)

    assert scene.story(pod)[0] == "30.0 release NodeDoomed"
    assert len(scene.wake_ups.messages) == 1


def test_a_wake_up_lost_on_the_way_is_made_up_for_by_the_schedule(scene: Scene) -> None:
    scene.given(bare_pod("alone"))

    scene.interrupt("s1").run(until=65)
    lose_wake_ups(scene)
    scene.run(until=110)

    assert scene.gone_at("alone") == 90.0
    assert len(scene.wake_ups.messages) == 1


def test_a_wake_up_comes_a_second_early_and_the_last_moment_is_exact(scene: Scene) -> None:
    scene.given(bare_pod("alone", grace=0))

    scene.interrupt("s1").run(until=130)

    (sent,) = (s for s in scene.written("alone") if isinstance(s.write, Evict))
    assert sent.at == pytest.approx(120 - 1 - 1 / 60, abs=0.01)


def test_several_wake_ups_at_once_are_worth_one(make_scene: MakeScene) -> None:
    scene = make_scene(work=SOME_TIME)
    scene.given(deployment("stuck"))
    scene.interrupt("s1").run(until=0.5)
    lose_wake_ups(scene)
    for _ in range(8):
        scene.wake_ups.send(WakeUp(reason="Doomed"))

    scene.run(until=51.5)

    assert len(scene.wake_ups.messages) == 1
    assert scene.moving.batches[0] == 8
    assert scene.outcomes() == ["LeaseHeld", "OutOfTime"]  # the first is the schedule's


def test_a_malformed_wake_up_is_dropped_and_counted(scene: Scene) -> None:
    scene.begin()
    scene.wake_ups.put("{")
    scene.wake_ups.put('{"reason": 1}')
    scene.wake_ups.put('{"v": 1, "reason": "Doomed"}')

    scene.run(until=5)

    assert scene.wake_ups.messages == []
    assert scene.recorder.total("WakeUpsMalformed") == 2
    assert scene.recorder.notes[0][0].startswith("message wake-ups-1 is no wake-up")
    assert scene.outcomes() == ["Quiet"]


def test_malformed_wake_ups_alone_ask_the_cluster_nothing(scene: Scene) -> None:
    scene.begin()
    scene.wake_ups.put("no JSON")

    scene.run(until=5)

    assert scene.requests == []
    assert scene.wake_ups.messages == []


def test_something_else_than_a_queue_is_told_so(scene: Scene) -> None:
    scene.begin()
    message = scene.wake_ups.put("{}")
    event = batch_event([message])
    event["Records"][0]["eventSource"] = "aws:kinesis"

    with pytest.raises(MalformedEventError, match="aws:kinesis"):
        scene._handover()(event, None)


def test_nothing_doomed_costs_six_reads_a_minute_and_a_note_on_the_lease(scene: Scene) -> None:
    scene.given(SYSTEM)

    scene.run(until=100)

    reads = [Get, *[List] * 4, Get]
    at_30, at_90 = [*reads, Patch, Create], [*reads, Patch]
    assert [type(request) for _, request in scene.requests] == [*at_30, *at_90]
    assert scene.written() == []


def test_what_cannot_be_postponed_comes_back_after_its_timeout(make_scene: MakeScene) -> None:
    scene = make_scene(work=SOME_TIME)
    (pod,) = scene.given(deployment("stuck"))
    scene.interrupt("s1").run(until=50)
    scene.wake_ups.fail(QueueError("no"))
    scene.run(until=52)
    scene.wake_ups.fail(None)
    scene.run(until=65)
    assert not scene.moving.running
    scene.run(until=72)

    assert any("comes back when its visibility timeout ends" in n for n, _ in scene.recorder.notes)
    assert len(scene.moving.running) == 1
    assert scene.story(pod).order() == [*NO_PLACE]


def test_the_schedule_fails_loudly_when_it_cannot_send_a_wake_up(make_scene: MakeScene) -> None:
    scene = make_scene(work=SOME_TIME)
    scene.given(deployment("stuck"))
    scene.interrupt("s1").run(until=0.5)
    lose_wake_ups(scene)
    scene.wake_ups.fail(QueueError("no"))

    scene.run(until=85)

    assert [type(error) for error in scene.schedule.errors] == [QueueError]


def test_an_invocation_ends_after_its_time_and_the_next_goes_on(make_scene: MakeScene) -> None:
    scene = make_scene(work=SOME_TIME)
    scene.given(deployment("stuck"))

    scene.interrupt("s1").run(until=50.9)
    assert "OutOfTime" not in scene.outcomes()
    scene.run(until=51.5)

    assert scene.outcomes()[-1] == "OutOfTime"
    assert scene.moving.running  # at once, for a replacement is pending


def test_an_api_server_that_is_down_is_asked_again_every_second(scene: Scene) -> None:
    (pod,) = scene.given(deployment("stuck"))
    down = {"is": True}
    scene.fail(UnavailableError("refused"), lambda _: down["is"] and scene.seconds >= 0.5)

    scene.interrupt("s1").run(until=30.5)
    down["is"] = False
    scene.run(until=40)

    assert scene.outcomes() == ["ClusterUnavailable"] * 31
    assert scene.story(pod)[0] == "31.1 release NodeDoomed"
    assert scene.recorder.total("ClusterUnreachable") == 31
    assert len(scene.wake_ups.messages) == 1


def test_the_namespace_and_the_lease_are_made_where_they_are_missing(scene: Scene) -> None:
    scene.given(deployment("stuck"))

    scene.interrupt("s1").run(until=5)

    made = [s.name for s in scene.writes if isinstance(s.write, Create) and s.error is None]
    assert made == [names.SYSTEM_NAMESPACE, names.HANDOVER_LEASE]


def test_a_last_moment_never_hangs_on_the_schedule_alone(make_scene: MakeScene) -> None:
    """No node has to leave load balancers before it, and a turn of the schedule fails."""
    scene = make_scene(load_balancer_lead=timedelta())
    scene.given(bare_pod("alone"))
    scene.run(until=40)
    scene.interrupt("s1")
    scene.fail(
        UnavailableError("503"), lambda r: isinstance(r, List) and 89 < scene.seconds < 91, times=1
    )
    scene.run(until=160)
    assert scene.gone_at("alone") == pytest.approx(40 + 89, abs=0.2)


def test_what_an_invocation_counts_and_tells_is_handed_on_while_it_works(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubernetes Events and metrics of a storm are of use while it lasts."""
    flushed: list[float] = []
    scene.given(deployment("stuck"))
    monkeypatch.setattr(scene.recorder, "flush", lambda: flushed.append(scene.seconds))

    scene.interrupt("s1").run(until=80)

    assert len(scene.moving.running) == 1
    assert [round(at) for at in flushed if at > 2 and round(at) != 30] == [31, 62]
