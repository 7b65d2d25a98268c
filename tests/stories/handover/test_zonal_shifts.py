"""Application Recovery Controller is asked for zonal shifts, and what it says is noted."""

import itertools
import json
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.errors import ZonalShiftError
from evenkeel.model import names
from evenkeel.settings import Mode
from tests.kit.manifests import deployment, stateful_set
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import SETTLED

SOUND: dict[str, Any] = {names.ZONE_ID: "euc1-az1"}
AWAY: dict[str, Any] = {names.ZONE_ID: "euc1-az2"}


def noted(scene: Scene) -> list[Any]:
    """The shifts that the reconciler's Lease tells of."""
    leases = scene.cluster.objects("Lease", names.SYSTEM_NAMESPACE)
    (notes,) = (
        each["metadata"]["annotations"]
        for each in leases
        if each["metadata"]["name"] == names.HANDOVER_LEASE
    )
    note = notes.get(names.SHIFTED_ZONES)
    found: list[Any] = json.loads(note)["shifts"] if note else []
    return found


def of_shifts(scene: Scene) -> list[str]:
    """The lines of the log about shifts."""
    return [note for note, _ in scene.recorder.notes if "shift" in note]


def test_a_shift_is_noted_within_a_minute_and_so_is_its_end(scene: Scene) -> None:
    scene.given()
    scene.zonal_shifts.shift("euc1-az2", scene.at(150))
    scene.run(until=65)
    assert noted(scene) == [["euc1-az2", "2026-11-21T12:03:10Z"]]

    scene.run(until=215)
    assert noted(scene) == []
    assert of_shifts(scene) == [
        "shifted away from zone euc1-az2 until 2026-11-21T12:03:10Z",
        "shifted away from no zone any more",
    ]


@pytest.mark.parametrize("kind", ["Manual Shift Started", "Autoshift In Progress"])
def test_an_event_of_a_shift_has_it_noted_at_once(scene: Scene, kind: str) -> None:
    """Its shape is that of AWS' examples, which say of which zone, but not of which cluster.

    https://docs.aws.amazon.com/r53recovery/latest/dg/eventbridge-zonal-autoshift.html
    """
    scene.given()
    scene.run(until=35)
    scene.zonal_shifts.shift("euc1-az2")
    event = {
        "version": "0",
        "id": "05d4d2d5-9c76-bfea-72d2-d4614802adb4",
        "detail-type": kind,
        "source": "aws.arc-zonal-shift",
        "account": "123456789012",
        "time": "2026-11-21T12:01:35Z",
        "region": "eu-central-1",
        "resources": ["TEST-EXAMPLE-2023-11-16-23-28-11-5"],
        "detail": {
            "version": "0.0.1",
            "data": "",
            "metadata": {"awayFrom": "euc1-az2", "notes": ""},
        },
    }
    scene.schedule._start(event, lambda _: None)
    scene.run(until=40)
    assert noted(scene) == [["euc1-az2", None]]


def test_a_reconciler_at_work_keeps_the_note(scene: Scene) -> None:
    slow = {"annotations": {"evenkeel.test/start-after": "70s"}}
    scene.given(deployment("web", 3, pod=slow), spare="s2", settle=90)
    scene.zonal_shifts.shift("euc1-az2")
    scene.later(1, lambda: scene.interrupt("s1"))
    scene.run(until=65)
    assert scene.moving.running
    assert noted(scene) == [["euc1-az2", None]]
    scene.run(until=200)
    assert noted(scene) == [["euc1-az2", None]]


def test_who_refuses_is_asked_again_after_ten_minutes(scene: Scene) -> None:
    scene.given()
    scene.zonal_shifts.fail(ZonalShiftError("AccessDenied"))
    scene.run(until=9 * 60)
    scene.zonal_shifts.fail(None)
    scene.zonal_shifts.shift("euc1-az2")
    scene.run(until=12 * 60)

    pauses = [later - sooner for sooner, later in itertools.pairwise(scene.zonal_shifts.asked)]
    assert pauses == [timedelta(minutes=10), timedelta(minutes=1)]
    assert of_shifts(scene) == [
        "zonal shifts are not known: AccessDenied",
        "shifted away from zone euc1-az2",
    ]


def test_a_silent_controller_keeps_no_pod_waiting(scene: Scene) -> None:
    """It is asked last, so that a drain that the schedule's invocation makes is over by then."""
    scene.given(deployment("web", 3), spare="s2")
    scene.zonal_shifts.fail(ZonalShiftError("timed out"), after=timedelta(seconds=3))
    scene.later(25, lambda: scene.interrupt("s1"))
    scene.run(until=60)
    assert scene.lowest("web") == 3
    assert scene.gone_at(scene.told("ReplacementAvailable")[0][1].subject.name) < 32


def test_nothing_is_asked_while_it_only_observes(make_scene: MakeScene) -> None:
    scene = make_scene(mode=Mode.OBSERVE)
    scene.given()
    scene.run(until=200)
    assert not scene.zonal_shifts.asked


@pytest.mark.parametrize(("labels", "moves"), [(AWAY, False), (SOUND, True)])
def test_a_hint_moves_no_pod_into_the_zone(scene: Scene, labels: Any, *, moves: bool) -> None:
    """The pod of a StatefulSet waits for a place in another zone."""
    scene.add_node("s1", **SOUND)
    scene.place(stateful_set("db", 1), on="", settle=SETTLED)
    scene.zonal_shifts.shift("euc1-az2")
    scene.begin()
    scene.add_node("o1", **labels)
    scene.run(until=65)

    scene.recommend("s1").run(until=200)

    assert [pod.spec.node_name for pod in scene.pods("db")] == ["o1" if moves else "s1"]
