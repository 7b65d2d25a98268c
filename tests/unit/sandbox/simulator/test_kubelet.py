"""How long pods take to start and to stop."""

from itertools import pairwise

import pytest

from evenkeel_sandbox.simulator.api.objects import is_leaving, is_ready, phase_of
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.unit.sandbox.simulator.scene import Scene, pod


@pytest.fixture
def scene() -> Scene:
    return Scene(1, SimulatorOptions(start_seconds=(5, 5), stop_seconds=(4, 4)))


def state(scene: Scene) -> tuple[str, bool]:
    (found,) = scene.pods()
    return phase_of(found), is_ready(found)


def test_a_pod_takes_the_time_of_the_options(scene: Scene) -> None:
    scene.cluster.apply(pod("p"))
    scene.wait(4.9)
    assert state(scene) == ("Pending", False)
    scene.wait(0.2)
    assert state(scene) == ("Running", True)
    scene.cluster.delete("Pod", "p", "shop")
    scene.wait(3.9)
    assert is_leaving(scene.pods()[0])
    scene.wait(0.2)
    assert scene.pods() == []


def test_annotations_overrule_the_options(scene: Scene) -> None:
    scene.cluster.apply(
        pod(
            "p",
            {
                "evenkeel.test/start-after": "1s",
                "evenkeel.test/ready-after": "2s",
                "evenkeel.test/stop-after": "1m",
            },
            terminationGracePeriodSeconds=10,
        )
    )
    scene.wait(1.1)
    assert state(scene) == ("Running", False)
    scene.wait(2)
    assert state(scene) == ("Running", True)
    scene.cluster.delete("Pod", "p", "shop")
    scene.wait(9.9)
    assert is_leaving(scene.pods()[0])
    scene.wait(0.2)
    assert scene.pods() == [], "killed when its grace period ends"


def test_a_pod_with_an_active_deadline_fails_when_it_has_run_so_long(scene: Scene) -> None:
    scene.cluster.apply(pod("p", activeDeadlineSeconds=60))
    scene.wait(64.9)
    assert state(scene) == ("Running", True)
    scene.wait(0.2)
    assert state(scene) == ("Failed", False)


def test_start_times_are_drawn_from_a_range() -> None:
    scene = Scene(1, SimulatorOptions(start_seconds=(1, 20)))
    for i in range(20):
        scene.cluster.apply(pod(f"p{i}"))
    scene.wait(0.9)
    assert scene.ready() == 0
    scene.wait(10)
    assert 0 < scene.ready() < 20
    scene.wait(10)
    assert scene.ready() == 20


def test_a_pod_that_finds_its_lock_taken_crashes_and_rests_longer_each_time(scene: Scene) -> None:
    for name in ("has", "wants"):
        scene.cluster.apply(pod(name, {"evenkeel.test/lock": "data"}))
        scene.wait(6)
    at = [scene.clock.now()]
    crashes = 1
    while crashes < 4:
        scene.wait(1)
        (status,) = scene.one("Pod", "wants")["status"]["containerStatuses"]
        assert status["state"] == {"waiting": {"reason": "CrashLoopBackOff"}}
        if status["restartCount"] > crashes:
            crashes += 1
            at.append(scene.clock.now())
    rests = [(after - before).total_seconds() for before, after in pairwise(at)]
    assert rests == [pytest.approx(10, abs=2), 20, 40]
    assert phase_of(scene.one("Pod", "wants")) == "Running"
    scene.cluster.delete("Pod", "has", "shop")
    scene.wait(100)
    assert is_ready(scene.one("Pod", "wants"))
