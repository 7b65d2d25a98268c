"""What an invocation reads of owners before it decides anything."""

from evenkeel.errors import ForbiddenError
from evenkeel.flows import reads, selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync import reader
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.request import Get, List
from evenkeel.model.workload import Deployment, ReplicaSet
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW
from tests.kit.manifests import deployment
from tests.kit.scene import Scene


def test_many_controllers_of_a_namespace_are_read_by_one_listing_and_none_singly(
    scene: Scene,
) -> None:
    number = reads.MANY + 1
    scene.given(*(deployment(f"web-{i}") for i in range(number)))
    view = View()

    (pods,) = reads.list_all(scene.cluster, [selections.candidates_on("s1")])
    for pod in pods:
        view.pods.see(pod)
    clock = SimulatedClock(NOW)
    reader.read_facts(scene.cluster, view, WELL_KNOWN, InMemoryRecorder(), clock)

    assert len(view.controllers) == len(view.deployments) == number
    asked = [request for _, request in scene.requests if isinstance(request, List)]
    assert [r.selection.namespace for r in asked if r.selection.kind is ReplicaSet] == ["default"]
    assert not [request for _, request in scene.requests if isinstance(request, Get)]


def test_where_listing_is_forbidden_each_controller_is_read_by_itself(scene: Scene) -> None:
    number = reads.MANY + 1
    scene.given(*(deployment(f"web-{i}") for i in range(number)), spare="o1")
    scene.fail(
        ForbiddenError("cannot list resource"),
        lambda r: isinstance(r, List) and r.selection.kind in (Deployment, ReplicaSet),
        times=10,
    )
    scene.interrupt("s1").run(until=20)

    assert sum(len(scene.pods(f"web-{i}", "o1")) for i in range(number)) == number
    assert all(scene.lowest(f"web-{i}") == 1 for i in range(number))
