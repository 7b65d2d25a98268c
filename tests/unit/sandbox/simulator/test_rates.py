"""How fast the controllers are: the figures of docs/design.md, measured on a real one."""

from datetime import timedelta

import pytest

from evenkeel.model.pod import Pod
from evenkeel.model.request import Delete, Operation, Patch, Request
from evenkeel_sandbox.simulator.api.objects import Obj, is_ready
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.controllers.work import RateLimit
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.unit.sandbox.simulator.scene import Scene, workload

LABEL = Operation("remove", "/metadata/labels/pod-template-hash")
OWNER = Operation("remove", "/metadata/ownerReferences/0")


def change(pod: Obj, what: str) -> Request:
    name = pod["metadata"]["name"]
    match what:
        case "label":
            return Patch(Pod, name, [LABEL], "shop")
        case "label and owner":
            return Patch(Pod, name, [LABEL, OWNER], "shop")
    return Delete(Pod, name, "shop")


@pytest.mark.parametrize(
    ("what", "measured"), [("label", 19.3), ("label and owner", 9.1), ("deletion", 10.2)]
)
def test_two_hundred_pods_are_replaced_in_the_time_that_the_real_controller_takes(
    what: str, measured: float
) -> None:
    scene = Scene(10)
    scene.cluster.apply(workload("Deployment", "web", replicas=200))
    scene.wait(60)
    old = scene.pods()
    assert scene.ready() == len(old) == 200
    before = scene.clock.now()
    scene.cluster.perform([change(pod, what) for pod in old])
    uids = {pod["metadata"]["uid"] for pod in old}
    new = 0
    while new < 200:
        scene.wait(0.1)
        new = sum(1 for p in scene.pods() if is_ready(p) and p["metadata"]["uid"] not in uids)
    took = (scene.clock.now() - before).total_seconds()
    # The pods here take up to two seconds to start, those measured about one.
    assert measured * 0.9 < took < measured * 1.1 + 1


def test_single_replicas_wait_behind_large_workloads_when_all_are_released_at_once() -> None:
    """The controller works ReplicaSet by ReplicaSet, five at a time, under one rate limit."""
    scene = Scene(10)
    for i in range(30):
        scene.cluster.apply(workload("Deployment", f"large{i}", replicas=15))
    scene.cluster.apply(workload("Deployment", "single", replicas=1))
    scene.wait(60)
    assert scene.ready() == 451
    scene.cluster.perform([change(pod, "label and owner") for pod in scene.pods()])

    def replaced() -> int:
        return sum(
            1
            for p in scene.pods()
            if p["metadata"]["labels"]["app"] == "single" and "ownerReferences" in p["metadata"]
        )

    scene.wait(5)
    assert replaced() == 0
    scene.wait(40)
    assert replaced() == 1


def test_there_is_no_waiting_when_there_is_no_limit() -> None:
    scene = Scene(10, SimulatorOptions(controller_qps=None))
    scene.cluster.apply(workload("Deployment", "web", replicas=300))
    scene.wait(4)
    assert scene.ready() == 300


def test_a_burst_goes_at_once_and_the_rest_at_the_rate() -> None:
    clock = SimulatedClock()
    limit = RateLimit(clock, qps=20, burst=30)
    turns = [(limit.turn() - clock.now()).total_seconds() for _ in range(50)]
    assert turns[:30] == [0.0] * 30
    assert turns[30:] == pytest.approx([(i + 1) / 20 for i in range(20)])


def test_tokens_are_saved_up_to_the_burst_only() -> None:
    clock = SimulatedClock()
    limit = RateLimit(clock, qps=20, burst=30)
    for _ in range(30):
        limit.turn()
    clock.advance(timedelta(hours=1))
    assert [limit.turn() for _ in range(31)][29] == clock.now()
    assert limit.turn() > clock.now()
