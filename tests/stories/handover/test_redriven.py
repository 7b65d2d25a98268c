"""Wake-ups that somebody moves out of the dead letters, hours after they were sent."""

import pytest

from evenkeel.settings import Mode
from evenkeel.settings.handover import Notify
from tests.kit.manifests import deployment
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import lose_wake_ups

LATER = 5 * 3600.0


def old_wake_ups(scene: Scene) -> list[str]:
    """The wake-ups of an interruption of s1, which nobody heard. The node lived on."""
    scene.given(deployment("web", 3), on="s1 s2", spare="o1")
    scene.interrupt("s1", carried_out=False).run(until=0.5)
    bodies = [message.body for message in scene.wake_ups.messages]
    lose_wake_ups(scene)
    scene.run(until=LATER)
    assert bodies
    return bodies


@pytest.mark.parametrize("mode", Mode)
def test_nothing_is_done_or_told_of_a_node_that_lived_on(make_scene: MakeScene, mode: Mode) -> None:
    """In observe mode wake-ups carry what is noted on nodes else."""
    scene = make_scene(mode=mode, notify=Notify.ALWAYS)
    bodies = old_wake_ups(scene)
    writes, told = len(scene.writes), len(scene.told())
    events = len(scene.notifications.sent)

    for body in bodies:
        scene.wake_ups.put(body)
    scene.run(until=LATER + 20)

    assert (len(scene.writes), len(scene.told())) == (writes, told)
    assert len(scene.notifications.sent) == events
    assert scene.is_quiet
