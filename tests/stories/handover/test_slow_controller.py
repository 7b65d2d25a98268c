"""A ReplicaSet controller that cannot replace all pods within the notice.

Storm D of the bench in small: ten Deployments, three requests a second, and six evictions.
"""

from dataclasses import replace

import pytest

from tests.kit.manifests import deployment
from tests.kit.scene import CALM, Scene
from tests.stories.handover.conftest import MakeScene

EACH = 40
LARGE = [f"large-{number}" for number in range(10)]
ONES = [f"one-{number}" for number in range(5)]
DOOMED = [f"s{number}" for number in range(10)]
GRACE_BEGINS = 120 - 30


@pytest.fixture
def storm(make_scene: MakeScene) -> Scene:
    slow = replace(CALM, controller_qps=3.0, controller_burst=3, requests_per_second=20)
    scene = make_scene(options=slow, window=30, evictions_per_second=6)
    scene.given(
        *(deployment(name, EACH) for name in LARGE),
        *map(deployment, ONES),
        on=" ".join(DOOMED),
        spare=" ".join(f"o{number}" for number in range(8)),
        room={"s": "8", "o": "8"},
        settle=600,
    )
    return scene


def test_no_workload_falls_far_below_the_share_that_can_be_replaced(storm: Scene) -> None:
    """Nor does a single replica at all."""
    storm.interrupt(*DOOMED).run(until=GRACE_BEGINS)
    pods = [pod for name in (*LARGE, *ONES) for pod in storm.pods(name)]
    replaced = sum(pod.spec.node_name.startswith("o") for pod in pods)
    part = replaced / (EACH * len(LARGE) + len(ONES))
    assert 0.5 < part < 0.7, "not so slow that it matters, or too slow to tell"
    storm.run(until=300)
    assert {storm.lowest(name) for name in ONES} == {1}
    assert min(storm.lowest(name) for name in LARGE) >= EACH // 2 + 1
