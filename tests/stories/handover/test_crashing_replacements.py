"""Replacements that crash while the old pod is there, such as for a lock that it holds."""

import pytest

from evenkeel.model.decision import Verb
from tests.kit.drainer import Drainer
from tests.kit.manifests import Manifest, deployment
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene


def web(replicas: int = 1, stop: int = 4) -> Manifest:
    """Pods take a lock when they run, and let go of it so many seconds after they are told."""
    notes = {"evenkeel.test/lock": "data", "evenkeel.test/stop-after": f"{stop}s"}
    return deployment("web", replicas, pod={"annotations": notes})


def test_it_is_deleted_when_the_old_pod_is_told_to_go(scene: Scene) -> None:
    """Its back-off would last until 153 s. The next one starts in 2 s, and once more 10 s later."""
    (old,) = scene.given(web(), spare="s2")
    scene.interrupt("s1")
    scene.run(until=160)
    ((at, crashed),) = scene.told("CrashedBeside")
    assert scene.gone_at(old) == pytest.approx(88.9, abs=0.2)
    assert at == pytest.approx(scene.gone_at(old), abs=0.3)
    assert crashed.verb is Verb.DELETE
    assert crashed.subject.name != old
    assert scene.seconds_at_zero("web") == pytest.approx(12, abs=0.3)


def test_until_then_it_is_said_that_it_crashes(scene: Scene) -> None:
    scene.given(web(), spare="s2")
    scene.interrupt("s1")
    scene.run(until=60)
    ((at, waits),) = scene.told("ReplacementFails")
    assert at < 5
    assert waits.why is not None
    assert waits.why.cause == "its replacement does not start: CrashLoopBackOff"


@pytest.mark.parametrize("stop", [1, 4, 12, 25])
def test_it_is_away_no_longer_than_in_a_plain_drain(make_scene: MakeScene, stop: int) -> None:
    found = list[float]()
    for drains in (True, False):
        scene = make_scene()
        scene.given(web(stop=stop), spare="s2")
        if drains:
            Drainer(scene.clock, scene.cluster).drain("s1")
        else:
            scene.interrupt("s1")
        scene.run(until=240)
        found.append(scene.seconds_at_zero("web"))
    in_a_drain, own = found
    assert own <= in_a_drain + 0.1


def test_of_several_only_those_are_deleted_that_crash(scene: Scene) -> None:
    """Three share a lock: the one that has it is Ready, the others crash all the while."""
    scene.given(web(3), spare="s2", settle=60)
    assert scene.lowest("web") == 1
    scene.interrupt("s1")
    scene.run(until=200)
    crashed = {decision.subject.name for _, decision in scene.told("CrashedBeside")}
    ready = {pod.name for pod in scene.pods("web") if pod.ready}
    assert ready
    assert not ready & crashed
    assert scene.seconds_at_zero("web") < 15
