"""A run at an API server that refuses who asks, or is away: Lambda's Errors tells."""

from collections.abc import Callable
from typing import Any

import pytest

from evenkeel.errors import ClusterError, ForbiddenError, NothingDoneError, QueueError
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.request import Create, Get, List, Patch, Request
from evenkeel.model.workload import Deployment
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene
from tests.kit.unusable import UNUSABLE


def above_its_floor(scene: RestoreScene) -> None:
    scene.place(deployment("web", 4, notes={names.ON_DEMAND: "1"}), on="o0 o1 o2")
    scene.add_nodes("s", 2, spot=True)


@pytest.mark.parametrize("kind", [Get, List])
@pytest.mark.parametrize(("error", "metric", "remedy"), UNUSABLE)
def test_a_run_that_can_do_nothing_raises_what_mends_it(
    scene: RestoreScene, error: ClusterError, metric: str, remedy: str, kind: type[Request]
) -> None:
    above_its_floor(scene)
    scene.begin()
    scene.schedule.stop()
    scene.fail(error, lambda request: isinstance(request, kind))

    scene.run(until=35)

    raised = scene.restoring.errors[-1]
    assert isinstance(raised, NothingDoneError)
    assert remedy in str(raised)
    assert scene.recorder.total(metric) == len(scene.restoring.errors)
    assert scene.moves() == []


def test_a_run_that_has_begun_a_move_raises_nothing(scene: RestoreScene) -> None:
    above_its_floor(scene)
    scene.apply(deployment("api", 4, notes={names.ON_DEMAND: "1"}))
    scene.settle()
    released: list[Request] = []

    def fail(request: Request, proceed: Callable[[], Any]) -> Any:
        if released and isinstance(request, Get | List):
            raise ForbiddenError("403")
        if isinstance(request, Patch) and request.kind is Deployment:
            released.append(request)
        return proceed()

    scene.begin()
    scene.schedule.stop()
    scene.cluster.intercept(fail)
    scene.run(until=25)

    assert released
    assert any("failed this run: 403" in note for note, _ in scene.recorder.notes)
    assert scene.restoring.errors == []


def test_a_right_to_leases_that_is_lost_is_no_secret(scene: RestoreScene) -> None:
    """A person may restore without it; the function's moves all fail, and that is counted."""
    above_its_floor(scene)

    def is_about_leases(request: Request) -> bool:
        if isinstance(request, List):
            return request.selection.kind is Lease
        if isinstance(request, Create):
            return isinstance(request.object, Lease)
        return isinstance(request, Get | Patch) and request.kind is Lease

    scene.begin()
    scene.schedule.stop()
    scene.fail(ForbiddenError("403"), is_about_leases)
    scene.run(until=35)

    assert not any(pod.released for pod in scene.pods("web"))
    assert scene.recorder.total("WritesFailed") > 0


def test_a_queue_that_fails_too_hides_nothing(scene: RestoreScene) -> None:
    above_its_floor(scene)
    scene.begin()
    scene.schedule.stop()
    scene.wake_ups.fail(QueueError("no queue"))
    planned = {"is": False}

    def fail(request: Request, proceed: Callable[[], Any]) -> Any:
        if isinstance(request, Get) and request.kind is Deployment:
            planned["is"] = True
        if planned["is"]:
            raise ForbiddenError("403")
        return proceed()

    scene.cluster.intercept(fail)
    scene.run(until=35)

    assert planned["is"]
    assert [type(error) for error in scene.restoring.errors] == [NothingDoneError]
