"""How long pods take to start and to stop."""

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
