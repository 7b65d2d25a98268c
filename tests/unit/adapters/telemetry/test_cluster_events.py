"""Decisions appear as Kubernetes Events, and a storm of them stays a few."""

from collections.abc import Sequence
from typing import Any

import pytest

from evenkeel.adapters.telemetry.cluster_events import MOST, ClusterEvents
from evenkeel.errors import ForbiddenError
from evenkeel.model.cluster_objects import Event
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Create
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.builders import NOW

NODE = Reference(kind="Node", name="n1", uid="u1")
WEB = Reference(kind="Deployment", name="web", namespace="default", uid="d1")


class Scene:
    def __init__(self, *, observes: bool = False) -> None:
        self.cluster = SimulatedCluster(SimulatedClock(NOW))
        self.log = InMemoryRecorder()
        self.recorder = ClusterEvents(self.cluster, self.cluster.clock, self.log, observes=observes)

    def events(self) -> Sequence[dict[str, Any]]:
        return self.cluster.objects("Event")

    def about(self, kind: str) -> Sequence[dict[str, Any]]:
        return [each for each in self.events() if each["involvedObject"]["kind"] == kind]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def marked(**changes: Any) -> Decision:
    values: dict[str, Any] = {
        "verb": Verb.MARK,
        "subject": NODE,
        "reason": "SpotInterruption",
        "message": "EC2 takes it back",
        "node": "n1",
        "warning": True,
    }
    return Decision(**(values | changes))


def moved(
    number: int, *, workload: Reference | None = WEB, reason: Reason = Reason.NODE_DOOMED
) -> Decision:
    return Decision(
        verb=Verb.RELEASE,
        subject=Reference(kind="Pod", name=f"web-{number}", namespace="default", uid=f"p{number}"),
        reason=reason,
        message="released; a replacement is on its way",
        workload=workload,
        node="n1",
    )


def test_an_event_is_what_kubectl_describe_looks_for(scene: Scene) -> None:
    scene.recorder.decided(marked())
    assert scene.events() == []

    scene.recorder.flush()

    (event,) = scene.events()
    assert event["metadata"]["namespace"] == "default"
    assert event["metadata"]["name"].startswith("n1.")
    assert event["involvedObject"] == {
        "kind": "Node",
        "name": "n1",
        "uid": "u1",
        "apiVersion": "v1",
    }
    assert event["reason"] == "SpotInterruption"
    assert event["message"] == "EC2 takes it back"
    assert event["type"] == "Warning"
    assert event["count"] == 1
    assert event["source"] == {"component": "evenkeel"}
    assert event["firstTimestamp"] == event["lastTimestamp"] == "2026-11-21T06:00:00Z"


def test_a_pods_move_is_told_on_pod_workload_and_node(scene: Scene) -> None:
    scene.recorder.decided(moved(1))
    scene.recorder.flush()
    assert [each["involvedObject"]["name"] for each in scene.about("Pod")] == ["web-1"]
    (on_workload,) = scene.about("Deployment")
    assert on_workload["involvedObject"]["apiVersion"] == "apps/v1"
    assert on_workload["type"] == "Normal"
    (on_node,) = scene.about("Node")
    assert on_node["involvedObject"]["uid"] == "n1"


def test_many_pods_of_a_workload_are_one_event_with_a_count(scene: Scene) -> None:
    for number in range(1, 8):
        scene.recorder.decided(moved(number))
    scene.recorder.flush()
    (on_workload,) = scene.about("Deployment")
    assert on_workload["count"] == 7
    assert on_workload["message"] == (
        "7 pods (web-1, web-2, web-3 and 4 more): released; a replacement is on its way"
    )


def test_reasons_are_told_apart(scene: Scene) -> None:
    scene.recorder.decided(moved(1, reason=Reason.NODE_DOOMED))
    scene.recorder.decided(moved(2, reason=Reason.LAST_MOMENT))
    scene.recorder.flush()
    assert {each["reason"] for each in scene.about("Deployment")} == {
        "NodeDoomed",
        "LastMoment",
    }


def test_a_storm_leaves_out_single_pods_first(scene: Scene) -> None:
    for number in range(3_000):
        scene.recorder.decided(moved(number))
    scene.recorder.flush()
    assert len(scene.events()) == MOST
    assert len(scene.about("Node")) == 1
    assert len(scene.about("Deployment")) == 1
    assert scene.log.total("EventsLeftOut") == 3_002 - MOST


def test_the_next_invocation_tells_only_what_is_new(scene: Scene) -> None:
    scene.recorder.decided(marked())
    scene.recorder.flush()
    scene.recorder.flush()
    assert len(scene.events()) == 1
    scene.recorder.decided(marked())
    scene.recorder.flush()
    assert len(scene.events()) == 2


@pytest.mark.parametrize("verb", [Verb.WAIT, Verb.LEAVE, Verb.ACKNOWLEDGE, Verb.RETRY])
def test_what_changes_nothing_is_no_event_unless_it_warns(scene: Scene, verb: Verb) -> None:
    scene.recorder.decided(marked(verb=verb, warning=False))
    scene.recorder.flush()
    assert scene.events() == []
    scene.recorder.decided(marked(verb=verb, warning=True))
    scene.recorder.flush()
    assert len(scene.events()) == 1


@pytest.mark.parametrize("kind", ["Instance", "Notice", "Message"])
def test_what_is_no_kubernetes_object_gets_no_event(scene: Scene, kind: str) -> None:
    scene.recorder.decided(
        marked(verb=Verb.REJECT, subject=Reference(kind=kind, name="x"), node="")
    )
    scene.recorder.flush()
    assert scene.events() == []


def test_observe_mode_says_that_nothing_was_done() -> None:
    scene = Scene(observes=True)
    scene.recorder.decided(marked())
    scene.recorder.flush()
    (event,) = scene.events()
    assert event["message"].startswith("observe mode, nothing was done: ")


def test_long_names_and_messages_are_cut(scene: Scene) -> None:
    name = "a" * 219 + "." + "b" * 33
    scene.recorder.decided(
        marked(subject=Reference(kind="Node", name=name, uid="u9"), node="", message="m" * 5_000)
    )
    scene.recorder.flush()
    (event,) = scene.events()
    assert event["metadata"]["name"].startswith("a" * 219 + ".")
    assert ".." not in event["metadata"]["name"]
    assert len(event["metadata"]["name"]) <= 253
    assert len(event["message"]) == 1_000
    assert event["message"].endswith("...")


def test_a_refused_event_is_noted_and_hinders_nothing(scene: Scene) -> None:
    def refuse(request: object, proceed: Any) -> Any:
        if isinstance(request, Create) and isinstance(request.object, Event):
            raise ForbiddenError("events are forbidden")
        return proceed()

    scene.cluster.intercept(refuse)
    scene.recorder.decided(marked())
    scene.recorder.flush()
    assert scene.events() == []
    assert scene.log.total("EventsLeftOut") == 1
    ((message, details),) = scene.log.notes
    assert message == "1 Kubernetes Events were refused"
    assert details == {"first": "events are forbidden"}
