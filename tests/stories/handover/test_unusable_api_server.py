"""An API server that refuses who asks, or is away: who is told, and what comes back."""

import pytest

from evenkeel.errors import ClusterError, ForbiddenError, NothingDoneError, UnavailableError
from evenkeel.model.notice import WakeUp
from evenkeel.model.request import Evict, List, Patch
from evenkeel.settings import Mode
from tests.kit.asking import Concerns, asks
from tests.kit.manifests import deployment
from tests.kit.scene import Scene
from tests.kit.unusable import UNUSABLE
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import lose_wake_ups

SCHEDULE = 30
"""When the schedule comes first, in seconds of the story."""


def wakes(scene: Scene, count: int) -> None:
    """So many wake-ups come in one batch."""
    for number in range(count):
        scene.wake_ups.send(WakeUp(reason=f"test {number}"))


@pytest.mark.parametrize("concerns", [asks(), asks(List)])
@pytest.mark.parametrize(("error", "metric", "_remedy"), UNUSABLE)
def test_all_wake_ups_of_a_batch_come_back_soon_and_it_is_counted(
    scene: Scene, error: ClusterError, metric: str, _remedy: str, concerns: Concerns
) -> None:
    scene.given(deployment("stuck"))
    scene.fail(error, concerns)
    wakes(scene, 3)

    scene.run(until=0.5)

    assert scene.moving.batches[-1] == 3
    assert scene.moving.errors == []
    back = [message.visible_at - scene.at(0) for message in scene.wake_ups.messages]
    assert len(back) == 3
    rest = 5 if metric == "ClusterForbidden" else 1
    assert {round(each.total_seconds()) for each in back} == {rest}
    assert scene.recorder.total(metric) == 1


def test_wake_ups_outlast_an_hour_without_access(scene: Scene) -> None:
    scene.given(deployment("stuck"))
    scene.fail(ForbiddenError("403"), asks())
    wakes(scene, 1)

    scene.run(until=3590)

    (message,) = scene.wake_ups.messages
    assert message.receives < 1000
    assert scene.wake_ups.dead == []


def test_no_notice_that_a_wake_up_carries_is_lost_in_observe_mode(make_scene: MakeScene) -> None:
    scene = make_scene(mode=Mode.OBSERVE)
    scene.given(deployment("web", 2), on="s1 s2")
    down = {"is": True}
    scene.fail(UnavailableError("away"), lambda r: down["is"] and asks(List)(r))
    scene.interrupt("s1", carried_out=False).run(until=0.5)
    scene.interrupt("s2", carried_out=False).run(until=5)
    bodies = [message.body for message in scene.wake_ups.messages]
    assert len(bodies) == 2
    lose_wake_ups(scene)
    for body in bodies:
        scene.wake_ups.put(body)
    scene.run(until=5.5)
    assert scene.moving.batches[-1] == 2
    down["is"] = False
    scene.run(until=10)

    released = [each for _, each in scene.told("NodeDoomed") if each.verb == "release"]
    assert {each.node for each in released} == {"s1", "s2"}


@pytest.mark.parametrize(("error", "metric", "remedy"), UNUSABLE)
def test_an_invocation_of_the_schedule_that_can_do_nothing_raises_what_mends_it(
    scene: Scene, error: ClusterError, metric: str, remedy: str
) -> None:
    scene.begin()
    scene.fail(error, asks(List))

    scene.run(until=SCHEDULE + 5)

    (raised,) = scene.schedule.errors
    assert isinstance(raised, NothingDoneError)
    assert remedy in str(raised)
    assert str(error) in str(raised)
    assert raised.__cause__ is error
    assert scene.recorder.total(metric) == 1
    assert scene.wake_ups.messages == []


def test_a_single_write_that_is_refused_raises_nothing(scene: Scene) -> None:
    scene.given(deployment("web"))
    scene.interrupt("s1", carried_out=False).run(until=0.5)
    lose_wake_ups(scene)
    scene.fail(ForbiddenError("no"), asks(Patch, Evict))

    scene.run(until=SCHEDULE + 5)

    assert scene.schedule.errors == scene.moving.errors == []
    assert scene.recorder.total("WritesFailed") > 0
