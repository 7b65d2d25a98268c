"""A run at an API server that refuses who asks, or is away: Lambda's Errors tells."""

from typing import Any

import pytest

from evenkeel.errors import ClusterError, ForbiddenError, NothingDoneError, QueueError
from evenkeel.flows.restore.writing import TOGETHER
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.deployment import Deployment
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Patch, Request
from tests.kit.asking import asks, noting
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene
from tests.kit.unusable import UNUSABLE


@pytest.fixture
def scene(scene: RestoreScene) -> RestoreScene:
    """A workload that is above its floor. Restore alone has a schedule."""
    scene.given(deployment("web", 4, notes={names.ON_DEMAND: "1"}), on="o0 o1 o2", spare="s0 s1")
    scene.schedule.stop()
    return scene


@pytest.mark.parametrize("kind", [Get, List])
@pytest.mark.parametrize(("error", "metric", "remedy"), UNUSABLE)
def test_a_run_that_can_do_nothing_raises_what_mends_it(
    scene: RestoreScene, error: ClusterError, metric: str, remedy: str, kind: type[Request]
) -> None:
    scene.fail(error, asks(kind))

    scene.run(until=35)

    raised = scene.restoring.errors[-1]
    assert isinstance(raised, NothingDoneError)
    assert remedy in str(raised)
    assert scene.recorder.total(metric) == len(scene.restoring.errors)
    assert scene.moves() == []


def test_a_run_that_has_begun_a_move_raises_nothing(scene: RestoreScene) -> None:
    """It reads what it moves a few workloads at a time."""
    more = [f"api-{number}" for number in range(TOGETHER)]
    scene.apply(*(deployment(name, 4, notes={names.ON_DEMAND: "all"}) for name in more))
    scene.settle(5)
    scene.apply(*(deployment(name, 4, notes={names.ON_DEMAND: "1"}) for name in more))
    released = noting(scene.cluster, asks(Patch, of=Deployment))
    reads = asks(Get, List)
    scene.fail(ForbiddenError("403"), lambda request: bool(released) and reads(request))
    scene.run(until=25)

    assert released
    assert any("failed this run: 403" in note for note, _ in scene.recorder.notes)
    assert scene.restoring.errors == []


def test_a_right_to_leases_that_is_lost_is_no_secret(scene: RestoreScene) -> None:
    """A person may restore without it; the function's moves all fail, and that is counted."""
    scene.fail(ForbiddenError("403"), asks(of=Lease))
    scene.run(until=35)

    assert not any(pod.released for pod in scene.pods("web"))
    assert scene.recorder.total("WritesFailed") > 0


def test_a_queue_that_fails_too_hides_nothing(scene: RestoreScene) -> None:
    scene.wake_ups.fail(QueueError("no queue"))
    planned = noting(scene.cluster, _pods_of_one)
    scene.fail(ForbiddenError("403"), _pods_of_one)
    scene.run(until=35)

    assert planned
    assert [type(error) for error in scene.restoring.errors] == [NothingDoneError]


def _pods_of_one(request: Any) -> bool:
    """Whether it lists a workload's pods, as a run does before it moves one."""
    return asks(List, of=Pod)(request) and bool(request.selection.labels)
