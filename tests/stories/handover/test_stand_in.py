"""A command hands over only where no deployed functions do: their schedule notes that it came."""

from datetime import timedelta
from typing import Any

import pytest

from evenkeel.errors import ForbiddenError
from evenkeel.handlers import handover
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.division import Division, lease_of
from evenkeel.model.request import Patch
from evenkeel.ports import Ports
from evenkeel.settings import HANDOVER_TIMEOUT, HandoverSettings, Mode
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.event_source import SimulatedSchedule
from evenkeel_sandbox.simulator.queues import SimulatedQueue
from tests.kit.asking import asks
from tests.kit.manifests import SYSTEM, deployment, resource
from tests.kit.scene import CLUSTER, Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import drain, found, lease, pause_at

EVERY = timedelta(seconds=5)
FIRST = 31
"""The schedule has come for the first time; the second time is 59 s later."""


class StandIn:
    """A command's reconciler beside the scene's functions, invoked every 5 s from now on."""

    def __init__(self, scene: Scene) -> None:
        self.recorder = InMemoryRecorder()
        settings = HandoverSettings(mode=Mode.ACT, cluster_name=CLUSTER, stands_in=True)
        handler = handover.build(
            settings,
            Ports(scene.cluster, scene.instances, scene.clock, self.recorder),
            SimulatedQueue(scene.clock, "its own"),
        )
        self.schedule = SimulatedSchedule(
            scene.clock, handler, every=EVERY, timeout=HANDOVER_TIMEOUT
        )

    @property
    def outcomes(self) -> list[str]:
        """How its invocations ended."""
        return [str(found["outcome"]) for _, found in self.recorder.notes if "outcome" in found]

    @property
    def reasons(self) -> list[str]:
        """Why it did what it did."""
        return [decision.reason for decision in self.recorder.decisions]


@pytest.fixture
def running(scene: Scene) -> Scene:
    """Two pods of a Deployment on s1, and room for them on o1."""
    return run_web(scene)


def run_web(scene: Scene) -> Scene:
    scene.given(SYSTEM, deployment("web", 2), spare="o1")
    return scene


def test_where_no_functions_are_deployed_it_hands_over(running: Scene) -> None:
    running.schedule.stop()
    command = StandIn(running)

    drain(running, "s1")
    running.run(until=30)

    assert command.reasons.count("ReplacementAvailable") == 2
    assert running.pods("web", "s1") == []
    assert names.SCHEDULED_AT not in found(running)["metadata"]["annotations"]


def test_it_shares_no_storm_and_waits_for_none_of_those_whose_first_is_gone(running: Scene) -> None:
    """They write nothing once the first Lease is not renewed any more."""
    running.schedule.stop()
    note = Division(of=2, by="gone").note
    lease(running, annotations={names.SHARES: note})
    now = running.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": "other", "leaseDurationSeconds": 15, "renewTime": now}
    running.apply(
        resource(
            "Lease",
            lease_of(1),
            names.SYSTEM_NAMESPACE,
            notes={names.SHARES: note},
            spec=spec,
        )
    )
    command = StandIn(running)
    drain(running, "s1")
    running.run(until=10)
    assert command.reasons.count("ReplacementAvailable") == 2
    assert running.lowest("web") == 2


def test_beside_deployed_functions_it_decides_nothing(running: Scene) -> None:
    running.run(until=FIRST)
    command = StandIn(running)

    drain(running, "s1")
    running.run(until=FIRST + 75)

    assert set(command.outcomes) <= {"LeftToFunctions", "LeaseHeld", "Quiet"}
    assert command.reasons == []
    assert len(running.told("ReplacementAvailable")) == 2
    assert running.pods("web", "s1") == []


def test_where_the_functions_are_gone_for_some_minutes_it_hands_over(running: Scene) -> None:
    running.run(until=FIRST)
    running.schedule.stop()
    command = StandIn(running)

    drain(running, "s1")
    running.run(until=FIRST + 145)
    assert command.reasons == []
    running.run(until=FIRST + 170)

    assert command.reasons.count("ReplacementAvailable") == 2


def test_it_leaves_the_work_to_functions_that_come_in_the_middle(scene: Scene) -> None:
    """Their schedule comes at 30 s, and again at 90 s."""
    scene.apply(SYSTEM)
    scene.given(deployment("stuck"))
    command = StandIn(scene)
    drain(scene, "s1", seconds=600)
    scene.run(until=29)
    first = found(scene)["spec"]["holderIdentity"]
    scene.run(until=89)
    at_last = [each for each in command.outcomes if each != "LeaseHeld"]
    scene.run(until=95)

    assert at_last == ["OutOfTime", *["LeftToFunctions"] * 4]
    assert found(scene)["spec"]["holderIdentity"] not in ("", first)


@pytest.mark.parametrize("text", ["", "soon", "2026-11-21T12:00:00", "0001-01-01T00:00:00Z"])
def test_a_spoilt_note_counts_as_none(running: Scene, text: str) -> None:
    running.schedule.stop()
    lease(running, annotations={names.SCHEDULED_AT: text})
    command = StandIn(running)

    drain(running, "s1")
    running.run(until=30)

    assert command.reasons.count("ReplacementAvailable") == 2


def test_functions_that_observe_leave_no_note(make_scene: MakeScene) -> None:
    scene = run_web(make_scene(mode=Mode.OBSERVE))
    scene.run(until=FIRST)
    assert scene.cluster.objects("Lease") == []


def test_nothing_is_noted_during_a_pause(running: Scene) -> None:
    pause_at(running, 1)
    running.run(until=FIRST + 60)
    assert running.cluster.objects("Lease") == []


def test_functions_that_may_not_note_it_hand_over_all_the_same(running: Scene) -> None:
    def notes(request: Any) -> bool:
        return asks(Patch, of=Lease)(request) and not isinstance(request.body, list | tuple)

    running.fail(ForbiddenError("no notes for you"), notes)
    drain(running, "s1")
    running.run(until=FIRST + 10)

    assert running.pods("web", "s1") == []
    assert "commands do not learn that this is deployed: no notes for you" in {
        note for note, _ in running.recorder.notes
    }
